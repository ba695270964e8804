import { expect, test } from 'vitest'
import { LAKE, openLake } from '../../../../test/support/embedded-engine.ts'

async function base() {
  const lake = await openLake()
  await lake.put('main', 'a', '0')
  await lake.put('main', 'b', '0')
  const start = (await lake.commit('main', 'base')).id
  const stage = async (name: string, files: Record<string, string | null>) => {
    await lake.branch(name, start)
    for (const [path, content] of Object.entries(files)) {
      if (content === null) await lake.remove(name, path)
      else await lake.put(name, path, content)
    }
    return lake.commit(name, `staged ${name}`)
  }
  return { lake, start, stage }
}

test("EE-31 a merge is a commit of its own on the destination's head; an unmoved one takes the source's tree", async () => {
  const { lake, start, stage } = await base()
  const source = await stage('s1', { x: '1' })
  const merged = await lake.merge('s1', 'main')
  expect(merged).toMatchObject({
    parents: [start, source.id],
    message: "Merge 's1' into 'main'",
    metadata: { '.lakefs.merge.strategy': 'default' },
    metaRangeId: source.metaRangeId,
    generation: 4,
  })
  expect(lake.head('main')).toBe(merged.id)
})

test('EE-31 message, metadata and squash are as asked', async () => {
  const { lake, stage } = await base()
  await stage('s1', { x: '1' })
  const before = lake.head('main')
  const merged = await lake.merge('s1', 'main', { message: 'mine', metadata: { run: '7' }, squash: true })
  expect(merged).toMatchObject({
    message: 'mine',
    parents: [before],
    metadata: { run: '7', '.lakefs.merge.strategy': 'default' },
  })
})

test('EE-32 a source that brings nothing is refused, unless an empty merge is allowed', async () => {
  const { lake, start, stage } = await base()
  const source = await stage('s1', { x: '1' })
  const first = await lake.merge('s1', 'main')
  const nothing = (from: string, to: string) =>
    expect(lake.merge(from, to)).rejects.toMatchObject({ reason: 'no-changes' })
  await nothing('s1', 'main')
  await nothing(source.id, 'main')
  await nothing('main', 'main')
  await lake.branch('behind', start)
  await nothing('behind', 'main')
  expect((await lake.merge('s1', 'main', { allowEmpty: true })).metaRangeId).toBe(first.metaRangeId)
})

test('EE-33 the same path changed otherwise on both sides is a conflict, and the head stays', async () => {
  const { lake, stage } = await base()
  await stage('s1', { x: '1' })
  await stage('s2', { x: 'other', z: '1' })
  await stage('gone', { b: null })
  await stage('kept', { b: 'changed' })
  const { id } = await lake.merge('s1', 'main')
  await expect(lake.merge('s2', 'main')).rejects.toMatchObject({ reason: 'merge-conflict' })
  expect(lake.head('main')).toBe(id)
  await lake.branch('sw')
  expect((await lake.merge('s2', 'sw', { strategy: 'source-wins' })).metadata).toEqual({
    '.lakefs.merge.strategy': 'source-wins',
  })
  await lake.branch('dw', id)
  await lake.merge('s2', 'dw', { strategy: 'dest-wins' })
  expect([await lake.read('sw', 'x'), await lake.read('dw', 'x'), await lake.read('dw', 'z')]).toEqual([
    'other',
    '1',
    '1',
  ])
  await lake.merge('gone', 'main')
  await expect(lake.merge('kept', 'main')).rejects.toMatchObject({ reason: 'merge-conflict' })
})

test('EE-33 the same change on both sides is none', async () => {
  const { lake, stage } = await base()
  await stage('s1', { same: '1' })
  await stage('s2', { same: '1' })
  await lake.merge('s1', 'main')
  await lake.merge('s2', 'main')
  expect(lake.paths('main')).toEqual(['a', 'b', 'same'])
})

test('EE-34 uncommitted changes on the destination stop a merge, those of the source are left out', async () => {
  const { lake, start, stage } = await base()
  await stage('s1', { x: '1' })
  await lake.put('s1', 'un')
  await lake.branch('dirty', start)
  await lake.put('dirty', 'un')
  await expect(lake.merge('s1', 'dirty')).rejects.toMatchObject({ reason: 'dirty-branch' })
  await expect(lake.merge('none', 'dirty')).rejects.toMatchObject({ reason: 'dirty-branch' })
  await lake.merge('s1', 'main')
  expect(lake.paths('main')).toEqual(['a', 'b', 'x'])
  await expect(lake.merge('none', 'main')).rejects.toMatchObject({ reason: 'ref-not-found' })
  await expect(lake.merge('s1', 'none')).rejects.toMatchObject({ reason: 'branch-not-found' })
})

test('EE-34 content uploaded again as it was makes no branch dirty, and does not come back after the merge', async () => {
  const { lake, stage } = await base()
  await stage('s1', { a: 'new' })
  await lake.put('main', 'a', '0')
  await lake.merge('s1', 'main')
  expect(await lake.read('main', 'a')).toBe('new')
  expect(lake.uncommitted('main')).toEqual([])
})

test('EE-35 merges at the same time all land when they touch different files', async () => {
  const { lake, start, stage } = await base()
  const names = Array.from({ length: 24 }, (_, index) => `d${index}`)
  for (const name of names) await stage(name, { [name]: 'x' })
  await lake.branch('t', start)
  const merged = await Promise.all(names.map((name) => lake.merge(name, 't')))
  expect(lake.paths('t')).toEqual(['a', 'b', ...names].sort())
  expect(new Set(merged.map((commit) => commit.parents[0])).size).toBe(names.length)
})

test('EE-35 of merges at the same time that touch one file, one lands', async () => {
  const { lake, start, stage } = await base()
  const names = ['e1', 'e2', 'e3', 'e4']
  for (const name of names) await stage(name, { same: name })
  await lake.branch('t', start)
  const asked = await Promise.allSettled(names.map((name) => lake.merge(name, 't')))
  expect(asked.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  for (const result of asked) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason: 'merge-conflict' })
  }
})

test('EE-36 the merge base is the youngest commit both histories hold', async () => {
  const { lake, start, stage } = await base()
  const s1 = await stage('s1', { x: '1' })
  await lake.put('main', 'm')
  const moved = await lake.commit('main', 'moved')
  const bases = (source: string, destination: string) => lake.engine.findMergeBase(LAKE, source, destination)
  expect(bases('s1', 'main')).toEqual({ source: s1.id, destination: moved.id, base: start })
  expect(bases('main', 'main').base).toBe(moved.id)
  await lake.merge('s1', 'main')
  expect(bases('s1', 'main').base).toBe(s1.id)
  await lake.put('s1', 'y')
  await lake.commit('s1', 'more')
  expect(bases('s1', 'main').base).toBe(s1.id)
})

test('EE-36 dates that were given do not mislead the search for the merge base', async () => {
  const lake = await openLake()
  const commit = async (branch: string, message: string, date: number) => {
    await lake.put(branch, message)
    const more = { repository: LAKE, branch, message, committer: 'me', metadata: {}, allowEmpty: false }
    return (await lake.engine.commit({ ...more, date })).id
  }
  const start = await commit('main', 'base', 2_000_000_000)
  await lake.branch('dev')
  await commit('dev', 'd1', 1_500_000_000)
  await commit('dev', 'd2', 1_500_000_001)
  await commit('main', 'm1', 1_500_000_005)
  expect(lake.engine.findMergeBase(LAKE, 'dev', 'main').base).toBe(start)
})
