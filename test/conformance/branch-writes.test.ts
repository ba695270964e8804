// Goal: between the last look and a branch write there is no room for anything that takes time: no wait before another try,
// no other step, no queue. And an answer that may have come after the deed neither fails an attempt nor leaves anything.
// Method: the embedded server refuses or delays one request, and in that moment the world changes.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { repositoryName, type CommitRef } from '../../src/base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import type { OperationName } from '../../src/embedded/lakefs/http/operations.ts'
import { StaleAttemptError } from '../../src/fences/attempt-fence.ts'
import type { FreshAttempt } from '../../src/fences/attempt-snapshot.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { PUBLICATION_CONFIRMATION_AGE_MAX_MS } from '../../src/publication/limits.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import { publish } from '../../src/publication/publish.ts'
import {
  attemptOf,
  bodyOf,
  failureOf,
  filesOf,
  freshOf,
  logOf,
  PREFIX,
  publicationOf,
  stagingBranchesOf,
  TARGET,
  uploadOf,
} from '../support/publication-world.ts'

let server: EmbeddedLakefs
let client: LakefsClient
let foreigner: LakefsClient
let name: ReturnType<typeof repositoryName>
let repo: VersionedRepo
let foreign: VersionedRepo
let input: CommitRef

beforeAll(async () => {
  server = await startEmbeddedLakefs()
  client = createLakefsClient({ ...server, endpoint: server.url, connectionsMax: 2 })
  foreigner = createLakefsClient({ ...server, endpoint: server.url })
})
afterAll(async () => {
  await client.close()
  await foreigner.close()
  await server.close()
})
beforeEach(async () => {
  server.faults.clear()
  name = repositoryName(`branch-writes-${randomBytes(6).toString('hex')}`)
  await createRepository(foreigner, { repository: name, storageNamespace: `local://${name}` })
  repo = openLakefsRepo(client, name)
  foreign = openLakefsRepo(foreigner, name)
  input = await commitForeign('start')
})

async function commitForeign(text: string): Promise<CommitRef> {
  await foreign.write({ branch: TARGET, path: 'foreign', body: bodyOf(text) })
  const outcome = await foreign.commit({ branch: TARGET, message: text })
  if (!outcome.committed) throw new Error(outcome.reason)
  return outcome.commit.ref
}

const changes = { uploads: [uploadOf(`${PREFIX}a.txt`, 'mine')], deletes: [] }
const earlier = { executionId: 'earlier' }
/** As an attempt that is replaced when the test says so. */
function openAttempt() {
  const attempt = attemptOf({ retryCount: 1 })
  const state = { isReplaced: false, reads: 0 }
  const readFresh = (): Promise<FreshAttempt> => {
    state.reads += 1
    const fresh = freshOf(attempt)
    return Promise.resolve(state.isReplaced ? { ...fresh, workflow: 'TERMINATED' } : fresh)
  }
  return { state, authority: { attempt, readFresh } }
}
const sent = (operation: OperationName): number =>
  server.faults.history.filter((seen) => seen.operation === operation && seen.path.includes(name)).length

