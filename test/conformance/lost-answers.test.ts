// Goal: "uncertain" is the truth. Whether a request took effect is not known from its answer, and is known from what
// the error says to read.
// Method: the embedded server loses answers before or after the effect; what it holds is then read without faults.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { branchName, repositoryName, type BranchName, type CommitRef } from '../../src/base/ids.ts'
import type { FaultRule } from '../../src/embedded/lakefs/faults.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import { branchFrom, bytes, commitOf, headOf, MAIN, put, readText } from './versioned-repo-cases/world.ts'

let server: EmbeddedLakefs
let client: LakefsClient
let repo: VersionedRepo
beforeAll(async () => {
  server = await startEmbeddedLakefs()
  client = createLakefsClient({ ...server, endpoint: server.url, retry: { firstDelayMs: 1 } })
  const repository = repositoryName('lost-answers')
  await createRepository(client, { repository, storageNamespace: 'local://lost-answers' })
  repo = openLakefsRepo(client, repository)
})
afterAll(async () => {
  await client.close()
  await server.close()
})

interface Attempt {
  readonly operation: Exclude<FaultRule['operation'], undefined>
  readonly run: () => Promise<unknown>
  /** What the error says to read. */
  readonly took: () => Promise<boolean>
}

let count = 0
async function freshBranch(): Promise<{ branch: BranchName; head: CommitRef }> {
  const head = await headOf(repo, MAIN)
  return { branch: await branchFrom(repo, `branch-${++count}`, head), head }
}

const ATTEMPTS: Readonly<Record<string, () => Promise<Attempt>>> = {
  'create a branch': async () => {
    const from = await headOf(repo, MAIN)
    const branch = branchName(`made-${++count}`)
    return {
      operation: 'createBranch',
      run: () => repo.createBranch({ branch, from }),
      took: async () => (await repo.readBranch(branch)) !== undefined,
    }
  },
  'delete a branch': async () => {
    const { branch } = await freshBranch()
    return {
      operation: 'deleteBranch',
      run: () => repo.deleteBranch(branch),
      took: async () => (await repo.readBranch(branch)) === undefined,
    }
  },
  commit: async () => {
    const { branch, head } = await freshBranch()
    await put(repo, branch, 'new')
    return {
      operation: 'commit',
      run: () => repo.commit({ branch, message: 'm' }),
      took: async () => (await headOf(repo, branch)) !== head,
    }
  },
  merge: async () => {
    const { branch, head } = await freshBranch()
    const side = await freshBranch()
    const source = (await commitOf(repo, side.branch, { merged: String(count) })).ref
    return {
      operation: 'mergeIntoBranch',
      run: () => repo.merge({ source, into: branch }),
      took: async () => (await headOf(repo, branch)) !== head,
    }
  },
  'move a branch': async () => {
    const { branch, head } = await freshBranch()
    const { ref: to } = await commitOf(repo, branch, { moved: String(count) })
    return {
      operation: 'hardResetBranch',
      run: () => repo.moveBranch({ branch, expectedHead: to, to: head }),
      took: async () => (await headOf(repo, branch)) === head,
    }
  },
  'write to a free path': async () => {
    const { branch } = await freshBranch()
    return {
      operation: 'uploadObject',
      run: () => repo.write({ branch, path: 'free', body: bytes('x'), ifAbsent: true }),
      took: async () => (await repo.stat(branch, 'free')) !== undefined,
    }
  },
}

const LOSSES = Object.keys(ATTEMPTS).flatMap((name) => [
  { name, kind: 'lose-before' as const, took: false },
  { name, kind: 'lose-after' as const, took: true },
])

test.each(LOSSES)(
  'LC-114 $name, $kind: uncertain, sent once, and what is read says the truth',
  async ({ name, kind, took }) => {
    const attempt = await ATTEMPTS[name]!()
    expect(await attempt.took()).toBe(false)
    const remove = server.faults.add({ operation: attempt.operation, fault: { kind } })
    server.faults.clearHistory()
    const failure = attempt.run()
    await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/answer-lost' })
    remove()
    const sent = server.faults.history.filter((request) => request.operation === attempt.operation)
    expect(sent).toHaveLength(1)
    expect(await attempt.took()).toBe(took)
  },
)

test.each(['lose-before', 'lose-after'] as const)(
  'LC-115 an upload and a deletion survive two lost answers (%s)',
  async (kind) => {
    const { branch } = await freshBranch()
    const removeBoth = [
      server.faults.add({ operation: 'uploadObject', times: 2, fault: { kind } }),
      server.faults.add({ operation: 'deleteObjects', times: 2, fault: { kind } }),
    ]
    expect(await repo.write({ branch, path: 'p', body: bytes('content') })).toMatchObject({ written: true })
    expect(await readText(repo, branch, 'p')).toBe('content')
    await repo.deleteObjects(branch, ['p'])
    expect(await repo.stat(branch, 'p')).toBeUndefined()
    for (const remove of removeBoth) remove()
  },
)

test('LC-116 faults at any moment never make a read wrong', async () => {
  const content = 'x'.repeat(100_000)
  const { branch } = await freshBranch()
  await put(repo, branch, 'big', content)
  const removeAll = [
    server.faults.add({ operation: 'getObject', times: 1, fault: { kind: 'cut-body', share: 0.5 } }),
    server.faults.add({ operation: 'getObject', times: 1, fault: { kind: 'corrupt-body' } }),
    server.faults.add({ operation: 'getObject', times: 1, fault: { kind: 'answer', status: 503 } }),
  ]
  await expect(readText(repo, branch, 'big')).rejects.toMatchObject({ code: 'lakefs/short-body' })
  await expect(readText(repo, branch, 'big')).rejects.toMatchObject({ code: 'lakefs/checksum-mismatch' })
  expect(await readText(repo, branch, 'big')).toBe(content)
  for (const remove of removeAll) remove()
})
