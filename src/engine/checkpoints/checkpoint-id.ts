/** Ids of checkpoints. They tell the time, so that a body whose record is missing can be recognised as old. */

import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'

const TOKEN_CHARS = 8

/** `cp-3-mjv0q8w0-4f1k2z9c`: place in its execution, time, and a part that no other one has. */
export function makeCheckpointId(
  sequence: number,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): string {
  const token = Array.from({ length: TOKEN_CHARS }, () => Math.floor(random.next() * 36).toString(36)).join(
    '',
  )
  return `cp-${sequence}-${clock.now().getTime().toString(36)}-${token}`
}

/** 0 for any other text: what no checkpoint is called was never one. */
export function takenAtMsOf(checkpointId: string): number {
  const [, time] = /^cp-\d+-([0-9a-z]+)-[0-9a-z]+$/.exec(checkpointId) ?? []
  return time === undefined ? 0 : parseInt(time, 36)
}
