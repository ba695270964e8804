import { expect, onTestFinished, test } from 'vitest'
import { branchName, repositoryName } from '../base/ids.ts'
import { startEmbeddedLakefs } from '../embedded/lakefs/server.ts'
import { createRepository } from '../lakefs/administration.ts'
import { createLakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import { commitOf } from './commit-of.ts'

test('CL-141 a branch, a tag, a short id and an expression stand for a commit, and without a name the head does', async () => {
  const lakefs = await startEmbeddedLakefs({})
  onTestFinished(() => lakefs.close())
  const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  onTestFinished(() => client.close())
  const [repository, main] = [repositoryName('lake'), branchName('main')]
  await createRepository(client, { repository, storageNamespace: 'local://lake', defaultBranch: main })
  const repo = openLakefsRepo(client, repository)
  const { head: first } = (await repo.readBranch(main))!
  await repo.createTag({ tag: 'v1.0', at: first })
  await repo.createBranch({ branch: branchName('other'), from: first })
  await repo.commit({ branch: main, message: 'Second', allowEmpty: true })
  const { head: second } = (await repo.readBranch(main))!
  const { signal } = new AbortController()
  const place = { repository, branch: 'main' }
  for (const [ref, expected] of [
    ...([
      [undefined, second],
      ['main', second],
      ['other', first],
      ['v1.0', first],
    ] as const),
    ...([
      ['main~1', first],
      [first.slice(0, 8), first],
      [first, first],
    ] as const),
  ])
    expect([ref, await commitOf(client, { ...place, ref }, signal)]).toEqual([ref, expected])
  for (const ref of ['mian', 'c'.repeat(64)])
    await expect(commitOf(client, { ...place, ref }, signal)).rejects.toMatchObject({
      code: 'runtime/no-such-commit',
    })
})
