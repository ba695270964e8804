/** What the script that writes batches is given, and what it answers. */

import type { CommitOutcome } from '../../core/ports.ts'
import type { CheckedBatch } from '../backend.ts'
import { bufferOf } from '../bytes.ts'

/** `[1, revision]`, or 0 and in pairs the keys whose conditions did not hold, with the revision found. */
export type CommitAnswer = readonly [number, ...Buffer[]]

export function argumentsOf({ conditions, operations }: CheckedBatch): readonly (string | number | Buffer)[] {
  const given: (string | number | Buffer)[] = [conditions.length]
  for (const condition of conditions) {
    given.push(condition.key, condition.is, condition.is === 'at' ? condition.revision : '')
  }
  given.push(operations.length)
  for (const operation of operations) {
    if (operation.do === 'put') {
      given.push(operation.key, 'put', bufferOf(operation.value), operation.ttlMs ?? '')
    } else given.push(operation.key, 'delete', '', '')
  }
  return given
}

export function outcomeOf([committed, ...fields]: CommitAnswer): CommitOutcome {
  if (committed === 1) return { committed: true, revision: Number(fields[0]?.toString()) }
  const unmet: { key: string; revision: number | undefined }[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const revision = fields[at + 1]?.toString() ?? ''
    unmet.push({
      key: fields[at]?.toString() ?? '',
      revision: revision === '' ? undefined : Number(revision),
    })
  }
  return { committed: false, unmet }
}
