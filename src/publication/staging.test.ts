import { Readable } from 'node:stream'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  failureOf,
  filesOf,
  logOf,
  PREFIX,
  publicationOf,
  stagingBranchesOf,
  TARGET,
  uploadOf,
  withAuthority,
} from '../../test/support/publication-world.ts'
import { createAdaptiveLimit } from '../base/adaptive-limit.ts'
import type { CommitRef } from '../base/ids.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import { collectLeftovers, type Leftover } from './clean-up.ts'
import { METADATA_KEYS } from './commit-metadata.ts'
import { PUBLICATION_UPLOADS_IN_FLIGHT } from './limits.ts'
import type { VersionedRepo } from './ports.ts'
import { publish } from './publish.ts'

let world: ScriptedRepo
let repo: VersionedRepo
let input: CommitRef
beforeEach(() => {
  world = new ScriptedRepo()
  repo = world.connect('worker')
  input = world.commitDirectly(TARGET, {
    [`${PREFIX}a.txt`]: 'first',
    [`${PREFIX}old.txt`]: 'old',
    other: 'x',
  })
})

const upload = (name: string, text: string): ReturnType<typeof uploadOf> => uploadOf(`${PREFIX}${name}`, text)

describe('the plan', () => {
  test.each([
    [
      'an upload outside the prefix',
      { uploads: [uploadOf('featuresque/x', '1')], deletes: [] },
      'publication/outside-prefix',
    ],
    ['a deletion outside the prefix', { uploads: [], deletes: ['other'] }, 'publication/outside-prefix'],
    [
      'a path uploaded and deleted',
      { uploads: [upload('a', '1')], deletes: [`${PREFIX}a`] },
      'publication/path-twice',
    ],
    [
      'a path uploaded twice',
      { uploads: [upload('a', '1'), upload('a', '2')], deletes: [] },
      'publication/path-twice',
    ],
  ])('PU-03 %s is refused before anything is sent', async (_, changes, code) => {
    expect(await failureOf(publish(publicationOf(repo, input, { changes }).request))).toMatchObject({
      kind: 'invalid',
      code,
    })
    expect(world.calls).toEqual([])
  })

  test('PU-03 a prefix that does not end with a slash is refused, for it would take in its neighbours', async () => {
    const target = { branch: TARGET, inputRef: input, prefix: 'features' }
    expect(await failureOf(publish(publicationOf(repo, input, { target }).request))).toMatchObject({
      code: 'publication/bad-prefix',
    })
  })

  // Goal: whatever is planned under the prefix, what lies outside stays byte for byte, and inside is what was planned.
  test('PU-22 publishing changes exactly what was planned', async () => {
    const name = fc.stringMatching(/^[a-e]{1,2}$/)
    const files = fc.dictionary(name, fc.string({ maxLength: 8 }))
    await fc.assert(
      fc.asyncProperty(files, files, files, async (outside, before, after) => {
        const own = new ScriptedRepo()
        const under = (of: Record<string, string>): Record<string, string> =>
          Object.fromEntries(Object.entries(of).map(([key, text]) => [PREFIX + key, text]))
        const start = own.commitDirectly(TARGET, { ...outside, ...under(before) })
        const client = own.connect('worker')
        const changes = {
          uploads: Object.entries(after)
            .filter(([key, text]) => before[key] !== text)
            .map(([key, text]) => upload(key, text)),
          deletes: Object.keys(before)
            .filter((key) => !Object.hasOwn(after, key))
            .map((key) => PREFIX + key),
        }
        await publish(publicationOf(client, start, { changes }).request)
        expect(await filesOf(client)).toEqual({ ...outside, ...under(after) })
      }),
      { numRuns: 60 },
    )
  })
})

