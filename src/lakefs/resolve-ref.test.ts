import { afterEach, beforeEach, expect, test } from 'vitest'
import { branchName, repositoryName } from '../base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../embedded/lakefs/server.ts'
import { createRepository } from './administration.ts'
import { createLakefsClient, type LakefsClient } from './client.ts'
import { resolveRef } from './resolve-ref.ts'
import { openLakefsRepo } from './versioned-repo.ts'

const MAIN = branchName('main')
const repository = repositoryName('lake')
let lakefs: EmbeddedLakefs
let client: LakefsClient

beforeEach(async () => {
  lakefs = await startEmbeddedLakefs({})
  client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  await createRepository(client, { repository, storageNamespace: 'local://lake', defaultBranch: MAIN })
})
afterEach(async () => {
  await client.close()
  await lakefs.close()
})

test('LC-210 a branch, a tag, a commit id, its first digits and an expression are resolved to the commit', async () => {
  const repo = openLakefsRepo(client, repository)
  const { head: first } = (await repo.readBranch(MAIN))!
  await repo.createTag({ tag: 'v1.0', at: first })
  const made = await repo.commit({ branch: MAIN, message: 'Second', allowEmpty: true })
  const second = made.committed ? made.commit.ref : undefined
  for (const [ref, expected] of [
    ...[
      ['main', second],
      ['main@', second],
      ['main~1', first],
      ['v1.0', first],
    ],
    ...[
      [first, first],
      [first.slice(0, 12), first],
    ],
    ...[
      ['other', undefined],
      ['c'.repeat(64), undefined],
    ],
  ] as const)
    expect([ref, await resolveRef(client, { repository, ref: ref })]).toEqual([ref, expected])
})

test('LC-210 what is not committed, a path or nothing is refused before anything is asked', async () => {
  for (const ref of ['main$', '', '.', '..', 'a/b', 'a b', 'a?b'])
    await expect(resolveRef(client, { repository, ref })).rejects.toMatchObject({ code: 'lakefs/bad-ref' })
  const elsewhere = { repository: repositoryName('other'), ref: 'main' }
  await expect(resolveRef(client, elsewhere)).rejects.toMatchObject({ code: 'lakefs/no-such-repository' })
})