describe('what changes while a branch write waits', () => {
  test('PU-100 a commit that arrives after a busy branch refused a move is kept', async () => {
    await publish(publicationOf(foreign, input, { authority: earlier }).request)
    let arriving: Promise<CommitRef> | undefined
    server.faults.add({
      operation: 'hardResetBranch',
      times: 1,
      when: () => ((arriving = commitForeign('work')), true),
      fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 },
    })
    const failure = await failureOf(
      publish(publicationOf(repo, input, { changes, attempt: { retryCount: 1 } }).request),
    )
    expect(failure).toMatchObject({ code: 'fences/publish-refused', reason: 'branch-moved' })
    expect((await logOf(foreign)).map(({ ref }) => ref)).toContain(await arriving)
    expect((await filesOf(foreign))['foreign']).toBe('work')
  })

  test.each([
    ['after a merge that was answered 503', 'mergeIntoBranch', 503, false],
    ['after a move that was answered 429', 'hardResetBranch', 429, true],
    ['while the evidence tag is written again', 'createTag', 429, true],
  ] as const)(
    'PU-101 an attempt that is replaced %s writes nothing more',
    async (_, operation, status, isRetry) => {
      if (isRetry) await publish(publicationOf(foreign, input, { authority: earlier }).request)
      const head = (await foreign.readBranch(TARGET))?.head
      const { state, authority } = openAttempt()
      const before = sent(operation)
      server.faults.add({
        operation,
        times: 1,
        when: () => (state.isReplaced = true),
        fault: { kind: 'answer', status, retryAfterSeconds: 1 },
      })
      const failure = await failureOf(publish(publicationOf(repo, input, { changes, authority }).request))
      expect(failure).toBeInstanceOf(StaleAttemptError)
      expect((await foreign.readBranch(TARGET))?.head).toBe(head)
      if (operation !== 'createTag') expect(sent(operation) - before).toBe(1)
    },
  )

  test('PU-101 an attempt that is replaced while what it staged is compared with the plan writes nothing', async () => {
    const { state, authority } = openAttempt()
    server.faults.add({
      operation: 'diffRefs',
      when: () => (setTimeout(() => (state.isReplaced = true), 100), true),
      fault: { kind: 'delay', delayMs: 500 },
    })
    const failure = await failureOf(publish(publicationOf(repo, input, { changes, authority }).request))
    expect(failure).toBeInstanceOf(StaleAttemptError)
    expect((await foreign.readBranch(TARGET))?.head).toBe(input)
  })

  test('PU-102 a branch write queues behind no transfer', async () => {
    const branch = 'busy' as never
    await foreign.createBranch({ branch, from: input })
    let uploads: Promise<unknown> | undefined
    const { state, authority } = openAttempt()
    const readFresh = async (): Promise<FreshAttempt> => {
      const fresh = await authority.readFresh()
      // The last reading before the write: every connection for transfers is taken from here on.
      if (state.reads === 2) {
        server.faults.add({ operation: 'uploadObject', fault: { kind: 'delay', delayMs: 2_000 } })
        const paths = Array.from({ length: 8 }, (_, index) => `big-${index}`)
        uploads = Promise.all(paths.map((path) => repo.write({ branch, path, body: bodyOf(path) })))
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return fresh
    }
    const { request, events } = publicationOf(repo, input, {
      changes,
      authority: { ...authority, readFresh },
    })
    const publishing = publish(request)
    await expect.poll(() => sent('mergeIntoBranch'), { timeout: 1_500 }).toBe(1)
    expect(server.faults.history.filter(({ path }) => path.includes('big-'))).toEqual([])
    await uploads
    await publishing
    const written = events.find(({ step }) => step === 'merge')
    expect(written?.details['ageMs']).toBeLessThanOrEqual(PUBLICATION_CONFIRMATION_AGE_MAX_MS)
  })
})

describe('an answer after the deed', () => {
  const OPERATIONS = [
    'createBranch',
    'uploadObject',
    'deleteObjects',
    'commit',
    'createTag',
    'mergeIntoBranch',
    'hardResetBranch',
    'deleteBranch',
  ] as const
  const cases = OPERATIONS.flatMap((operation) =>
    ([503, 408] as const).flatMap((status) =>
      ([true, undefined] as const).map((isDone) => ({ operation, status, isDone })),
    ),
  )
  test.each(cases)(
    'PU-103 $status to $operation (done: $isDone) fails no attempt and leaves no branch',
    async ({ operation, status, isDone }) => {
      const isReplacing = operation === 'createTag' || operation === 'hardResetBranch'
      if (isReplacing) await publish(publicationOf(foreign, input, { authority: earlier }).request)
      server.faults.add({
        operation,
        times: 1,
        fault: { kind: 'answer', status, ...(isDone && { isDone }) },
      })
      const given = { changes: { ...changes, deletes: [`${PREFIX}none`] }, attempt: { retryCount: 1 } }
      const deletes = operation === 'deleteObjects' ? given : { changes, attempt: given.attempt }
      if (operation === 'deleteObjects') input = await addFile(`${PREFIX}none`)
      const { outputRef, action } = await publish(publicationOf(repo, input, deletes).request)
      expect(action).toBe(isReplacing ? 'replaced' : 'merged')
      expect((await logOf(foreign)).map(({ ref }) => ref).slice(0, 2)).toEqual([outputRef, input])
      expect(await stagingBranchesOf(foreign)).toEqual([])
    },
  )
})

async function addFile(path: string): Promise<CommitRef> {
  await foreign.write({ branch: TARGET, path, body: bodyOf('x') })
  return commitForeign('with a file')
}