describe('the staged commit', () => {
  test('PU-06 a deletion that was answered and not done is found before the target is touched', async () => {
    const lying: VersionedRepo = { ...repo, deleteObjects: () => Promise.resolve() }
    for (const uploads of [[], [upload('a.txt', 'second')]]) {
      const changes = { uploads, deletes: [`${PREFIX}old.txt`] }
      const error = await failureOf(
        publish(publicationOf(lying, input, { changes, attempt: { retryCount: uploads.length } }).request),
      )
      expect(error).toMatchObject({ kind: 'refused', code: 'publication/staged-unlike-plan' })
      expect((error as Error).message).toContain('1 planned changes missing, such as "features/old.txt"')
    }
    expect(world.head(TARGET)).toBe(input)
  })

  test('PU-06 an upload that was answered and is not there is found', async () => {
    const lying: VersionedRepo = {
      ...repo,
      write: async (request, options) => {
        const outcome = await repo.write(request, options)
        if (request.path.endsWith('b')) await repo.deleteObjects(request.branch, [request.path])
        return outcome
      },
    }
    const changes = { uploads: [upload('a.txt', 'second'), upload('b', '1')], deletes: [] }
    const error = await failureOf(publish(publicationOf(lying, input, { changes }).request))
    expect(error).toMatchObject({ code: 'publication/staged-unlike-plan' })
    expect(world.head(TARGET)).toBe(input)
  })

  test("PU-06 somebody else's change on the staging branch is found", async () => {
    const shared: VersionedRepo = {
      ...repo,
      commit: async (request, options) => {
        await repo.write({
          branch: request.branch,
          path: 'other',
          body: { sizeBytes: 1, open: () => Buffer.from('y') },
        })
        return repo.commit(request, options)
      },
    }
    const error = await failureOf(publish(publicationOf(shared, input).request))
    expect((error as Error).message).toContain('1 changes that nobody planned, such as "other"')
    expect(await filesOf(repo)).toMatchObject({ other: 'x' })
  })

  test("PU-06 somebody else's commit on the staging branch is found", async () => {
    const shared: VersionedRepo = {
      ...repo,
      commit: async (request, options) => {
        world.commitDirectly(request.branch, { stranger: '1' })
        return repo.commit(request, options)
      },
    }
    expect(await failureOf(publish(publicationOf(shared, input).request))).toMatchObject({
      code: 'publication/staging-moved',
    })
    expect(world.head(TARGET)).toBe(input)
  })

  test('PU-06 a staged commit with a second parent is found, though its first is the input', async () => {
    const first = world.model.commit(input)!.parents[0]!
    const merging: VersionedRepo = {
      ...repo,
      commit: async (request, options) => {
        const outcome = await repo.commit(request, options)
        if (!outcome.committed) return outcome
        const { ref, parents } = outcome.commit
        return { ...outcome, commit: { ...outcome.commit, ref, parents: [...parents, first] } }
      },
    }
    expect(await failureOf(publish(publicationOf(merging, input).request))).toMatchObject({
      code: 'publication/staging-moved',
    })
    expect(world.head(TARGET)).toBe(input)
  })

  test('PU-07 uploads of what the input holds already are no change', async () => {
    const same = await publish(
      publicationOf(repo, input, { changes: { uploads: [upload('a.txt', 'first')], deletes: [] } }).request,
    )
    expect(same).toMatchObject({ action: 'completed', outputRef: input, strength: 'soft' })
    const partly = { uploads: [upload('a.txt', 'first'), upload('b.txt', 'new')], deletes: [] }
    expect(
      await publish(publicationOf(repo, input, { changes: partly, attempt: { retryCount: 1 } }).request),
    ).toMatchObject({ action: 'merged' })
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('PU-07 a no-op found only while staging is judged by a fence of its own', async () => {
    const { request, steps } = publicationOf(repo, input, {
      changes: { uploads: [upload('a.txt', 'first')], deletes: [] },
    })
    await publish(request)
    expect(steps().filter((step) => step === 'attempt-fence')).toHaveLength(2)
  })

  test('PU-17 both commits say where they come from, in documented keys', async () => {
    const { request } = publicationOf(repo, input)
    const staged: Record<string, string>[] = []
    const watching: VersionedRepo = {
      ...repo,
      commit: (given, options) => (staged.push({ ...given.metadata }), repo.commit(given, options)),
    }
    await publish(withAuthority({ ...request, repo: watching }, { codeVersion: '1.2.3' }))
    const [head] = await logOf(repo)
    const said = {
      'publish.run': 'execution-task-1-0',
      'publish.input': input,
      'publish.workflow': 'workflow-1',
      'publish.task': 'build',
      'publish.iteration': '0',
      'publish.task_id': 'task-1',
      'publish.attempt': '0',
      'publish.worker': 'worker-1-claim-1',
      'publish.code_version': '1.2.3',
      'publish.ledger': '1',
      'publish.repository': 'scripted',
      'publish.branch': TARGET,
      'publish.result_left_out': 'not-given',
      'publish.checksum': expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    }
    expect(staged).toEqual([said])
    expect(head?.metadata).toEqual({ ...said, '.lakefs.merge.strategy': 'default' })
    const fenced = { 'publish.expected_head': '', 'publish.claim': '', 'publish.replaces': '' }
    const results = { 'publish.result': '', 'publish.result_ref': '', 'publish.result_sha256': '' }
    const others = {
      'publish.actor': '',
      'publish.evidence': '',
      'publish.signature': '',
      'publish.task_name': '',
      'publish.workflow_name': '',
      ...fenced,
      ...results,
    }
    expect(Object.keys({ ...said, ...others }).sort()).toEqual(Object.keys(METADATA_KEYS).sort())
  })
})

describe('uploading', () => {
  test('PU-05 as many as allowed are under way, and streamed bodies are sent whole', async () => {
    const flight = { now: 0, most: 0 }
    const counting: VersionedRepo = {
      ...repo,
      write: async (request, options) => {
        flight.most = Math.max(flight.most, ++flight.now)
        await new Promise((resolve) => setImmediate(resolve))
        const outcome = await repo.write(request, options)
        flight.now--
        return outcome
      },
    }
    const uploads = Array.from({ length: 50 }, (_, index) => ({
      path: `${PREFIX}${index}`,
      body: { sizeBytes: 4, open: () => Readable.from([Buffer.from('ab'), Buffer.from('cd')]) },
    }))
    const uploadLimit = createAdaptiveLimit({ initial: 3, max: 3 })
    await publish(publicationOf(counting, input, { changes: { uploads, deletes: [] }, uploadLimit }).request)
    expect(flight.most).toBe(3)
    expect((await filesOf(repo))[`${PREFIX}49`]).toBe('abcd')
  })

  test.each([
    ['many small files', 10, 64],
    ['fewer large ones, which are sent block by block', 262_144, 16],
  ])('PU-05 %s are under way at once', async (_, sizeBytes, wanted) => {
    const flight = { now: 0, most: 0 }
    const counting: VersionedRepo = {
      ...repo,
      write: async (request, options) => {
        flight.most = Math.max(flight.most, ++flight.now)
        await new Promise((resolve) => setTimeout(resolve, 2))
        const outcome = await repo.write(request, options)
        flight.now--
        return outcome
      },
    }
    const content = Buffer.alloc(sizeBytes, 'x')
    const uploads = Array.from({ length: 120 }, (__, index) => ({
      path: `${PREFIX}${index}`,
      body: { sizeBytes, open: () => content },
    }))
    const uploadLimit = createAdaptiveLimit({ initial: 100, max: 100 })
    await publish(publicationOf(counting, input, { changes: { uploads, deletes: [] }, uploadLimit }).request)
    expect(flight.most).toBe(wanted)
  })

  test('PU-05 after the first failure nothing more is begun, and nothing is left behind', async () => {
    let begun = 0
    const failing: VersionedRepo = {
      ...repo,
      write: () => Promise.reject(new Error(`upload ${++begun}`)),
    }
    const uploads = Array.from({ length: 500 }, (_, index) => upload(`${index}`, 'x'))
    const error = await failureOf(
      publish(publicationOf(failing, input, { changes: { uploads, deletes: [] } }).request),
    )
    expect((error as Error).message).toBe('upload 1')
    expect(begun).toBeLessThanOrEqual(PUBLICATION_UPLOADS_IN_FLIGHT)
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test.each(['createBranch', 'write', 'commit', 'diff', 'log', 'merge'] as const)(
    'PU-15 a failure of %s leaves neither a staging branch nor a moved target',
    async (method) => {
      const failing = {
        ...repo,
        [method]: () => {
          throw new Error(method)
        },
      }
      expect(await failureOf(publish(publicationOf(failing, input).request))).toMatchObject({
        message: method,
      })
      expect(await stagingBranchesOf(repo)).toEqual([])
      expect(world.head(TARGET)).toBe(input)
    },
  )
})

describe('what former attempts left behind', () => {
  async function leave(workflowId: string, referenceTaskName: string, isEvidence: boolean): Promise<void> {
    const { request } = publicationOf(repo, input, { attempt: { workflowId: workflowId as never } })
    const kept: (() => Promise<void>)[] = []
    if (isEvidence)
      world.move({
        client: 'direct',
        branch: TARGET,
        how: 'reset',
        to: world.model.commit(input)!.parents[0]!,
      })
    const leaving = { ...request, cleanUpLater: (cleanUp: () => Promise<void>) => kept.push(cleanUp) }
    await publish(withAuthority(leaving, { referenceTaskName })).catch(() => undefined)
    world.move({ client: 'direct', branch: TARGET, how: 'reset', to: input })
  }

  test('PU-19 is found by workflow and task, told from evidence, and removed where the caller says so', async () => {
    await leave('workflow-1', 'build', false)
    await leave('workflow-1', 'check', true)
    await leave('workflow-2', 'build', false)
    const seen: Leftover[] = []
    const removed = await collectLeftovers({
      repo,
      workflowId: 'workflow-1',
      isLeftover: (found) => (seen.push(found), !found.isEvidence),
    })
    expect(seen.map(({ isEvidence }) => isEvidence)).toEqual([false, true])
    expect(removed).toEqual([seen[0]!.branch])
    expect(await stagingBranchesOf(repo)).toHaveLength(2)
    const ofTask = await collectLeftovers({
      repo,
      workflowId: 'workflow-2',
      referenceTaskName: 'build',
      isLeftover: () => true,
    })
    expect(ofTask).toHaveLength(1)
  })
})

test('PU-33 a tag of that name that points elsewhere stops the replacement', async () => {
  const head = world.commitDirectly(TARGET, { y: '1' })
  await repo.createTag({ tag: `perago-superseded-${head}`, at: input })
  const error = await failureOf(publish(publicationOf(repo, input).request))
  expect(error).toMatchObject({ kind: 'refused', code: 'publication/evidence-tag-taken' })
  expect(world.head(TARGET)).toBe(head)
})
