import { expect, test } from 'vitest'
import { LAKE, openLake } from '../../../../test/support/embedded-engine.ts'
import { matchesWildcards } from '../glob.ts'

test('EE-46 a protected branch takes merges, reverts and deletion, and nothing else', async () => {
  const lake = await openLake()
  await lake.put('main', 'a')
  const one = (await lake.commit('main', 'one')).id
  await lake.branch('st')
  await lake.put('st', 'n')
  await lake.commit('st', 'n')
  await lake.branch('release-1')
  await lake.engine.setProtection(LAKE, ['main', 'release-*'])
  const refused = (work: Promise<unknown>) =>
    expect(work).rejects.toMatchObject({ reason: 'protected-branch' })
  await refused(lake.put('main', 'x'))
  await refused(lake.put('release-1', 'x'))
  await refused(lake.remove('main', 'a'))
  await refused(lake.commit('main', 'x', { allowEmpty: true }))
  await refused(lake.engine.hardReset({ repository: LAKE, branch: 'main', ref: one }))
  await refused(lake.engine.resetUncommitted(LAKE, 'main', { type: 'reset' }))
  expect(await lake.engine.deleteEntries(LAKE, 'main', ['a'])).toEqual([
    { path: 'a', reason: 'protected-branch', message: 'cannot write to protected branch' },
  ])
  await lake.merge('st', 'main')
  await lake.engine.revert({
    repository: LAKE,
    branch: 'main',
    ref: 'main',
    parentNumber: 1,
    committer: 'me',
    allowEmpty: false,
  })
  await lake.engine.deleteBranch(LAKE, 'release-1')
  await lake.put('st', 'free')
})

test('EE-46 rules are changed only from the state that was read, where that is asked for', async () => {
  const { engine } = await openLake()
  expect(engine.getProtection(LAKE)).toEqual({ patterns: [], etag: '' })
  await engine.setProtection(LAKE, ['main'], '')
  const { etag, patterns } = engine.getProtection(LAKE)
  expect(patterns).toEqual(['main'])
  await expect(engine.setProtection(LAKE, [], 'stale')).rejects.toMatchObject({ reason: 'stale-settings' })
  await engine.setProtection(LAKE, [], etag)
  expect(engine.getProtection(LAKE).patterns).toEqual([])
})

test.each([
  ['main', 'main', true],
  ['main', 'main2', false],
  ['*', 'anything', true],
  ['*', '', true],
  ['rel-?', 'rel-1', true],
  ['rel-?', 'rel-', false],
  ['a*b*c', 'aXXbYYc', true],
  ['a*b*c', 'aXXbYY', false],
  ['*b', 'abab', true],
  ['', 'x', false],
  ['a**', 'a', true],
])('EE-46 pattern "%s" and branch "%s": %s', (pattern, name, matches) => {
  expect(matchesWildcards(pattern, name)).toBe(matches)
})
