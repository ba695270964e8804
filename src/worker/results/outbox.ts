/**
 * Results on disk until the queue is known to have them. A result is written before it is first sent, so that a worker
 * that dies in between sends it when it comes back; one that was refused is set aside, never silently dropped.
 *
 * What to send if the process ends in the middle of an attempt is written when the attempt begins. A body that takes its
 * process down with it would otherwise leave its task to time out.
 */

import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { UnavailableError } from '../../base/errors.ts'
import { OUTBOX_ENTRIES_MAX } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import type { AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import type { TaskResult } from '../ports.ts'

/** One result that waits. */
export interface OutboxEntry {
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
  readonly writtenAt: string
}

export interface OutboxItem extends OutboxEntry {
  /** The queue has it: forget it. */
  settle(): Promise<void>
  /** The queue will never have it: keep it where an operator finds it. */
  refuse(reason: string): Promise<void>
  /** Nobody is at it any more: `pending` gives it again. */
  leave(): void
}

/** What is sent if there is no result. */
export interface ForeseenResult {
  /** There is one, or there is nothing to be sent. */
  forget(): Promise<void>
}

export interface Outbox {
  /** Given by `pending` of the next process unless it was forgotten, or a result of the same attempt was put. */
  foresee(attempt: AttemptSnapshot, result: TaskResult): Promise<ForeseenResult>
  /** Durable when this resolves. */
  put(attempt: AttemptSnapshot, result: TaskResult): Promise<OutboxItem>
  /** What an earlier process left and what was left since, oldest first; whoever is given it is at it. */
  pending(): Promise<readonly OutboxItem[]>
}

/** Opens the outbox of one process. No two that live may share a directory. */
export async function openOutbox(options: {
  readonly directory: string
  readonly logger: Logger
  readonly now: () => Date
}): Promise<Outbox> {
  const { directory, logger, now } = options
  const refusedDirectory = join(directory, 'refused')
  await mkdir(refusedDirectory, { recursive: true, mode: 0o700 })
  await sendForeseen(directory)
  const foreseenDirectory = join(directory, FORESEEN)
  await mkdir(foreseenDirectory, { recursive: true, mode: 0o700 })

  /** Somebody is at it. */
  const held = new Set<string>()
  const remove = async (name: string): Promise<void> => {
    await rm(join(directory, name), { force: true })
    held.delete(name)
  }
  const itemOf = (name: string, entry: OutboxEntry): OutboxItem => ({
    ...entry,
    settle: () => remove(name),
    leave: () => {
      held.delete(name)
    },
    refuse: async (reason) => {
      await writeDurably(
        refusedDirectory,
        name,
        JSON.stringify({ ...entry, refused: reason, refusedAt: now().toISOString() }),
      )
      await remove(name)
    },
  })

  const entryOf = (attempt: AttemptSnapshot, result: TaskResult): OutboxEntry => ({
    attempt: onlySnapshot(attempt),
    result,
    writtenAt: now().toISOString(),
  })
  // The time first, so that names sort by age; random last, because a task id may come twice.
  const nextName = (): string =>
    `${String(now().getTime()).padStart(15, '0')}-${randomBytes(6).toString('hex')}.json`

  return {
    async foresee(attempt, result) {
      const path = join(foreseenDirectory, nextName())
      // Made for a process that ends, not for a machine that does: the task then times out, as it would without.
      await writeFile(path, JSON.stringify(entryOf(attempt, result)), { mode: 0o600 })
      return { forget: () => rm(path, { force: true }) }
    },
    async put(attempt, result) {
      const entry = entryOf(attempt, result)
      const name = nextName()
      held.add(name)
      try {
        await writeDurably(directory, name, JSON.stringify(entry))
      } catch (error) {
        held.delete(name)
        throw error
      }
      return itemOf(name, entry)
    },
    async pending() {
      const names = (await readdir(directory))
        .filter((name) => name.endsWith('.json') && !name.startsWith('.') && !held.has(name))
        .sort()
      if (names.length > OUTBOX_ENTRIES_MAX) {
        logger.warn('the outbox holds more results than are sent at once', { waiting: names.length })
      }
      const items: OutboxItem[] = []
      for (const name of names.slice(0, OUTBOX_ENTRIES_MAX)) {
        const entry = readEntry(await readFile(join(directory, name), 'utf8'))
        if (entry !== undefined) {
          held.add(name)
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

const FORESEEN = 'begun'

/**
 * Makes results of what was foreseen in a directory whose process is no more. An attempt that has a result there keeps
 * it: its process ended right after it was written.
 */
export async function sendForeseen(directory: string): Promise<void> {
  const foreseen = await entriesOf(join(directory, FORESEEN))
  if (foreseen.length === 0) return
  const decided = new Set((await entriesOf(directory)).map(({ entry }) => entry && claimOf(entry)))
  for (const { name, entry } of foreseen) {
    const path = join(directory, FORESEEN, name)
    if (entry !== undefined && !decided.has(claimOf(entry))) await rename(path, join(directory, name))
    // Cut off while it was written, before its attempt began; or decided.
    else await rm(path, { force: true })
  }
}

async function entriesOf(
  directory: string,
): Promise<{ readonly name: string; readonly entry: OutboxEntry | undefined }[]> {
  const names = await readdir(directory).catch(() => [])
  const results = names.filter((name) => name.endsWith('.json') && !name.startsWith('.'))
  return Promise.all(
    results.map(async (name) => ({ name, entry: readEntry(await readFile(join(directory, name), 'utf8')) })),
  )
}

/** One hand-out of a task. */
function claimOf({ attempt }: OutboxEntry): string {
  return JSON.stringify([attempt.taskId, attempt.workerId, attempt.pollCount, attempt.startTimeMs])
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
    const parent = await open(directory, 'r')
    try {
      await parent.sync()
    } finally {
      await parent.close()
    }
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
  // Brands are names for what was written by us; the schema has seen that they are texts.
  return read.success ? (read.data as unknown as OutboxEntry) : undefined
}

function onlySnapshot({
  taskId,
  workflowId,
  retryCount,
  pollCount,
  startTimeMs,
  workerId,
}: AttemptSnapshot): AttemptSnapshot {
  return { taskId, workflowId, retryCount, pollCount, startTimeMs, workerId }
}
