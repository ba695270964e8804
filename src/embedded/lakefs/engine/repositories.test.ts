import { expect, test } from 'vitest'
import { LAKE, openLake, reopenLake, temporaryDir } from '../../../../test/support/embedded-engine.ts'

test('EE-13 a new repository has its default branch and one commit without parents and tree', async () => {
  const { engine } = await openLake()
  expect(engine.getRepository(LAKE)).toMatchObject({
    id: LAKE,
    defaultBranch: 'main',
    storageNamespace: 'local://lake',
  })
  expect(engine.getCommit(LAKE, 'main')).toMatchObject({
    message: 'Repository created',
    parents: [],
    metaRangeId: '',
    generation: 1,
    metadata: {},
  })
})

test.each(['Lake', 'ab', 'a'.repeat(64), 'a_bc', '-abc', ''])(
  'EE-13 the name "%s" is refused',
  async (name) => {
    const { engine } = await openLake()
    const created = engine.createRepository({ name, storageNamespace: 'local://x', defaultBranch: 'main' })
    await expect(created).rejects.toMatchObject({ reason: 'bad-argument' })
  },
)

test('EE-13 a name is taken while its repository lives, a storage namespace for ever', async () => {
  const { engine } = await openLake()
  const again = (name: string, storageNamespace: string) =>
    engine.createRepository({ name, storageNamespace, defaultBranch: 'main' })
  await expect(again(LAKE, 'local://other')).rejects.toMatchObject({ reason: 'repository-exists' })
  await expect(again('second', 'local://lake/')).rejects.toMatchObject({ reason: 'namespace-in-use' })
  await engine.deleteRepository(LAKE)
  expect(() => engine.getRepository(LAKE)).toThrow(
    expect.objectContaining({ reason: 'repository-not-found' }),
  )
  await expect(engine.deleteRepository(LAKE)).rejects.toMatchObject({ reason: 'repository-not-found' })
  await expect(again(LAKE, 'local://lake')).rejects.toMatchObject({ reason: 'namespace-in-use' })
  // The namespace refused above was not used up by the refusal of the name.
  await expect(again(LAKE, 'local://other')).resolves.toMatchObject({ id: LAKE })
})

test('EE-13 nothing of a deleted repository shows in one that takes its name', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  for (let index = 0; index < 30; index += 1) await lake.put('main', `f${index}`)
  await lake.commit('main', 'old')
  await lake.put('main', 'uncommitted')
  await lake.engine.deleteRepository(LAKE)
  await lake.engine.createRepository({ name: LAKE, storageNamespace: 'local://again', defaultBranch: 'main' })
  expect(lake.paths('main')).toEqual([])
  expect(lake.messages('main')).toEqual(['Repository created'])
  await lake.engine.close()
  const after = await reopenLake({ dataDir })
  expect(after.paths('main')).toEqual([])
  expect(after.engine.listRepositories({ amount: 10 }).items.map((repository) => repository.id)).toEqual([
    LAKE,
  ])
})

test('EE-13 a read-only repository takes no writes but a forced merge', async () => {
  const { engine } = await openLake()
  await engine.createRepository({
    name: 'frozen',
    storageNamespace: 'local://f',
    defaultBranch: 'main',
    readOnly: true,
  })
  expect(engine.getRepository('frozen').readOnly).toBe(true)
  await expect(
    engine.createBranch({ repository: 'frozen', name: 'b', source: 'main', hidden: false }),
  ).rejects.toMatchObject({ reason: 'read-only-repository' })
  const merge = { source: 'main', destination: 'main', committer: 'me', metadata: {}, squash: false }
  const again = { ...merge, repository: 'frozen', allowEmpty: true }
  await expect(engine.merge(again)).rejects.toMatchObject({ reason: 'read-only-repository' })
  expect((await engine.merge({ ...again, force: true })).parents).toHaveLength(2)
})

test('EE-14 repositories, branches and tags are listed in order, page by page', async () => {
  const lake = await openLake()
  const { engine } = lake
  for (const name of ['b', 'a_2', 'a-1', 'B', 'c']) await lake.branch(name)
  await engine.createBranch({ repository: LAKE, name: 'a-hidden', source: 'main', hidden: true })
  const branches = (page: object) => engine.listBranches(LAKE, { amount: 2, showHidden: false, ...page })
  expect(branches({ amount: 10 }).items.map((b) => b.name)).toEqual(['B', 'a-1', 'a_2', 'b', 'c', 'main'])
  expect(branches({}).hasMore).toBe(true)
  expect(branches({ after: 'a-1' }).items.map((b) => b.name)).toEqual(['a_2', 'b'])
  expect(branches({ after: 'b' })).toMatchObject({ hasMore: false, items: [{ name: 'c' }, { name: 'main' }] })
  expect(branches({ prefix: 'a' }).items.map((b) => b.name)).toEqual(['a-1', 'a_2'])
  expect(branches({ prefix: 'a', amount: 10, showHidden: true }).items.map((b) => b.name)).toEqual([
    'a-1',
    'a-hidden',
    'a_2',
  ])
  for (const name of ['v2', 'v1', 'w']) await engine.createTag({ repository: LAKE, name, ref: 'main' })
  expect(engine.listTags(LAKE, { amount: 10, prefix: 'v' }).items.map((t) => t.name)).toEqual(['v1', 'v2'])
  await engine.createRepository({ name: 'abc', storageNamespace: 'local://abc', defaultBranch: 'main' })
  expect(engine.listRepositories({ amount: 1 })).toMatchObject({ hasMore: true, items: [{ id: 'abc' }] })
})
