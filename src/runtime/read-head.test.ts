// Goal: no work begins on a commit that is about to leave its branch.
import { expect, test } from 'vitest'
import { branchName } from '../base/ids.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import { headOf } from './read-head.ts'

test('PU-171 the head by which work starts is no claim: one that was left there is collapsed', async () => {
  const main = branchName('main')
  const world = new ScriptedRepo()
  const repo = world.connect('starter')
  const { signal } = new AbortController()
  const input = world.commitDirectly(main, { a: '1' })
  const replaced = world.commitDirectly(main, { a: '2' })
  const { ref: staged, metaRange } = world.model.addCommit({
    ...{ parents: [input], message: 'Stage', metadata: {} },
    tree: world.model.treeAt(input) ?? new Map(),
  })
  const fields = { message: 'Claim', committer: 'perago', metadata: { 'publish.claim': staged } }
  const source = await repo.writeCommit({
    ...{ ...fields, parents: [replaced, replaced, staged], metaRange: metaRange as never },
    ...{ generation: 4, createdAt: new Date(0) },
  })
  const { metadata } = fields
  await repo.merge({ source, into: main, message: 'Claim', metadata, allowEmpty: true })
  expect(world.head(main)).not.toBe(replaced)
  expect(await headOf(repo, 'main', signal)).toBe(staged)
  expect(world.head(main)).toBe(staged)
  await expect(headOf(repo, 'none', signal)).rejects.toMatchObject({ code: 'runtime/no-such-branch' })
})
