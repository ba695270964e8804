/**
 * Results on disk until the task queue is known to have them. A result is written before it is sent for the first time:
 * if the worker dies in between, the next one sends it. What the queue refuses is kept apart, never silently dropped.
 *
 * A fallback is written when an attempt begins: what to send if the process ends in the middle of it. Without one, a body
 * that ends its process would leave its task to time out.
 *
 * ```
 * outbox/<index of the worker process>/<time>-<random>.json    a result, or blank: room for one, made ahead
 *                                      begun/…                 a fallback
 *                                      refused/…               for an operator to look at
 * ```
 */

import { randomBytes } from 'node:crypto'
import { open, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UnavailableError } from '../../base/errors.ts'
import { OUTBOX_ENTRIES_MAX } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { syncDirectory } from '../../base/sync-directory.ts'
import { snapshotOf, type AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import type { TaskResult } from '../ports.ts'
import {
  claimOf,
  entriesOf,
  OUTBOXES,
  readEntry,
  readIfThere,
  resultsIn,
  type OutboxEntry,
} from './outbox-entries.ts'
import { isBlank, OutboxPlaces, type Place } from './outbox-places.ts'

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

export interface OpenOutbox extends Outbox {
  /** Removes what was made ahead. Results stay. */
  close(): Promise<void>
}

/** Opens the outbox of one process. No two live processes may share a directory. */
export async function openOutbox(options: {
  readonly directory: string
  readonly logger: Logger
  readonly now: () => Date
  /** Why the process ended that had the outbox before, as the reason of its fallbacks. */
  readonly formerEnd?: string
}): Promise<OpenOutbox> {
  const { directory, logger, now, formerEnd } = options
  const refusedDirectory = join(directory, 'refused')
  await makeDurableDirectory(refusedDirectory)
  await promoteFallbacks(directory, formerEnd)
  await removeBlanks(directory)
  const fallbackDirectory = join(directory, FALLBACKS)
  makeDirectory(fallbackDirectory)

  /** The names of those that are being delivered. */
  const claimed = new Set<string>()
  /** Of this process, in files that were made ahead: they are known without being read. */
  const released = new Set<OutboxItem>()
  const itemOf = (name: string, entry: OutboxEntry, place?: Place): OutboxItem => {
    const remove = async (): Promise<void> => {
      await (place === undefined ? rm(join(directory, name), { force: true }) : place.clear())
      claimed.delete(name)
    }
    const item: OutboxItem = {
      ...entry,
      settle: remove,
      release: () => {
        if (place === undefined) claimed.delete(name)
        else released.add(item)
      },
      refuse: async (reason) => {
        const refused = { ...entry, refused: reason, refusedAt: now().toISOString() }
        try {
          await writeDurably(refusedDirectory, name, JSON.stringify(refused))
        } catch (error) {
          // A full disk: moved as it is, it needs no room.
          logger.error('a refused result is set aside without the reason', { error, reason, file: name })
          await rename(join(directory, name), join(refusedDirectory, name))
          await place?.drop()
          claimed.delete(name)
          return
        }
        await remove()
      },
    }
    return item
  }
  const entryOf = (attempt: AttemptSnapshot, result: TaskResult): OutboxEntry => ({
    attempt: snapshotOf(attempt),
    result,
    writtenAt: now().toISOString(),
  })
  // Sorted by name is sorted by age; the random part is needed because a task id may come twice.
  const nextName = (): string =>
    `${String(now().getTime()).padStart(15, '0')}-${randomBytes(6).toString('hex')}.json`

  const places = new OutboxPlaces({ directory, nextName, logger })

  /** Whether it is in a file that was made ahead. */
  const fill = async (place: Place, text: Buffer): Promise<boolean> => {
    try {
      await place.fill(text)
      return true
    } catch (error) {
      logger.warn('a file of the outbox that was made ahead cannot be written; the result gets its own', {
        error,
      })
      await place.drop()
      await rm(join(directory, place.name), { force: true })
      return false
    }
  }

  return {
    close: () => places.close(),
    async putFallback(attempt, result) {
      const path = join(fallbackDirectory, nextName())
      // Not flushed to the disk: it is for a process that ends. If the machine goes down, the task times out.
      await writeFile(path, JSON.stringify(entryOf(attempt, result)), { mode: 0o600 })
      return { remove: () => rm(path, { force: true }) }
    },
    async put(attempt, result) {
      const entry = entryOf(attempt, result)
      const text = Buffer.from(JSON.stringify(entry))
      const place = places.take(text)
      if (place !== undefined && (await fill(place, text))) return itemOf(place.name, entry, place)
      const name = nextName()
      claimed.add(name)
      try {
        await writeDurably(directory, name, text)
        places.makeLater()
      } catch (error) {
        claimed.delete(name)
        throw error
      }
      return itemOf(name, entry)
    },
    async pending() {
      const isMine = (name: string): boolean => claimed.has(name) || places.has(name)
      const names = (await resultsIn(directory)).filter((name) => !isMine(name)).sort()
      if (names.length > OUTBOX_ENTRIES_MAX)
        logger.warn('the outbox holds more results than are sent at once', { waiting: names.length })
      const items: OutboxItem[] = [...released]
      released.clear()
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
      return items.sort((one, other) => (one.writtenAt < other.writtenAt ? -1 : 1))
    },
  }
}

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

/** What an ended process had made ahead. */
async function removeBlanks(directory: string): Promise<void> {
  for (const name of await resultsIn(directory)) {
    const path = join(directory, name)
    if (isBlank((await readIfThere(path)) ?? '')) await rm(path, { force: true })
  }
}

/** A file is only as durable as the entries of the directories above it. */
async function makeDurableDirectory(directory: string): Promise<void> {
  const first = makeDirectory(directory)
  if (first === undefined) return
  for (let made = directory; made.length >= first.length; made = dirname(made))
    await syncDirectory(dirname(made))
}

async function writeDurably(directory: string, name: string, text: string | Buffer): Promise<void> {
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
