import { expect, test } from 'vitest'
import { decideMerge, type MergeDecision } from './merge.ts'

const NONE = undefined
const CASES: readonly [string | undefined, string | undefined, string | undefined, MergeDecision, string][] =
  [
    ['a', 'a', 'a', 'keep', 'nobody changed it'],
    ['a', 'a', 'b', 'keep', 'only the destination changed it'],
    ['a', 'a', NONE, 'keep', 'only the destination removed it'],
    [NONE, NONE, 'a', 'keep', 'only the destination added it'],
    ['a', 'b', 'a', 'take', 'only the source changed it'],
    ['a', NONE, 'a', 'take', 'only the source removed it'],
    [NONE, 'a', NONE, 'take', 'only the source added it'],
    ['a', 'b', 'b', 'keep', 'both changed it to the same'],
    [NONE, 'a', 'a', 'keep', 'both added the same'],
    ['a', NONE, NONE, 'keep', 'both removed it'],
    ['a', 'b', 'c', 'conflict', 'both changed it otherwise'],
    [NONE, 'a', 'b', 'conflict', 'both added something else'],
    ['a', 'b', NONE, 'conflict', 'the source changed what the destination removed'],
    ['a', NONE, 'b', 'conflict', 'the source removed what the destination changed'],
  ]

test.each(CASES)(
  'EE-09 base %s, source %s, destination %s: %s, for %s',
  (base, source, destination, decision) => {
    expect(decideMerge({ base, source, destination }, (left, right) => left === right)).toBe(decision)
  },
)
