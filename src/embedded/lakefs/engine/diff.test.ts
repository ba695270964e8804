import { expect, test } from 'vitest'
import { LAKE, openLake, type TestLake } from '../../../../test/support/embedded-engine.ts'
import type { Difference } from './engine.ts'

async function twoBranches() {
  const lake = await openLake()
  for (const path of ['same', 'chg', 'del', 'd/1', 'd/2']) await lake.put('main', path, path)
  const base = (await lake.commit('main', 'base')).id
  await lake.branch('dev', base)
  await lake.put('dev', 'chg', 'new content')
  await lake.put('dev', 'add', 'a')
  await lake.put('dev', 'd/3', 'x')
  await lake.remove('dev', 'del')
  await lake.put('dev', 'same', 'same', { modifiedAt: 1_800_000_000 })
  return { lake, base }
}

function shown(items: readonly Difference[]): unknown[] {
  return items.map((item) => (item.kind === 'prefix' ? item.path : [item.type, item.path, item.sizeBytes]))
}

function diff(lake: TestLake, left: string, right: string, more: object = {}) {
  return lake.engine.diffRefs({ repository: LAKE, left, right, type: 'two_dot', amount: 100, ...more })
}

test('EE-23 the uncommitted diff shows real changes, and no size of what was removed', async () => {
  const { lake } = await twoBranches()
  const uncommitted = (more: object = {}) =>
    shown(lake.engine.diffUncommitted({ repository: LAKE, branch: 'dev', amount: 100, ...more }).items)
  expect(uncommitted()).toEqual([
    ['added', 'add', 1],
    ['changed', 'chg', 11],
    ['added', 'd/3', 1],
    ['removed', 'del', 0],
  ])
  expect(uncommitted({ delimiter: '/' })).toEqual([
    ['added', 'add', 1],
    ['changed', 'chg', 11],
    'd/',
    ['removed', 'del', 0],
  ])
  expect(uncommitted({ prefix: 'd/' })).toEqual([['added', 'd/3', 1]])
})

test('EE-24 the two-dot diff compares two trees, left to right', async () => {
  const { lake, base } = await twoBranches()
  const dev = (await lake.commit('dev', 'dev')).id
  await lake.put('main', 'mainonly', '1')
  await lake.commit('main', 'main moved')
  const changes = [
    ['added', 'add', 1],
    ['changed', 'chg', 11],
    ['added', 'd/3', 1],
    ['removed', 'del', 3],
  ]
  expect(shown(diff(lake, base, dev).items)).toEqual(changes)
  expect(shown(diff(lake, 'main', 'dev').items)).toEqual([...changes, ['removed', 'mainonly', 1]])
  expect(shown(diff(lake, 'dev', base).items)).toEqual([
    ['removed', 'add', 1],
    ['changed', 'chg', 3],
    ['removed', 'd/3', 1],
    ['added', 'del', 3],
  ])
  expect(diff(lake, 'main', 'main').items).toEqual([])
  expect(diff(lake, base, dev, { amount: 2 })).toMatchObject({ hasMore: true })
  expect(shown(diff(lake, base, dev, { amount: 2, after: 'chg' }).items)).toEqual(changes.slice(2))
  expect(shown(diff(lake, base, dev, { delimiter: '/' }).items)).toEqual([
    changes[0],
    changes[1],
    'd/',
    changes[3],
  ])
  const removed = diff(lake, base, dev, { prefix: 'del' }).items[0]
  expect(removed).toMatchObject({ right: { path: 'del', sizeBytes: 3 } })
})

test('EE-24 uncommitted changes are in a diff only where the right side ends in "$"', async () => {
  const { lake, base } = await twoBranches()
  expect(diff(lake, base, 'dev').items).toEqual([])
  expect(shown(diff(lake, base, 'dev$').items)).toEqual([
    ['added', 'add', 1],
    ['changed', 'chg', 11],
    ['added', 'd/3', 1],
    ['removed', 'del', 0],
  ])
  await lake.commit('dev', 'dev')
  // Back to what the left side holds, uncommitted: no difference any more.
  await lake.put('dev', 'chg', 'chg')
  await lake.remove('dev', 'd/3')
  expect(shown(diff(lake, base, 'dev$').items)).toEqual([
    ['added', 'add', 1],
    ['removed', 'del', 3],
  ])
  expect(() => diff(lake, 'dev$', base)).toThrow(expect.objectContaining({ reason: 'uncommitted-ref' }))
})

test('EE-25 the three-dot diff shows what the right side brings since the merge base, conflicts marked', async () => {
  const { lake } = await twoBranches()
  await lake.commit('dev', 'dev')
  await lake.put('main', 'mainonly', '1')
  await lake.commit('main', 'main moved')
  const three = (more: object = {}) => shown(diff(lake, 'main', 'dev', { type: 'three_dot', ...more }).items)
  expect(three()).toEqual([
    ['added', 'add', 1],
    ['changed', 'chg', 11],
    ['added', 'd/3', 1],
    ['removed', 'del', 3],
  ])
  await lake.put('main', 'chg', 'conflicting')
  await lake.put('main', 'add', 'a')
  await lake.commit('main', 'conflicting')
  expect(three()).toEqual([
    ['conflict', 'chg', 11],
    ['added', 'd/3', 1],
    ['removed', 'del', 3],
  ])
  expect(three({ amount: 1, after: 'chg' })).toEqual([['added', 'd/3', 1]])
  expect(() => diff(lake, 'main', 'dev$', { type: 'three_dot' })).toThrow(
    expect.objectContaining({ reason: 'uncommitted-ref' }),
  )
})
