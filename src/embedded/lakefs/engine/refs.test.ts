import { expect, test } from 'vitest'
import { LAKE, openLake } from '../../../../test/support/embedded-engine.ts'
import { computeCommitId } from './commit-id.ts'

async function history() {
  const lake = await openLake()
  await lake.put('main', 'a', '1')
  const one = await lake.commit('main', 'one')
  await lake.branch('dev')
  await lake.put('dev', 'd')
  const dev = await lake.commit('dev', 'dev')
  await lake.put('main', 'a', '2')
  const two = await lake.commit('main', 'two')
  const merged = await lake.merge('dev', 'main')
  await lake.engine.createTag({ repository: LAKE, name: 'v1.0', ref: one.id })
  return {
    lake,
    one: one.id,
    two: two.id,
    dev: dev.id,
    merged: merged.id,
    resolve: (ref: string) => lake.engine.getCommit(LAKE, ref).id,
  }
}

test('EE-12 a reference is a commit id, a branch, a tag or the first digits of a commit id', async () => {
  const { resolve, one, merged } = await history()
  expect(resolve(one)).toBe(one)
  expect(resolve('main')).toBe(merged)
  expect(resolve('v1.0')).toBe(one)
  expect(resolve(one.slice(0, 12))).toBe(one)
})

test('EE-12 "~" counts first parents, "^" picks a parent, and both chain', async () => {
  const { resolve, one, two, dev, merged } = await history()
  expect(resolve('main~')).toBe(two)
  expect(resolve('main~2')).toBe(one)
  expect(resolve('main^')).toBe(two)
  expect(resolve('main^2')).toBe(dev)
  expect(resolve('main^2~1')).toBe(one)
  expect(resolve('main^0')).toBe(merged)
  expect(resolve('main~0^2^1')).toBe(one)
  expect(resolve('main@')).toBe(merged)
})

test.each([
  ['nothing', 'ref-not-found'],
  ['main~9', 'ref-not-found'],
  ['f'.repeat(64), 'ref-not-found'],
  ['xyz', 'ref-not-found'],
  ['dev^2', 'bad-ref-expression'],
  ['main~x', 'bad-ref-expression'],
  ['main@~1', 'bad-ref-expression'],
  ['main@1', 'bad-ref-expression'],
  ['main~1@', 'bad-ref-expression'],
  ['v1.0@', 'bad-ref-expression'],
  ['', 'bad-ref-expression'],
  ['~1', 'bad-ref-expression'],
  ['main$', 'uncommitted-ref'],
])('EE-12 %s is refused as %s', async (ref, reason) => {
  const { resolve } = await history()
  expect(() => resolve(ref)).toThrow(expect.objectContaining({ reason }))
})

test('EE-12 digits that fit two commits fit none, and a branch named like digits comes first', async () => {
  const { lake, resolve, one, two } = await history()
  expect(resolve(one.slice(0, 12))).toBe(one)
  await lake.branch(one.slice(0, 12), two)
  expect(resolve(one.slice(0, 12))).toBe(two)

  // Seventeen commits, sixteen digits: two of them start alike.
  const digits = new Set<string>()
  let ambiguous: string | undefined
  for (let index = 0; index < 17; index += 1) {
    const { id } = await lake.commit('main', String(index), { allowEmpty: true })
    if (digits.has(id.charAt(0))) ambiguous = id.charAt(0)
    digits.add(id.charAt(0))
  }
  expect(() => resolve(ambiguous!)).toThrow(expect.objectContaining({ reason: 'ref-not-found' }))
})

test('EE-12 no branch can hide a commit behind its full id', async () => {
  const { lake, one, resolve } = await history()
  await expect(lake.branch(one)).rejects.toMatchObject({ reason: 'branch-name-is-a-commit' })
  // Ids can be worked out beforehand, so the branch may be there first.
  const { metaRangeId } = lake.engine.getCommit(LAKE, one)
  const content = {
    parents: [one],
    committer: 'me',
    message: 'later',
    createdAt: 1,
    metaRangeId,
    metadata: {},
  }
  const id = computeCommitId(content)
  await lake.branch(id)
  await lake.engine.writeCommitRecord(LAKE, { ...content, id, generation: 3, version: 1 })
  expect(resolve(id)).toBe(id)
})
