/** What the history of a variable says in words. Pure. */

import type { Schemas } from '../../api.ts'
import { showShort } from '../../parts/json-tree.tsx'
import { showSize } from '../../parts/time.tsx'

export type VariableWrite = Schemas['VariableWrite']

/** Who wrote it, as far as it is known. */
export function describeWriter({ kind, by }: Pick<VariableWrite, 'kind' | 'by'>): string {
  const { unit, attempt, worker_id: worker, event } = by
  if (unit === undefined) {
    if (event === 'pipeline.started') return 'at the start'
    return kind === 'unknown' ? 'it is not known when' : 'by the engine or a program'
  }
  const which = attempt === undefined || attempt === 0 ? '' : `, attempt ${String(attempt)}`
  return `by ${unit}${which}${worker === undefined ? '' : ` on ${worker}`}`
}

/** The value in one line. */
export function describeValue({ kind, value, bytes }: VariableWrite): string {
  if (kind === 'removed') return 'removed'
  return bytes === undefined ? showShort(value) : `${showSize(bytes)}, too large to be kept`
}
