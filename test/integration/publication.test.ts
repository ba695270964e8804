// Publications over HTTP: against the embedded server, always, and against the real lakeFS where one is wanted.
// Goal: what holds in the scripted repository holds on the wire, lost connections included.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CommitRef } from '../../src/base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { PublishFenceError } from '../../src/fences/publish-fence.ts'
import { StaleAttemptError } from '../../src/fences/attempt-fence.ts'
import { createRepository, deleteRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import { publish } from '../../src/publication/publish.ts'
import {
  attemptOf,
  bodyOf,
  failureOf,
  filesOf,
  freshOf,
  logOf,
  NO_CHANGES,
  PREFIX,
  publicationOf,
  stagingBranchesOf,
  TARGET,
  uploadOf,
} from '../support/publication-world.ts'
import { wantsRealLakefs } from '../support/servers/lakefs.ts'
import { openSuiteLakefs, suiteOf, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'

type Server = SuiteLakefs & { readonly embedded?: EmbeddedLakefs }

async function openEmbedded(): Promise<Server> {
  const embedded = await startEmbeddedLakefs({})
  return { ...suiteOf({ ...embedded, storageNamespace: 'local://publication' }), embedded }
}

const SERVERS: { name: string; open: () => Promise<Server>; isEmbedded: boolean }[] = [
  { name: 'the embedded server', open: openEmbedded, isEmbedded: true },
  ...(wantsRealLakefs(process.env)
    ? [{ name: 'the real lakeFS', open: openSuiteLakefs, isEmbedded: false }]
    : []),
]

describe.each(SERVERS)('against $name', ({ open, isEmbedded }) => {
  let server: Server
  let client: LakefsClient
  let repo: VersionedRepo
  let input: CommitRef
  beforeAll(async () => {
    server = await open()
    client = createLakefsClient({ ...server, endpoint: server.url })
  })
  afterAll(async () => {
    await client.close()
    await server.close()
  })
  beforeEach(async () => {
    const { repository, storageNamespace } = server.newRepository('publication')
    await createRepository(client, { repository, storageNamespace })
    repo = openLakefsRepo(client, repository)
    input = await commitOf({ [`${PREFIX}a.txt`]: 'first', [`${PREFIX}old.txt`]: 'old', elsewhere: 'x' })
    return async () => {
      await deleteRepository(client, repository)
    }
  })

  async function commitOf(files: Readonly<Record<string, string>>): Promise<CommitRef> {
    for (const [path, text] of Object.entries(files))
      await repo.write({ branch: TARGET, path, body: bodyOf(text) })
    const outcome = await repo.commit({
      branch: TARGET,
      message: 'Foreign work',
      metadata: { n: randomBytes(6).toString('hex') },
    })
    if (!outcome.committed) throw new Error(outcome.reason)
    return outcome.commit.ref
  }
  const changes = { uploads: [uploadOf(`${PREFIX}a.txt`, 'second')], deletes: [`${PREFIX}old.txt`] }
  const wanted = { [`${PREFIX}a.txt`]: 'second', elsewhere: 'x' }
  const refs = async (): Promise<CommitRef[]> => (await logOf(repo)).map(({ ref }) => ref)
  const retried = { attempt: { retryCount: 1 } }

  test('PU-35 F-30 a merge puts one commit above the input and leaves no staging branch', async () => {
    const { outputRef, action } = await publish(publicationOf(repo, input, { changes }).request)
    expect(action).toBe('merged')
    expect((await refs()).slice(0, 2)).toEqual([outputRef, input])
    expect((await repo.readCommit(outputRef))?.parents).toEqual([input])
    expect(await filesOf(repo)).toEqual(wanted)
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('PU-35 F-31 without changes a first attempt completes and makes no commit', async () => {
    expect(await publish(publicationOf(repo, input, { changes: NO_CHANGES }).request)).toMatchObject({
      action: 'completed',
      outputRef: input,
    })
    expect((await repo.readBranch(TARGET))?.head).toBe(input)
  })

  test('PU-35 F-32 a retry with changes replaces the commit of an earlier attempt and tags it', async () => {
    const first = await publish(publicationOf(repo, input).request)
    const second = await publish(publicationOf(repo, input, { changes, ...retried }).request)
    expect(second).toMatchObject({ action: 'replaced', supersededRef: first.outputRef })
    expect((await refs()).slice(0, 2)).toEqual([second.outputRef, input])
    expect(await filesOf(repo)).toEqual(wanted)
    const tag = `perago-superseded-${first.outputRef}`
    expect(await repo.createTag({ tag, at: input })).toEqual({ created: false, at: first.outputRef })
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('PU-35 F-33 a retry without changes moves the branch back to the input', async () => {
    const first = await publish(publicationOf(repo, input).request)
    const second = await publish(publicationOf(repo, input, { changes: NO_CHANGES, ...retried }).request)
    expect(second).toMatchObject({ action: 'relocated', outputRef: input, supersededRef: first.outputRef })
    expect((await repo.readBranch(TARGET))?.head).toBe(input)
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('PU-35 F-62 a refusal leaves the branch as it is, and its evidence on the staging branch', async () => {
    await commitOf({ x: '1' })
    const head = await commitOf({ y: '1' })
    const error = await failureOf(publish(publicationOf(repo, input).request))
    expect(error).toBeInstanceOf(PublishFenceError)
    expect((await repo.readBranch(TARGET))?.head).toBe(head)
    const [staging] = await stagingBranchesOf(repo)
    const [closing] = await logOf(repo, staging)
    expect(JSON.parse(closing!.metadata['publish.evidence']!)).toMatchObject({
      refusal: { reason: 'branch-moved', head },
    })
  })

  test('PU-35 F-34 a publication to a missing branch is refused', async () => {
    const target = { branch: 'nowhere' as never, inputRef: input, prefix: PREFIX }
    expect(
      await failureOf(publish(publicationOf(repo, input, { target, changes: NO_CHANGES }).request)),
    ).toMatchObject({ reason: 'branch-missing' })
  })

  test('PU-35 F-21 a stale attempt publishes nothing', async () => {
    let reads = 0
    const attempt = attemptOf()
    const readFresh = (): Promise<ReturnType<typeof freshOf>> =>
      Promise.resolve(++reads === 1 ? freshOf(attempt) : { ...freshOf(attempt), workflow: 'TERMINATED' })
    const authority = { attempt, readFresh }
    const error = await failureOf(publish(publicationOf(repo, input, { authority }).request))
    expect(error).toBeInstanceOf(StaleAttemptError)
    expect((await repo.readBranch(TARGET))?.head).toBe(input)
  })

  test('PU-35 PU-07 an upload that equals the file of the input is no change', async () => {
    const same = { uploads: [uploadOf(`${PREFIX}a.txt`, 'first')], deletes: [] }
    expect(await publish(publicationOf(repo, input, { changes: same }).request)).toMatchObject({
      action: 'completed',
    })
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('PU-35 PU-10 of two publications that pass the fence at once, at most one succeeds', async () => {
    const both = await Promise.allSettled(
      ['one', 'two'].map((name) => {
        const uploads = [uploadOf(`${PREFIX}${name}`, name)]
        const authority = { replace: 'own', referenceTaskName: name, executionId: name } as const
        return publish(publicationOf(repo, input, { changes: { uploads, deletes: [] }, authority }).request)
      }),
    )
    const won = both.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value.outputRef)
    expect(won.length).toBeLessThanOrEqual(1)
    for (const ref of won) expect((await repo.readCommit(ref))?.parents).toEqual([input])
    for (const outcome of both)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(PublishFenceError)
  })

  test('PU-09 a squash merge that is sent twice lands twice, and publishing leaves one commit all the same', async () => {
    // The first merge lands while nobody hears of it, right before one that was sent earlier.
    const twice: VersionedRepo = {
      ...repo,
      merge: async (request, options) => {
        // Not the claim by which the second one is taken off.
        if (request.squash !== true) return repo.merge(request, options)
        await repo.merge(request, options)
        return repo.merge({ ...request, message: 'again' })
      },
    }
    const { outputRef } = await publish(publicationOf(twice, input, { changes }).request)
    expect((await refs()).slice(0, 2)).toEqual([outputRef, input])
    expect(await filesOf(repo)).toEqual(wanted)
  })

  // Only there can connections be lost on purpose and requests be counted.
  if (!isEmbedded) return
  const faults = (): EmbeddedLakefs['faults'] => server.embedded!.faults
  const FAULTY = [
    'createBranch',
    'uploadObject',
    'deleteObjects',
    'commit',
    'mergeIntoBranch',
    'deleteBranch',
    'logCommits',
    'diffRefs',
  ] as const
  test.each(
    FAULTY.flatMap((operation) => [[operation, 'lose-before'] as const, [operation, 'lose-after'] as const]),
  )('PU-35 PU-08 a connection lost at %s (%s) leaves one commit above the input', async (operation, kind) => {
    faults().add({ operation, times: 1, fault: { kind } })
    const { outputRef } = await publish(publicationOf(repo, input, { changes }).request)
    faults().clear()
    expect((await refs()).slice(0, 2)).toEqual([outputRef, input])
    expect(await filesOf(repo)).toEqual(wanted)
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test.each(['lose-before', 'lose-after'] as const)(
    'PU-35 PU-08 a connection lost while the branch is moved (%s) leaves one commit above the input',
    async (kind) => {
      await publish(publicationOf(repo, input).request)
      faults().add({ operation: 'hardResetBranch', times: 1, fault: { kind } })
      const result = await publish(publicationOf(repo, input, { changes, ...retried }).request)
      faults().clear()
      expect(result.action).toBe('replaced')
      expect((await refs()).slice(0, 2)).toEqual([result.outputRef, input])
    },
  )

  test('PU-36 listing, reading one file and publishing it changed takes ten requests', async () => {
    faults().clearHistory()
    for await (const entry of repo.list(input, { prefix: PREFIX })) {
      if (entry.path.endsWith('a.txt'))
        for await (const part of (await repo.read(input, entry.path))!.body) expect(part).toBeDefined()
    }
    await publish(publicationOf(repo, input).request)
    const asked = faults().history.map(({ operation }) => operation)
    // What the server can do is asked once in the life of a client.
    expect(
      asked.filter((operation) => operation !== 'getConfig' && operation !== 'getLakeFSVersion'),
    ).toEqual([
      'listObjects',
      'getObject',
      'createBranch',
      'uploadObject',
      'commit',
      'diffRefs',
      'logCommits',
      'mergeIntoBranch',
      'logCommits',
      'deleteBranch',
    ])
  })
})
