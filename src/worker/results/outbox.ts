/**
 * Results on disk until the task queue is known to have them. A result is written before it is sent for the first time:
 * if the worker dies in between, the next one sends it. What the queue refuses is kept apart, never silently dropped.
 *
 * A fallback is written when an attempt begins: what to send if the process ends in the middle of it. Without one, a body
 * that ends its process would leave its task to time out.
 *
 * ```
 * outbox/<index of the worker process>/<time>-<random>.json    a result
 *                                      begun/…                 a fallback
 *                                      refused/…               for an operator to look at
 * ```
 */

import { randomBytes } from 'node:crypto'
import { open, readFile, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UnavailableError } from '../../base/errors.ts'
import { OUTBOX_ENTRIES_MAX } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { syncDirectory } from '../../base/sync-directory.ts'
import { snapshotOf, type AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import type { TaskResult } from '../ports.ts'

export interface OutboxEntry {
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
  readonly writtenAt: string
}

/** A result that is being delivered; `pending` does not give it to anybody else. */
export interface OutboxItem extends OutboxEntry {
  /** The queue has it: removes it. */
  settle(): Promise<void>
  /** The queue will never take it: moves it to `refused`. */
  refuse(reason: string): Promise<void>
  /** It was not delivered: `pending` gives it again. */
  release(): void
}

export interface Fallback {
  /** There is a result, or nothing is to be sent. */
  remove(): Promise<void>
}

export interface Outbox {
  /** `pending` of the next process gives it, unless it was removed or the attempt has a result. */
  putFallback(attempt: AttemptSnapshot, result: TaskResult): Promise<Fallback>
  /** Durable when this resolves. */
  put(attempt: AttemptSnapshot, result: TaskResult): Promise<OutboxItem>
  /** Results that nobody is delivering, oldest first. */
  pending(): Promise<readonly OutboxItem[]>
}

/** Opens the outbox of one process. No two live processes may share a directory. */
export async function openOutbox(options: {
  readonly directory: string
  readonly logger: Logger
  readonly now: () => Date
  /** Why the process ended that had the outbox before, as the reason of its fallbacks. */
  readonly formerEnd?: string
}): Promise<Outbox> {
  const { directory, logger, now, formerEnd } = options
  const refusedDirectory = join(directory, 'refused')
  await makeDurableDirectory(refusedDirectory)
  await promoteFallbacks(directory, formerEnd)
  const fallbackDirectory = join(directory, FALLBACKS)
  makeDirectory(fallbackDirectory)

  /** The names of those that are being delivered. */
  const claimed = new Set<string>()
  const remove = async (name: string): Promise<void> => {
    await rm(join(directory, name), { force: true })
    claimed.delete(name)
  }
  const itemOf = (name: string, entry: OutboxEntry): OutboxItem => ({
    ...entry,
    settle: () => remove(name),
    release: () => {
      claimed.delete(name)
    },
    refuse: async (reason) => {
      const refused = { ...entry, refused: reason, refusedAt: now().toISOString() }
      try {
        await writeDurably(refusedDirectory, name, JSON.stringify(refused))
      } catch (error) {
        // A full disk: moved as it is, it needs no room.
        logger.error('a refused result is set aside without the reason', { error, reason, file: name })
        await rename(join(directory, name), join(refusedDirectory, name))
      }
      await remove(name)
    },
  })
  const entryOf = (attempt: AttemptSnapshot, result: TaskResult): OutboxEntry => ({
    attempt: snapshotOf(attempt),
    result,
    writtenAt: now().toISOString(),
  })
  // Sorted by name is sorted by age; the random part is needed because a task id may come twice.
  const nextName = (): string =>
    `${String(now().getTime()).padStart(15, '0')}-${randomBytes(6).toString('hex')}.json`

  return {
    async putFallback(attempt, result) {
      const path = join(fallbackDirectory, nextName())
      // Not flushed to the disk: it is for a process that ends. If the machine goes down, the task times out.
      await writeFile(path, JSON.stringify(entryOf(attempt, result)), { mode: 0o600 })
      return { remove: () => rm(path, { force: true }) }
    },
    async put(attempt, result) {
      const entry = entryOf(attempt, result)
      const name = nextName()
      claimed.add(name)
      try {
        await writeDurably(directory, name, JSON.stringify(entry))
      } catch (error) {
        claimed.delete(name)
        throw error
      }
      return itemOf(name, entry)
    },
    async pending() {
      const names = (await resultsIn(directory)).filter((name) => !claimed.has(name)).sort()
      if (names.length > OUTBOX_ENTRIES_MAX)
        logger.warn('the outbox holds more results than are sent at once', { waiting: names.length })
      const items: OutboxItem[] = []
      for (const name of names.slice(0, OUTBOX_ENTRIES_MAX)) {
        const text = await readIfThere(join(directory, name))
        if (text === undefined) continue
        const entry = readEntry(text)
        if (entry !== undefined) {
          claimed.add(name)
          items.push(itemOf(name, entry))
        } else {
          logger.error('a result in the outbox cannot be read and is set aside', { file: name })
          await rename(join(directory, name), join(refusedDirectory, `unreadable-${name}`))
        }
      }
      return items
    },
  }
}

const OUTBOXES = 'outbox'
const FALLBACKS = 'begun'

/** The outbox of worker process number `index` of a root. */
export function outboxDirectory(root: string, index: number): string {
  return join(root, OUTBOXES, String(index))
}

/**
 * Moves the results in all outboxes of a root to the first one: when fewer processes are started than before, nobody
 * would send the others. Only for the holder of the root's lock, before any worker of it runs.
 */
export async function adoptOutboxes(root: string): Promise<void> {
  const directory = join(root, OUTBOXES)
  const first = outboxDirectory(root, 0)
  await makeDurableDirectory(first)
  for (const index of await readdir(directory)) {
    if (index === '0') continue
    const other = join(directory, index)
    await promoteFallbacks(other)
    for (const name of await resultsIn(other)) await rename(join(other, name), join(first, name))
    // Refused results stay where they are; empty directories go.
    for (const emptied of [join(other, FALLBACKS), other]) await rmdir(emptied).catch(() => undefined)
  }
}

/** A result that an outbox of a root holds, as somebody reads it who does not own the outbox. */
export interface HeldResult extends OutboxEntry {
  readonly path: string
  /** Set aside: the queue never took it. */
  readonly isRefused: boolean
}

/** Reads only, also beside live workers. What cannot be read, or is settled meanwhile, is left out. */
export async function readHeldResults(root: string): Promise<readonly HeldResult[]> {
  const directory = join(root, OUTBOXES)
  const held: HeldResult[] = []
  for (const index of await readdir(directory).catch(() => [])) {
    for (const part of ['', 'refused']) {
      const place = join(directory, index, part)
      for (const name of await resultsIn(place).catch(() => [])) {
        const text = await readIfThere(join(place, name))
        const entry = text === undefined ? undefined : readEntry(text)
        if (entry !== undefined) held.push({ ...entry, path: join(place, name), isRefused: part !== '' })
      }
    }
  }
  return held.sort((one, other) => (one.writtenAt < other.writtenAt ? -1 : 1))
}

/** Makes results of the fallbacks in a directory whose process has ended, except where the attempt has a result. */
async function promoteFallbacks(directory: string, reason?: string): Promise<void> {
  const fallbacks = await entriesOf(join(directory, FALLBACKS))
  if (fallbacks.length === 0) return
  const decided = new Set((await entriesOf(directory)).map(({ entry }) => entry && claimOf(entry)))
  for (const { name, entry } of fallbacks) {
    const path = join(directory, FALLBACKS, name)
    if (entry !== undefined && !decided.has(claimOf(entry))) {
      if (reason !== undefined) await writeFile(path, JSON.stringify(withReason(entry, reason)))
      await rename(path, join(directory, name))
    }
    // It has a result; or its process ended while writing it, before the attempt began.
    else await rm(path, { force: true })
  }
}

function withReason(entry: OutboxEntry, reasonForIncompletion: string): OutboxEntry {
  return { ...entry, result: { ...entry.result, reasonForIncompletion } }
}

async function resultsIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
}

