import { expect, test } from 'vitest'
import { LAKE, openLake, type TestLake } from '../../../../test/support/embedded-engine.ts'

function revert(lake: TestLake, ref: string, more: object = {}) {
  return lake.engine.revert({
    repository: LAKE,
    branch: 'main',
    ref,
    parentNumber: 0,
    committer: 'tester',
    allowEmpty: false,
    ...more,
  })
}

function cherryPick(lake: TestLake, ref: string, more: object = {}) {
  return lake.engine.cherryPick({ repository: LAKE, branch: 'main', ref, committer: 'picker', ...more })
}

test('EE-42 a revert takes one commit back and leaves later ones', async () => {
  const lake = await openLake()
  await lake.put('main', 'a')
  await lake.commit('main', 'one')
  await lake.put('main', 'b')
  const two = await lake.commit('main', 'two')
  await lake.put('main', 'c')
  const three = await lake.commit('main', 'three')
  const reverted = await revert(lake, two.id)
  expect(reverted).toMatchObject({ message: `Revert ${two.id}`, parents: [three.id], metadata: {} })
  expect(lake.paths('main')).toEqual(['a', 'c'])
  await expect(revert(lake, two.id)).rejects.toMatchObject({ reason: 'no-changes' })
  await expect(revert(lake, two.id, { allowEmpty: true })).resolves.toMatchObject({
    metaRangeId: reverted.metaRangeId,
  })
  await expect(revert(lake, 'none')).rejects.toMatchObject({ reason: 'ref-not-found' })
  await lake.put('main', 'un')
  await expect(revert(lake, two.id)).rejects.toMatchObject({ reason: 'dirty-branch' })
})

test('EE-42 what was changed again since cannot be taken back', async () => {
  const lake = await openLake()
  await lake.put('main', 'a', '1')
  const one = await lake.commit('main', 'one')
  await lake.put('main', 'a', '2')
  await lake.commit('main', 'two')
  await expect(revert(lake, one.id)).rejects.toMatchObject({ reason: 'merge-conflict' })
})

test('EE-42 a merge is taken back against the parent that is named', async () => {
  const lake = await openLake()
  await lake.branch('dev')
  await lake.put('dev', 'd')
  await lake.commit('dev', 'dev')
  await lake.put('main', 'm')
  await lake.commit('main', 'main')
  await lake.merge('dev', 'main')
  await expect(revert(lake, 'main')).rejects.toMatchObject({ reason: 'parent-number-required' })
  await expect(revert(lake, 'main', { parentNumber: 3 })).rejects.toMatchObject({ reason: 'bad-argument' })
  await revert(lake, 'main', { parentNumber: 1 })
  expect(lake.paths('main')).toEqual(['m'])
})

test('EE-43 a picked commit is repeated with its message and says where it came from', async () => {
  const lake = await openLake()
  await lake.branch('dev')
  await lake.put('dev', 'one')
  await lake.commit('dev', 'first')
  await lake.put('dev', 'two')
  const second = await lake.commit('dev', 'second')
  const picked = await cherryPick(lake, 'dev')
  expect(picked).toMatchObject({
    message: 'second',
    committer: 'picker',
    metadata: { 'cherry-pick-origin': second.id, 'cherry-pick-committer': 'tester' },
  })
  expect(lake.paths('main')).toEqual(['two'])
  await lake.merge('dev', 'main')
  await expect(cherryPick(lake, 'main')).rejects.toMatchObject({ reason: 'bad-argument' })
  await expect(cherryPick(lake, 'dev~2')).rejects.toMatchObject({ reason: 'bad-argument' })
})
