/** One pass over the executions that something is due for, by whoever holds the right to make it. */

import { errorKindOf } from '../../base/errors.ts'
import { SWEEPS_IN_FLIGHT } from '../limits.ts'
import type { EndedEntry } from '../namespaces/ended-index.ts'
import type { Leadership } from './leadership.ts'

export interface PassReport {
  /** Executions that were looked at: those for which something is due, or seemed to be. */
  readonly seen: number
  readonly done: number
  /** Those that are tried again by the next pass. */
  readonly failed: number
}

export interface Pass {
  readonly leadership: Leadership
  /** Done before anything is listed, by whoever holds the right. */
  readonly prepare: () => Promise<void>
  /** One list after the other, each read once what the one before it named is done. */
  readonly lists: readonly (() => AsyncIterable<EndedEntry>)[]
  /** Done for a row of entries before each of them. */
  readonly workOnRow?: (row: readonly EndedEntry[]) => Promise<void>
  /** Answers whether anything was done. */
  readonly work: (entry: EndedEntry) => Promise<boolean>
  readonly onFailure: (entry: EndedEntry, error: unknown) => void
  readonly signal: AbortSignal | undefined
}

/**
 * Answers `undefined` where another instance holds the right, and stops where it is lost on the way. Stops also where a whole
 * row fails because something does not answer: the rest would only wait for the same.
 */
export async function runPass(pass: Pass): Promise<PassReport | undefined> {
  if (!(await pass.leadership.hold())) return undefined
  await pass.prepare()
  const report = { seen: 0, done: 0, failed: 0 }
  for (const list of pass.lists) {
    let row: EndedEntry[] = []
    for await (const entry of list()) {
      report.seen += 1
      row.push(entry)
      if (row.length < SWEEPS_IN_FLIGHT) continue
      if (!(await workThrough(pass, row, report))) return report
      row = []
      pass.signal?.throwIfAborted()
      if (!(await pass.leadership.hold())) return report
    }
    if (!(await workThrough(pass, row, report))) return report
  }
  return report
}

/** Answers whether it is worth going on. */
async function workThrough(
  { workOnRow, work, onFailure }: Pass,
  row: readonly EndedEntry[],
  report: { done: number; failed: number },
): Promise<boolean> {
  if (row.length === 0) return true
  await workOnRow?.(row)
  let unreached = 0
  await Promise.all(
    row.map(async (entry) => {
      try {
        if (await work(entry)) report.done += 1
      } catch (error) {
        report.failed += 1
        if (['unavailable', 'uncertain'].includes(errorKindOf(error))) unreached += 1
        onFailure(entry, error)
      }
    }),
  )
  return unreached < row.length
}
