import { expect, test } from 'vitest'
import { LAKE, openLake } from '../../../../test/support/embedded-engine.ts'
import type { LogRequest } from './engine.ts'

async function history() {
  const lake = await openLake()
  await lake.put('main', 'a/1')
  const one = (await lake.commit('main', 'one')).id
  await lake.put('main', 'b/1')
  const two = (await lake.commit('main', 'two')).id
  await lake.branch('dev')
  await lake.put('dev', 'a/2')
  await lake.commit('dev', 'dev one')
  await lake.put('main', 'c')
  await lake.commit('main', 'three')
  await lake.merge('dev', 'main', { message: 'merge dev' })
  const log = (request: Partial<LogRequest> = {}, ref = 'main') => {
    const page = lake.engine.log(LAKE, ref, {
      amount: 100,
      firstParent: false,
      objects: [],
      prefixes: [],
      ...request,
    })
    return { messages: page.items.map((commit) => commit.message), hasMore: page.hasMore }
  }
  return { lake, one, two, log }
}

const ALL = ['merge dev', 'three', 'dev one', 'two', 'one', 'Repository created']

test('EE-44 the log shows every commit once, the latest first', async () => {
  const { log, one } = await history()
  expect(log()).toEqual({ messages: ALL, hasMore: false })
  expect(log({ firstParent: true }).messages).toEqual(ALL.filter((message) => message !== 'dev one'))
  expect(log({}, one).messages).toEqual(['one', 'Repository created'])
  expect(log({}, 'main~1').messages).toEqual(['three', 'two', 'one', 'Repository created'])
  expect(() => log({}, 'none')).toThrow(expect.objectContaining({ reason: 'ref-not-found' }))
})

test('EE-44 dates that were given count, and each commit stands behind one of its children', async () => {
  const lake = await openLake()
  const commit = async (branch: string, message: string, date: number) => {
    await lake.put(branch, message)
    const more = { repository: LAKE, branch, message, committer: 'me', metadata: {}, allowEmpty: false }
    return lake.engine.commit({ ...more, date })
  }
  await commit('main', 'base', 2_000_000_000)
  await lake.branch('dev')
  await commit('dev', 'd1', 1_500_000_000)
  await commit('dev', 'd2', 1_500_000_001)
  await commit('main', 'm1', 1_500_000_005)
  await lake.merge('dev', 'main', { message: 'merged' })
  expect(lake.messages('main')).toEqual(['merged', 'm1', 'base', 'Repository created', 'd2', 'd1'])
})

test('EE-44 the log comes in pages behind a commit, and ends with the one to stop at', async () => {
  const { log, one, two } = await history()
  expect(log({ amount: 2 })).toEqual({ messages: ALL.slice(0, 2), hasMore: true })
  expect(log({ amount: 2, after: two })).toEqual({ messages: ['one', 'Repository created'], hasMore: false })
  for (const unknown of [{ after: 'e'.repeat(64) }, { stopAt: 'none' }]) {
    expect(() => log(unknown)).toThrow(expect.objectContaining({ reason: 'ref-not-found' }))
  }
  expect(log({ stopAt: one, firstParent: true }).messages).toEqual(['merge dev', 'three', 'two', 'one'])
})

test('EE-45 the log of objects and prefixes shows the commits that changed them, merges left out', async () => {
  const { log, lake } = await history()
  expect(log({ objects: ['a/2'] }).messages).toEqual(['dev one'])
  expect(log({ prefixes: ['b/'] }).messages).toEqual(['two'])
  expect(log({ objects: ['a/1', 'b/1'] }).messages).toEqual(['two', 'one'])
  expect(log({ prefixes: ['a/'], objects: ['c'] }).messages).toEqual(['three', 'dev one', 'one'])
  expect(log({ objects: ['never'] })).toEqual({ messages: [], hasMore: false })
  await lake.remove('main', 'a/1')
  await lake.commit('main', 'removed')
  expect(log({ objects: ['a/1'], amount: 1 })).toEqual({ messages: ['removed'], hasMore: true })
})
