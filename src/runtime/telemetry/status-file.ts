/**
 * What each worker process of a root says of itself, for those who look: one small file below the root, `status/<index>.json`. It
 * holds no parameters, results or secrets.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { STATUS_NAME_MAX_CHARS } from '../limits.ts'

const text = z.string()
const time = z.iso.datetime()
const count = z.int().nonnegative()

export const statusFileSchema = z.object({
  format: z.literal('perago-status'),
  version: z.literal(1),
  writtenAt: time,
  process: z.object({
    pid: z.int().positive(),
    processStart: text,
    machine: text,
    pidNamespace: text,
    hostname: text,
  }),
  workerId: text,
  state: z.enum(['running', 'stopping', 'stopped']),
  startedAt: time,
  slots: z.object({ limit: count, taken: count }),
  /** One for each task type; `held`: not polled because of an outage. */
  polls: z.array(
    z.object({ taskType: text, succeededAt: time.optional(), slots: count, isHeld: z.boolean() }),
  ),
  attempts: z.array(
    z.object({
      ...{ taskId: text, workflowId: text, taskType: text, retryCount: count, step: text },
      startedAt: time,
      renewedAt: time,
      leaseMs: count,
    }),
  ),
  outages: z.array(z.object({ what: text, why: text, since: time })),
  /** Since the worker started. */
  files: z.object({
    fetched: count,
    fetchedBytes: count,
    cached: count,
    cachedBytes: count,
    warmDirectories: count,
  }),
  /** Attempts that did not succeed, the newest first. */
  ended: z.array(
    z.object({
      ...{ at: time, taskId: text, workflowId: text, taskType: text, retryCount: count },
      outcome: z.enum(['failed', 'handed-back', 'superseded', 'refused']),
      code: text.optional(),
      why: text,
    }),
  ),
  /** When the oldest result was written that the queue has not taken yet. */
  oldestResultAt: time.optional(),
})

export type StatusFile = z.output<typeof statusFileSchema>

export function statusDirectory(root: string): string {
  return join(root, 'status')
}

/** Names are others' choice. */
export function shownName(name: string): string {
  return name.length <= STATUS_NAME_MAX_CHARS ? name : `${name.slice(0, STATUS_NAME_MAX_CHARS - 1)}…`
}

/** Workers that ended by a crash have left theirs. For whoever owns the root. */
export function clearStatusFiles(root: string): void {
  try {
    rmSync(statusDirectory(root), { recursive: true, force: true })
  } catch {
    // They are told as old.
  }
}
