/** One maintenance pass over executions for which something is due, by the instance that holds the lease. */

import { errorKindOf } from '../../base/errors.ts'
import { SWEEPS_IN_FLIGHT } from '../limits.ts'
import type { EndedEntry } from '../namespaces/ended-index.ts'
import type { Leadership } from './leadership.ts'

export interface PassReport {
  /** Executions that were checked. */
  readonly seen: number
  readonly done: number
  /** The next pass tries them again. */
  readonly failed: number
}

export interface Pass {
  readonly leadership: Leadership
  /** Whether to wait until another instance shows that it works. */
  readonly waits: boolean
  /** Runs before anything is listed, with the lease held. */
  readonly prepare: () => Promise<void>
  /** Each list is read after the entries of the one before are done. */
  readonly lists: readonly (() => AsyncIterable<EndedEntry>)[]
  /** Runs once per group of entries, before `work`. */
  readonly workOnRow?: ((row: readonly EndedEntry[]) => Promise<void>) | undefined
  /** Returns whether anything was done. */
  readonly work: (entry: EndedEntry) => Promise<boolean>
  readonly onFailure: (entry: EndedEntry, error: unknown) => void
  readonly onProgress: () => void
  readonly signal: AbortSignal | undefined
}

/**
 * Returns `undefined` where another instance holds the lease. Stops when the lease is lost, and when a whole group fails
 * because a server does not respond: the rest would wait for the same.
 */
export async function runPass(pass: Pass): Promise<PassReport | undefined> {
  const { leadership, signal, waits, onProgress } = pass
  const isOurs = (await (waits ? leadership.holdWhenFree(signal) : leadership.hold())) !== false
  const report = isOurs ? await workThroughAll(pass) : undefined
  onProgress()
  return report
}

async function workThroughAll(pass: Pass): Promise<PassReport> {
  await pass.prepare()
  const report = { seen: 0, done: 0, failed: 0 }
  for (const list of pass.lists) {
    let row: EndedEntry[] = []
    for await (const entry of list()) {
      report.seen += 1
      row.push(entry)
      if (row.length < SWEEPS_IN_FLIGHT) continue
      if (!(await workThrough(pass, row, report))) return report
      pass.onProgress()
      row = []
      pass.signal?.throwIfAborted()
      if (!(await pass.leadership.hold())) return report
    }
    if (!(await workThrough(pass, row, report))) return report
  }
  return report
}

/** Returns whether to go on. */
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
