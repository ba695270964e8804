import { expect, test } from 'vitest'
import { LAKE, openLake } from '../../../../test/support/embedded-engine.ts'
import { computeCommitId } from './commit-id.ts'
import { EMPTY_TREE } from './tree/tree-node.ts'

test('EE-26 a commit holds what was staged, on the head it was made on', async () => {
  const lake = await openLake()
  const root = lake.head('main')
  await lake.put('main', 'a')
  const one = await lake.engine.commit({
    repository: LAKE,
    branch: 'main',
    committer: 'me',
    message: '',
    metadata: { 'dotted.key/x': 'ü' },
    date: 1_400_000_000,
    allowEmpty: false,
  })
  expect(one).toMatchObject({
    parents: [root],
    committer: 'me',
    message: '',
    createdAt: 1_400_000_000,
    metadata: { 'dotted.key/x': 'ü' },
    generation: 2,
    version: 1,
  })
  expect(one.metaRangeId).toMatch(/^[0-9a-f]{64}$/)
  expect(lake.engine.getCommit(LAKE, 'main')).toEqual(one)
  expect(lake.uncommitted('main')).toEqual([])
})

test('EE-27 what changes nothing is no change: nothing staged, put and removed, the same again', async () => {
  const lake = await openLake()
  const nothing = () => expect(lake.commit('main', 'x')).rejects.toMatchObject({ reason: 'no-changes' })
  await nothing()
  await lake.branch('untouched')
  expect((await lake.commit('untouched', 'empty', { allowEmpty: true })).metaRangeId).toBe(EMPTY_TREE)
  await lake.put('main', 'tmp')
  await lake.remove('main', 'tmp')
  await nothing()
  await lake.put('main', 'same', '1')
  await lake.commit('main', 'one')
  await lake.put('main', 'same', '1', { modifiedAt: 1_800_000_000 })
  await nothing()
  await lake.put('main', 'same', '1', { metadata: { k: 'v' } })
  await lake.commit('main', 'metadata')
  await lake.put('main', 'same', '1', { metadata: { k: 'v' }, contentType: 'text/plain' })
  await lake.commit('main', 'type')
  const before = lake.engine.getCommit(LAKE, 'main')
  const empty = await lake.commit('main', 'empty', { allowEmpty: true })
  expect(empty).toMatchObject({ metaRangeId: before.metaRangeId, parents: [before.id] })
  await expect(lake.commit('none', 'x')).rejects.toMatchObject({ reason: 'branch-not-found' })
})

test('EE-27 the same content uploaded again keeps the entry it had', async () => {
  const lake = await openLake()
  await lake.put('main', 'same', '1', { modifiedAt: 1 })
  await lake.commit('main', 'one')
  await lake.put('main', 'same', '1', { modifiedAt: 2 })
  await lake.put('main', 'other')
  await lake.commit('main', 'two')
  expect(lake.engine.stat(LAKE, 'main', 'same').modifiedAt).toBe(1)
})

test('EE-28 equal input is one commit, and equal trees have equal meta range ids', async () => {
  const lake = await openLake()
  await lake.branch('t1')
  await lake.branch('t2')
  for (const [branch, paths] of [
    ['t1', ['a', 'b', 'c']],
    ['t2', ['c', 'x', 'b', 'a']],
  ] as const) {
    for (const path of paths) await lake.put(branch, path)
  }
  await lake.remove('t2', 'x')
  const twin = (branch: string) =>
    lake.engine.commit({
      repository: LAKE,
      branch,
      committer: 'me',
      message: 'twin',
      metadata: {},
      date: 1_600_000_000,
      allowEmpty: false,
    })
  const first = await twin('t1')
  const second = await twin('t2')
  expect(second).toEqual(first)
  expect(lake.head('t2')).toBe(first.id)
})

test('EE-29 a known tree is committed as it is, on a branch without uncommitted changes', async () => {
  const lake = await openLake()
  await lake.put('main', 'a')
  const one = await lake.commit('main', 'one')
  await lake.put('main', 'b')
  const two = await lake.commit('main', 'two')
  await lake.branch('back')
  const taken = await lake.commit('back', 'back to one', { sourceMetaRange: one.metaRangeId })
  expect(taken).toMatchObject({ metaRangeId: one.metaRangeId, parents: [two.id] })
  expect(lake.paths('back')).toEqual(['a'])
  const unknown = lake.commit('back', 'x', { sourceMetaRange: 'e'.repeat(64) })
  await expect(unknown).rejects.toMatchObject({ reason: 'meta-range-not-found' })
  await lake.put('back', 'un')
  const dirty = lake.commit('back', 'x', { sourceMetaRange: two.metaRangeId })
  await expect(dirty).rejects.toMatchObject({ reason: 'dirty-branch' })
})

test('EE-30 a commit record is stored under the id of its content, once', async () => {
  const lake = await openLake()
  await lake.put('main', 'a')
  const one = await lake.commit('main', 'one')
  const content = {
    parents: [one.id, one.id, lake.engine.getCommit(LAKE, 'main~1').id],
    committer: 'publisher',
    message: 'claim',
    createdAt: 1_700_000_000,
    metaRangeId: one.metaRangeId,
    metadata: { run: 'one' },
    generation: 3,
    version: 1,
  }
  const record = { ...content, id: computeCommitId(content) }
  const write = (more: object = {}) => lake.engine.writeCommitRecord(LAKE, { ...record, ...more })
  await write()
  expect(lake.engine.getCommit(LAKE, record.id)).toMatchObject(content)
  await expect(write()).rejects.toMatchObject({ reason: 'commit-exists' })
  await expect(write({ id: '0'.repeat(64) })).rejects.toMatchObject({ reason: 'bad-commit-record' })
  await expect(write({ message: 'other' })).rejects.toMatchObject({ reason: 'bad-commit-record' })
  const refused = async (change: object, reason: string) => {
    const changed = { ...content, ...change }
    await expect(
      lake.engine.writeCommitRecord(LAKE, { ...changed, id: computeCommitId(changed) }),
    ).rejects.toMatchObject({ reason })
  }
  await refused({ parents: ['d'.repeat(64)] }, 'bad-commit-record')
  await refused({ message: 'young', generation: 2 }, 'bad-commit-record')
  await refused({ metaRangeId: 'd'.repeat(64) }, 'meta-range-not-found')
})
