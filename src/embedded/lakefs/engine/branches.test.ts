import { expect, test } from 'vitest'
import { LAKE, openLake } from '../../../../test/support/embedded-engine.ts'

test.each(['a/b', 'a.b', 'a b', '-a', 'zweig-ä', 'a~1', 'a@b', 'a:b', 'a+b', ''])(
  'EE-15 a branch cannot be named "%s"',
  async (name) => {
    const lake = await openLake()
    await expect(lake.branch(name)).rejects.toMatchObject({ reason: 'bad-argument' })
  },
)

test('EE-15 a branch name is taken once, however many ask at the same time', async () => {
  const lake = await openLake()
  const asked = await Promise.allSettled(Array.from({ length: 8 }, () => lake.branch('one')))
  expect(asked.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  for (const result of asked) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason: 'branch-exists' })
  }
  await expect(lake.branch('two', 'nothing')).rejects.toMatchObject({ reason: 'ref-not-found' })
})

test('EE-15 deleting a branch drops its uncommitted changes, also for a branch that takes its name', async () => {
  const lake = await openLake()
  await lake.branch('dev')
  await lake.put('dev', 'un')
  await lake.engine.deleteBranch(LAKE, 'dev')
  expect(() => lake.head('dev')).toThrow(expect.objectContaining({ reason: 'branch-not-found' }))
  await lake.branch('dev')
  expect(lake.paths('dev')).toEqual([])
  await expect(lake.engine.deleteBranch(LAKE, 'main')).rejects.toMatchObject({ reason: 'default-branch' })
  await expect(lake.engine.deleteBranch(LAKE, 'none')).rejects.toMatchObject({ reason: 'branch-not-found' })
})

test('EE-16 a hard reset moves the head anywhere and lets uncommitted changes stand', async () => {
  const lake = await openLake()
  const heads: string[] = []
  for (const content of ['1', '2', '3']) {
    await lake.put('main', 'a', content)
    heads.push((await lake.commit('main', content)).id)
  }
  const reset = (ref: string, branch = 'main') => lake.engine.hardReset({ repository: LAKE, branch, ref })
  await lake.put('main', 'un')
  await reset(heads[0]!)
  expect(lake.head('main')).toBe(heads[0])
  expect(lake.uncommitted('main')).toEqual(['added un'])
  await reset(heads[2]!)
  await reset('main~1')
  expect(lake.head('main')).toBe(heads[1])
  expect(lake.engine.getCommit(LAKE, heads[2]!).message).toBe('3')
  await expect(reset('none')).rejects.toMatchObject({ reason: 'ref-not-found' })
  await expect(reset('main^2')).rejects.toMatchObject({ reason: 'bad-ref-expression' })
  await expect(reset('main$')).rejects.toMatchObject({ reason: 'uncommitted-ref' })
  await expect(reset('main', 'none')).rejects.toMatchObject({ reason: 'branch-not-found' })
})

test('EE-16 an expression on the branch itself means the head that is being replaced', async () => {
  const lake = await openLake()
  for (const content of ['1', '2', '3']) {
    await lake.put('main', 'a', content)
    await lake.commit('main', content)
  }
  const reset = () => lake.engine.hardReset({ repository: LAKE, branch: 'main', ref: 'main~1' })
  await Promise.all([reset(), reset()])
  expect(lake.messages('main')).toEqual(['1', 'Repository created'])
})

test('EE-17 uncommitted changes are thrown away one by one, by prefix, or all', async () => {
  const lake = await openLake()
  await lake.put('main', 'a', '1')
  await lake.commit('main', 'one')
  const reset = (what: Parameters<typeof lake.engine.resetUncommitted>[2]) =>
    lake.engine.resetUncommitted(LAKE, 'main', what)
  for (const path of ['d/x', 'd/y', 'd', 'd0', 'e']) await lake.put('main', path)
  await lake.remove('main', 'a')
  await reset({ type: 'common_prefix', path: 'd/' })
  expect(lake.uncommitted('main')).toEqual(['removed a', 'added d', 'added d0', 'added e'])
  await reset({ type: 'object', path: 'a' })
  await reset({ type: 'object', path: 'not there' })
  expect(lake.uncommitted('main')).toEqual(['added d', 'added d0', 'added e'])
  await reset({ type: 'reset' })
  expect(lake.uncommitted('main')).toEqual([])
  expect(lake.paths('main')).toEqual(['a'])
})

test("EE-18 a tag is made once, of any commit, and named by lakeFS' rules", async () => {
  const { engine } = await openLake()
  const tag = (name: string, ref = 'main') => engine.createTag({ repository: LAKE, name, ref })
  await tag('v1.0~beta')
  expect(engine.getTag(LAKE, 'v1.0~beta').commitId).toBe(engine.getBranch(LAKE, 'main').commitId)
  await expect(tag('v1.0~beta')).rejects.toMatchObject({ reason: 'tag-exists' })
  await expect(tag('v2', 'none')).rejects.toMatchObject({ reason: 'ref-not-found' })
  for (const name of ['a/b', 'a b', 'a.', 'a..b', 'a^', 'a:b', 'a?', 'a*', 'a[', 'a\\b', '']) {
    await expect(tag(name)).rejects.toMatchObject({ reason: 'bad-argument' })
  }
  await engine.deleteTag(LAKE, 'v1.0~beta')
  await expect(engine.deleteTag(LAKE, 'v1.0~beta')).rejects.toMatchObject({ reason: 'tag-not-found' })
})
