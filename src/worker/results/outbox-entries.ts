/** The files of an outbox, as they are read: by the process that owns it, by the next one, and by whoever looks at a root. */

import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import type { TaskResult } from '../ports.ts'

export interface OutboxEntry {
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
  readonly writtenAt: string
}

/** The directory of all outboxes of a root. */
export const OUTBOXES = 'outbox'

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

export async function resultsIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
}

export async function entriesOf(
  directory: string,
): Promise<{ readonly name: string; readonly entry: OutboxEntry | undefined }[]> {
  const names = await resultsIn(directory).catch(() => [])
  return Promise.all(
    names.map(async (name) => ({ name, entry: readEntry(await readFile(join(directory, name), 'utf8')) })),
  )
}

/** Tells one hand-out of a task from another. */
export function claimOf({ attempt }: OutboxEntry): string {
  return JSON.stringify([attempt.taskId, attempt.workerId, attempt.pollCount, attempt.startTimeMs])
}

/** `undefined`: it was settled meanwhile. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
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

export function readEntry(text: string): OutboxEntry | undefined {
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