async function entriesOf(
  directory: string,
): Promise<{ readonly name: string; readonly entry: OutboxEntry | undefined }[]> {
  const names = await resultsIn(directory).catch(() => [])
  return Promise.all(
    names.map(async (name) => ({ name, entry: readEntry(await readFile(join(directory, name), 'utf8')) })),
  )
}

/** Tells one hand-out of a task from another. */
function claimOf({ attempt }: OutboxEntry): string {
  return JSON.stringify([attempt.taskId, attempt.workerId, attempt.pollCount, attempt.startTimeMs])
}

/** `undefined`: it was settled meanwhile. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A file is only as durable as the entries of the directories above it. */
async function makeDurableDirectory(directory: string): Promise<void> {
  const first = makeDirectory(directory)
  if (first === undefined) return
  for (let made = directory; made.length >= first.length; made = dirname(made))
    await syncDirectory(dirname(made))
}

async function writeDurably(directory: string, name: string, text: string): Promise<void> {
  const temporary = join(directory, `.${name}.tmp`)
  try {
    const file = await open(temporary, 'w', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, join(directory, name))
    await syncDirectory(directory)
  } catch (error) {
    await rm(temporary, { force: true })
    throw new UnavailableError(
      'worker/outbox-not-written',
      `write a result to the outbox ${JSON.stringify(directory)}: it failed`,
      {
        cause: error,
        next: 'Make room on the disk or correct the permissions of the worker root.',
      },
    )
  }
}

const snapshotSchema = z.object({
  taskId: z.string().min(1),
  workflowId: z.string().min(1),
  retryCount: z.number(),
  pollCount: z.number(),
  startTimeMs: z.number(),
  workerId: z.string(),
})

const entrySchema = z.object({
  attempt: snapshotSchema,
  result: z.looseObject({
    taskId: z.string().min(1),
    workflowId: z.string().min(1),
    workerId: z.string(),
    status: z.enum(['COMPLETED', 'FAILED', 'FAILED_WITH_TERMINAL_ERROR', 'IN_PROGRESS']),
    output: z.record(z.string(), z.json()),
  }),
  writtenAt: z.string(),
})

function readEntry(text: string): OutboxEntry | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const read = entrySchema.safeParse(value)
  // Ids are branded strings, and the schema has checked that they are strings.
  return read.success ? (read.data as unknown as OutboxEntry) : undefined
}
