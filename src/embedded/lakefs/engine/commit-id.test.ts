import { expect, test } from 'vitest'
import { computeCommitId } from './commit-id.ts'

const PLAIN = {
  committer: 'admin',
  message: 'Repository created',
  metaRangeId: '',
  createdAt: 1_700_000_000,
  metadata: {},
  parents: [],
}
const RICH = {
  committer: 'tester',
  message: 'ünï',
  metaRangeId: 'a'.repeat(64),
  createdAt: -1,
  metadata: { z: '1', ä: '2', a: '', '😀': '3', '\uffff': '4' },
  parents: ['b'.repeat(64), 'c'.repeat(64)],
}

test('EE-11 a commit has the id that lakeFS gives it', () => {
  expect(computeCommitId(PLAIN)).toBe('078fcb0e333188b0ff43180a9001d4a5e17f123ec0098a0835aeb4d0515683bb')
  expect(computeCommitId(RICH)).toBe('708cb0989d9be9d3112444f691a3ca4ce70d05636715f16303c72ef4ea4248dd')
})

test('EE-11 the order in which metadata was written does not matter, every field does', () => {
  const reversed = Object.fromEntries(Object.entries(RICH.metadata).reverse())
  expect(computeCommitId({ ...RICH, metadata: reversed })).toBe(computeCommitId(RICH))
  const others = [
    { ...RICH, committer: 'other' },
    { ...RICH, message: 'other' },
    { ...RICH, metaRangeId: 'b'.repeat(64) },
    { ...RICH, createdAt: 0 },
    { ...RICH, metadata: { ...RICH.metadata, a: '1' } },
    { ...RICH, parents: RICH.parents.toReversed() },
  ]
  expect(new Set([RICH, ...others].map(computeCommitId)).size).toBe(1 + others.length)
})
