import { expect, test } from 'vitest'
import { branchName } from '../../base/ids.ts'
import { branchHead } from '../../tasks/branch-head.ts'
import { ScriptedRepo } from '../../testing/scripted-repo.ts'
import { bindBranchHead } from './bind-branch-head.ts'

const MAIN = branchName('main')

async function run(world: ScriptedRepo, params: object): Promise<unknown> {
  const { body } = bindBranchHead(branchHead, () => world.connect('worker'))
  if (body.kind !== 'function') throw new Error('it is a function')
  return body.invoke(params, { signal: new AbortController().signal } as never)
}

test('CL-157 the built-in task answers the head of a branch, as the next task takes it as its workspace', async () => {
  const world = new ScriptedRepo()
  const head = world.commitDirectly(MAIN, { a: '1' })
  const { repository } = world
  expect(await run(world, { repository, branch: 'main' })).toEqual({
    ...{ repository, branch: 'main', refType: 'commit', ref: head },
  })
})

test('CL-157 a claim that was left there is collapsed: the head is what a publication takes as its input', async () => {
  const world = new ScriptedRepo()
  const repo = world.connect('starter')
  const input = world.commitDirectly(MAIN, { a: '1' })
  const replaced = world.commitDirectly(MAIN, { a: '2' })
  const { ref: staged, metaRange } = world.model.addCommit({
    ...{ parents: [input], message: 'Stage', metadata: {} },
    tree: world.model.treeAt(input) ?? new Map(),
  })
  const metadata = { 'publish.claim': staged }
  const source = await repo.writeCommit({
    ...{ message: 'Claim', committer: 'perago', metadata, parents: [replaced, replaced, staged] },
    ...{ metaRange: metaRange as never, generation: 4, createdAt: new Date(0) },
  })
  await repo.merge({ source, into: MAIN, message: 'Claim', metadata, allowEmpty: true })
  expect(await run(world, { repository: world.repository, branch: 'main' })).toMatchObject({ ref: staged })
  expect(world.head(MAIN)).toBe(staged)
})

test.each([
  ['a branch that is not there', { branch: 'none' }, 'does not exist'],
  ['a name that no branch can have', { branch: 'a.b' }, 'branch name'],
])('CL-157 %s fails the task for good, without a retry', async (_, place, message) => {
  const world = new ScriptedRepo()
  await expect(run(world, { repository: world.repository, ...place })).rejects.toMatchObject({
    code: 'task/terminal',
    message: expect.stringContaining(message) as string,
  })
})

test('CL-157 any other task stays as it is', () => {
  const other = { ...branchHead, name: 'orders.clean' }
  expect(bindBranchHead(other, () => new ScriptedRepo().connect('worker'))).toBe(other)
})
