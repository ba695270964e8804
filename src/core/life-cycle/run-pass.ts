/** One pass over the executions of a store by whoever holds the right to make it. */

import { SWEEPS_IN_FLIGHT } from '../../base/limits.ts'
import type { ExecutionRecord } from '../namespaces/execution-record.ts'
import type { Leadership } from './leadership.ts'

export interface PassReport {
  /** Executions that were looked at. */
  readonly seen: number
  readonly done: number
  /** Those that are tried again by the next pass. */
  readonly failed: number
}

export interface Pass {
  readonly leadership: Leadership
  readonly executions: AsyncIterable<ExecutionRecord>
  readonly isDue: (record: ExecutionRecord) => boolean
  readonly work: (record: ExecutionRecord) => Promise<void>
  readonly onFailure: (record: ExecutionRecord, error: unknown) => void
  readonly signal?: AbortSignal
}

/** Answers `undefined` where another instance holds the right, and stops where it is lost on the way. */
export async function runPass(pass: Pass): Promise<PassReport | undefined> {
  if (!(await pass.leadership.hold())) return undefined
  const report = { seen: 0, done: 0, failed: 0 }
  let row: ExecutionRecord[] = []
  for await (const record of pass.executions) {
    report.seen += 1
    if (pass.isDue(record)) row.push(record)
    if (row.length < SWEEPS_IN_FLIGHT) continue
    await workThrough(pass, row, report)
    row = []
    pass.signal?.throwIfAborted()
    if (!(await pass.leadership.hold())) return report
  }
  await workThrough(pass, row, report)
  return report
}

async function workThrough(
  { work, onFailure }: Pass,
  row: readonly ExecutionRecord[],
  report: { done: number; failed: number },
): Promise<void> {
  await Promise.all(
    row.map(async (record) => {
      try {
        await work(record)
        report.done += 1
      } catch (error) {
        report.failed += 1
        onFailure(record, error)
      }
    }),
  )
}
