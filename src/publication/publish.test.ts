import { beforeEach, describe, expect, test } from 'vitest'
import {
  attemptOf,
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
  withAuthority,
} from '../../test/support/publication-world.ts'
import { RefusedError } from '../base/errors.ts'
import { branchName, type CommitRef } from '../base/ids.ts'
import { StaleAttemptError, UnknownAttemptError } from '../fences/attempt-fence.ts'
import type { FreshAttempt, TaskId } from '../fences/attempt-snapshot.ts'
import { PublishFenceError } from '../fences/publish-fence.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import type { VersionedRepo } from './ports.ts'
import { publish } from './publish.ts'
import type { PublicationEvent } from './steps.ts'

let world: ScriptedRepo
let repo: VersionedRepo
let input: CommitRef

beforeEach(() => {
  world = new ScriptedRepo()
  repo = world.connect('worker')
  input = world.commitDirectly(TARGET, {
    [`${PREFIX}a.txt`]: 'first',
    [`${PREFIX}old.txt`]: 'old',
    'elsewhere.txt': 'untouched',
  })
})

const writes = (): string[] => world.calls.filter((call) => call.writes).map(({ request }) => request)
const targetUpdates = (): string[] =>
  world.updates.filter(({ branch, client }) => branch === TARGET && client !== 'direct').map(({ how }) => how)

/** Publishes as an attempt that then dies before it can report. */
async function publishAndDie(text = 'abandoned'): Promise<CommitRef> {
  const { request } = publicationOf(repo, input, {
    changes: { uploads: [uploadOf(`${PREFIX}a.txt`, text)], deletes: [] },
  })
  return (await publish(request)).outputRef
}
const retried = { attempt: { taskId: 'task-2' as TaskId, retryCount: 1 } }

describe('what the branch allows', () => {
  test('F-30 F-40 where the head is the input, changes are merged as one commit directly above it', async () => {
    const { request } = publicationOf(repo, input, {
      changes: { uploads: [uploadOf(`${PREFIX}a.txt`, 'second')], deletes: [`${PREFIX}old.txt`] },
    })
    const result = await publish(request)
    const checksum = (await repo.stat(TARGET, `${PREFIX}a.txt`))?.checksum
    const stored = new Map([[`${PREFIX}a.txt`, checksum]])
    expect(result).toEqual({ action: 'merged', outputRef: world.head(TARGET), strength: 'soft', stored })
    expect((await repo.readCommit(result.outputRef))?.parents).toEqual([input])
    expect(await filesOf(repo)).toEqual({ [`${PREFIX}a.txt`]: 'second', 'elsewhere.txt': 'untouched' })
  })

  test('F-31 where the head is the input and nothing changed, the task completes without a commit', async () => {
    const result = await publish(publicationOf(repo, input, { changes: NO_CHANGES }).request)
    expect(result).toEqual({ action: 'completed', outputRef: input, strength: 'soft', stored: new Map() })
    expect(writes()).toEqual([])
    expect(world.head(TARGET)).toBe(input)
  })

  test('F-32 F-49 a retry with changes replaces the abandoned commit, which stays reachable under a tag', async () => {
    const abandoned = await publishAndDie()
    const result = await publish(publicationOf(repo, input, retried).request)
    expect(result).toMatchObject({
      action: 'replaced',
      outputRef: world.head(TARGET),
      supersededRef: abandoned,
    })
    expect(await filesOf(repo)).toMatchObject({ [`${PREFIX}a.txt`]: 'a of 1' })
    expect(world.model.tags.get(`perago-superseded-${abandoned}`)).toBe(abandoned)
  })

  test('F-40 F-43 after a retry the history is the input and one published commit above it', async () => {
    await publishAndDie()
    const { outputRef } = await publish(publicationOf(repo, input, retried).request)
    const [head, parent] = await logOf(repo)
    expect([head?.ref, parent?.ref]).toEqual([outputRef, input])
    expect(head?.parents).toEqual([input])
  })

  test('F-33 F-50 a retry without changes moves the branch back to the input', async () => {
    const abandoned = await publishAndDie()
    const result = await publish(publicationOf(repo, input, { ...retried, changes: NO_CHANGES }).request)
    expect(result).toMatchObject({ action: 'relocated', outputRef: input, supersededRef: abandoned })
    expect(world.head(TARGET)).toBe(input)
    expect(await filesOf(repo)).toMatchObject({ [`${PREFIX}a.txt`]: 'first' })
    expect(world.model.tags.get(`perago-superseded-${abandoned}`)).toBe(abandoned)
  })

  const moveBack = (): void => {
    world.move({ client: 'direct', branch: TARGET, how: 'reset', to: world.model.commit(input)!.parents[0]! })
  }
  const REFUSED: readonly (readonly [string, () => void])[] = [
    [
      'two foreign commits',
      () => {
        world.commitDirectly(TARGET, { x: '1' })
        world.commitDirectly(TARGET, { y: '1' })
      },
    ],
    [
      'an unrelated head',
      () => {
        moveBack()
        world.commitDirectly(TARGET, { z: '1' })
      },
    ],
    ['a branch behind the input', moveBack],
    ['no branch', () => void world.model.branches.delete(TARGET)],
  ]

  /** What a publication with changes and one without are refused with. */
  async function refusalsOf(arrange: () => void): Promise<readonly unknown[]> {
    arrange()
    const uploads = [uploadOf(`${PREFIX}a.txt`, 'mine')]
    const requests = [NO_CHANGES, { uploads, deletes: [] }].map(
      (changes) => publicationOf(repo, input, { changes }).request,
    )
    return [await failureOf(publish(requests[0]!)), await failureOf(publish(requests[1]!))]
  }

  test.each(REFUSED)(
    'F-34 F-51 %s: the publication is refused with the facts it was judged by',
    async (_, arrange) => {
      const errors = await refusalsOf(arrange)
      const facts = { branch: TARGET, inputRef: input, head: world.head(TARGET) }
      for (const error of errors) {
        expect(error).toBeInstanceOf(PublishFenceError)
        expect((error as PublishFenceError).facts).toMatchObject(facts)
      }
    },
  )

  test.each(REFUSED)(
    'F-35 F-44 %s: a refused publication leaves the branch as it was',
    async (_, arrange) => {
      let before: CommitRef | undefined
      await refusalsOf(() => {
        arrange()
        before = world.head(TARGET)
      })
      expect(world.head(TARGET)).toBe(before)
    },
  )

  test.each(REFUSED)('F-42 %s: it is detected before the branch or a tag is written', async (_, arrange) => {
    await refusalsOf(arrange)
    expect(targetUpdates()).toEqual([])
    expect(world.model.tags.size).toBe(0)
  })

  test('F-41 a head whose second parent is the input is not accepted', async () => {
    const first = world.model.commit(input)!.parents[0]!
    const odd = world.model.addCommit({
      parents: [first, input],
      message: 'odd',
      metadata: {},
      tree: new Map(),
    })
    world.move({ client: 'direct', branch: TARGET, how: 'reset', to: odd.ref })
    expect(await failureOf(publish(publicationOf(repo, input).request))).toBeInstanceOf(PublishFenceError)
  })

  test('F-41 a merge commit whose first parent is the input is accepted and replaced', async () => {
    const first = world.model.commit(input)!.parents[0]!
    const natural = world.model.addCommit({
      parents: [input, first],
      message: 'merge',
      metadata: {},
      tree: new Map(),
    })
    world.move({ client: 'direct', branch: TARGET, how: 'reset', to: natural.ref })
    expect(await publish(publicationOf(repo, input).request)).toMatchObject({
      action: 'replaced',
      supersededRef: natural.ref,
    })
  })

  test('F-36 the decision is the same when every commit has lost its metadata', async () => {
    await publishAndDie()
    const head = (await logOf(repo))[0]!
    const bare = world.model.addCommit({
      parents: head.parents,
      message: 'bare',
      metadata: {},
      tree: world.model.treeAt(head.ref)!,
    })
    world.move({ client: 'direct', branch: TARGET, how: 'reset', to: bare.ref })
    expect(await publish(publicationOf(repo, input, retried).request)).toMatchObject({
      action: 'replaced',
      supersededRef: bare.ref,
    })
  })

  test('F-37 the input ref that is asked for decides, wherever the branch stands', async () => {
    const later = world.commitDirectly(TARGET, { [`${PREFIX}b.txt`]: 'later' })
    expect(await publish(publicationOf(repo, later).request)).toMatchObject({ action: 'merged' })
    expect((await repo.readCommit(world.head(TARGET)!))?.parents).toEqual([later])
    expect(await failureOf(publish(publicationOf(repo, input).request))).toBeInstanceOf(PublishFenceError)
  })

  test('F-52 after a refusal a new publication from the current head succeeds', async () => {
    world.commitDirectly(TARGET, { x: '1' })
    const head = world.commitDirectly(TARGET, { y: '1' })
    const error = (await failureOf(publish(publicationOf(repo, input).request))) as PublishFenceError
    expect(error.next).toContain(head)
    expect(await publish(publicationOf(repo, error.facts.head!, retried).request)).toMatchObject({
      action: 'merged',
    })
  })
})

describe('the order of steps', () => {
  test('F-05 F-06 with changes the steps are attempt, staging, attempt, facts, branch, merge', async () => {
    const { request, steps } = publicationOf(repo, input)
    await publish(request)
    const told = steps()
    expect(told).toEqual([
      'attempt-fence',
      'open-staging',
      'upload',
      'commit-staging',
      'verify-staging',
      'attempt-fence',
      'read-facts',
      'publish-fence',
      'merge',
      'verify',
      'clean-up',
    ])
  })

  test('F-20 F-21 the attempt is checked before staging, and again before publishing', async () => {
    const { request, events } = publicationOf(repo, input)
    await publish(request)
    const positions = events
      .filter(({ step }) => step === 'attempt-fence')
      .map(({ details }) => details.position)
    expect(positions).toEqual(['before-staging', 'before-publishing'])
  })

  test('F-05 F-06 a replacement has the same order, and tags the old commit before it moves the branch', async () => {
    await publishAndDie()
    const { request, steps } = publicationOf(repo, input, retried)
    await publish(request)
    expect(steps().slice(6)).toEqual([
      'read-facts',
      'publish-fence',
      'keep-superseded',
      'attempt-fence',
      'read-facts',
      'replace',
      'clean-up',
    ])
  })

  test('F-05 F-06 without changes the steps are attempt, facts, branch, and relocation where needed', async () => {
    const idle = publicationOf(repo, input, { changes: NO_CHANGES })
    await publish(idle.request)
    expect(idle.steps()).toEqual(['attempt-fence', 'read-facts', 'publish-fence'])
    await publishAndDie()
    const back = publicationOf(repo, input, { ...retried, changes: NO_CHANGES })
    await publish(back.request)
    // Read once beside the attempt, once more to be judged, and in the write itself.
    expect(back.steps()).toEqual([
      'attempt-fence',
      'read-facts',
      'read-facts',
      'publish-fence',
      'keep-superseded',
      'attempt-fence',
      'read-facts',
      'relocate',
    ])
  })

  test('F-61 a publication asks the repository for nothing but its own branches, objects and commits', async () => {
    await publishAndDie()
    await publish(publicationOf(repo, input, retried).request)
    expect(new Set(writes())).toEqual(
      new Set([
        'createBranch',
        'write',
        'commit',
        'merge',
        'createTag',
        'resetBranch',
        'deleteBranch',
        'writeCommit',
      ]),
    )
  })

  test('PU-13 a small publication takes eight requests', async () => {
    await publish(publicationOf(repo, input).request)
    expect(world.calls.map(({ request }) => request)).toEqual([
      'createBranch',
      'write',
      'commit',
      'diff',
      'log',
      'merge',
      'log',
      'deleteBranch',
    ])
  })
})

describe('the attempt fence in its place', () => {
  const stale: FreshAttempt = { task: { ...attemptOf(), status: 'TIMED_OUT' }, workflow: 'RUNNING' }
  /** Answers the first `times` checks as current, every later one as given. */
  function guardThat(
    then: () => Promise<FreshAttempt>,
    times: number,
  ): { reads: number; readFresh: () => Promise<FreshAttempt> } {
    const guard = {
      reads: 0,
      readFresh: () => (guard.reads++ < times ? Promise.resolve(freshOf(attemptOf())) : then()),
    }
    return guard
  }

  test('F-20 F-22 an attempt lost before staging uploads nothing and changes no branch', async () => {
    const guard = guardThat(() => Promise.resolve(stale), 0)
    const error = await failureOf(publish(publicationOf(repo, input, { authority: guard }).request))
    expect(error).toBeInstanceOf(StaleAttemptError)
    expect(world.calls).toEqual([])
  })

  test('F-03 one check is one reading of the attempt and no request to the repository', async () => {
    const guard = guardThat(() => Promise.resolve(stale), 0)
    const { request } = publicationOf(repo, input, { authority: { readFresh: () => guard.readFresh() } })
    await failureOf(publish(request))
    expect(guard.reads).toBe(1)
    expect(world.calls).toEqual([])
  })

  test('F-17 each check reads anew: what was polled, or read earlier, proves nothing', async () => {
    const guard = guardThat(() => Promise.resolve(stale), 1)
    const { request } = publicationOf(repo, input, { authority: { readFresh: () => guard.readFresh() } })
    expect(await failureOf(publish(request))).toBeInstanceOf(StaleAttemptError)
    expect(guard.reads).toBe(2)
  })

  test('F-21 F-23 an attempt replaced during a slow staging leaves the target as it was', async () => {
    let replaced = false
    const slow: VersionedRepo = {
      ...delegate(repo),
      write: async (request, options) => {
        const outcome = await repo.write(request, options)
        replaced = true
        return outcome
      },
    }
    const attempt = attemptOf()
    const authority = { attempt, readFresh: () => Promise.resolve(replaced ? stale : freshOf(attempt)) }
    expect(await failureOf(publish(publicationOf(slow, input, { authority }).request))).toBeInstanceOf(
      StaleAttemptError,
    )
    expect(world.head(TARGET)).toBe(input)
    expect(targetUpdates()).toEqual([])
    expect(await stagingBranchesOf(repo)).toHaveLength(1)
  })

  test('F-01 F-05 a stale attempt without changes does not move the branch back either', async () => {
    const abandoned = await publishAndDie()
    const authority = { readFresh: () => Promise.resolve(stale) }
    const { request } = publicationOf(repo, input, { changes: NO_CHANGES, authority })
    expect(await failureOf(publish(request))).toBeInstanceOf(StaleAttemptError)
    expect(world.head(TARGET)).toBe(abandoned)
  })

  test('F-26 F-28 an attempt that cannot be read stops the publication before anything is written', async () => {
    const cause = new Error('connection refused')
    const authority = { readFresh: () => Promise.reject(cause) }
    for (const changes of [publicationOf(repo, input).request.changes, NO_CHANGES]) {
      const error = await failureOf(publish(publicationOf(repo, input, { changes, authority }).request))
      expect(error).toBeInstanceOf(UnknownAttemptError)
      expect(error).toMatchObject({ kind: 'unavailable', code: 'fences/unknown-attempt', cause })
    }
    expect(writes()).toEqual([])
  })

  test('F-26 an attempt that cannot be read after staging leaves the target alone and no staging branch', async () => {
    const guard = guardThat(() => Promise.reject(new Error('away')), 1)
    const { request } = publicationOf(repo, input, { authority: { readFresh: () => guard.readFresh() } })
    expect(await failureOf(publish(request))).toBeInstanceOf(UnknownAttemptError)
    expect(world.head(TARGET)).toBe(input)
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('F-02 F-04 the publish fence reads the repository and asks nothing about the attempt', async () => {
    world.commitDirectly(TARGET, { x: '1' })
    world.commitDirectly(TARGET, { y: '1' })
    const order: string[] = []
    const authority = {
      readFresh: () => (order.push('attempt'), Promise.resolve(freshOf(attemptOf()))),
    }
    const observer = ({ step }: PublicationEvent): void => void order.push(step)
    const before = world.calls.length
    const error = await failureOf(
      publish(publicationOf(repo, input, { changes: NO_CHANGES, authority, observer }).request),
    )
    expect(error).toBeInstanceOf(PublishFenceError)
    expect(error).not.toBeInstanceOf(StaleAttemptError)
    expect(order).toEqual(['attempt', 'attempt-fence', 'read-facts', 'publish-fence', 'keep-evidence'])
    expect(world.calls.slice(before).map(({ request, writes: isWrite }) => [request, isWrite])).toEqual([
      ['log', false],
    ])
  })

  test('PU-37 without changes the branch is read beside the attempt, and the attempt fence speaks first', async () => {
    // Resolves only after the branch was asked for: one after the other they would wait for ever.
    let branchIsRead: () => void = () => undefined
    const asked = new Promise<void>((resolve) => (branchIsRead = resolve))
    const watched: VersionedRepo = {
      ...delegate(repo),
      log: (...given) => (branchIsRead(), repo.log(...given)),
    }
    const reading = (fresh: FreshAttempt) => ({ readFresh: () => asked.then(() => fresh) })
    const { request } = publicationOf(watched, input, { changes: NO_CHANGES })
    expect(await publish(withAuthority(request, reading(freshOf(attemptOf()))))).toMatchObject({
      action: 'completed',
    })
    world.commitDirectly(TARGET, { x: '1' })
    world.commitDirectly(TARGET, { y: '1' })
    expect(await failureOf(publish(withAuthority(request, reading(stale))))).toBeInstanceOf(StaleAttemptError)
  })

  test('PU-37 the branch is read again, after the attempt, before it is moved back', async () => {
    await publishAndDie()
    const before = world.calls.length
    const { request, steps } = publicationOf(repo, input, { ...retried, changes: NO_CHANGES })
    // The attempt is confirmed late; what came onto the branch meanwhile must be seen.
    const readFresh = async (): Promise<FreshAttempt> => {
      await new Promise((resolve) => setImmediate(resolve))
      world.commitDirectly(TARGET, { x: 'meanwhile' })
      return freshOf(request.authority.attempt)
    }
    expect(await failureOf(publish(withAuthority(request, { readFresh })))).toBeInstanceOf(PublishFenceError)
    expect(steps()).toEqual(['read-facts', 'attempt-fence', 'read-facts', 'publish-fence', 'keep-evidence'])
    expect(world.calls.slice(before).filter((call) => call.writes)).toEqual([])
  })
})

describe('what is left behind', () => {
  test('PU-14 a success leaves no staging branch', async () => {
    await publish(publicationOf(repo, input).request)
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('PU-14 a staging branch that cannot be removed does not change the result', async () => {
    const stuck: VersionedRepo = { ...delegate(repo), deleteBranch: () => Promise.reject(new Error('no')) }
    const { request, events } = publicationOf(stuck, input)
    expect(await publish(request)).toMatchObject({ action: 'merged' })
    expect(events.at(-1)).toMatchObject({ step: 'clean-up', outcome: 'failed' })
  })

  test('PU-20 the removal can be handed over, so that a result need not wait for it', async () => {
    const later: (() => Promise<void>)[] = []
    await publish({ ...publicationOf(repo, input).request, cleanUpLater: (cleanUp) => later.push(cleanUp) })
    expect(await stagingBranchesOf(repo)).toHaveLength(1)
    await later[0]!()
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('F-62 PU-28 a refusal leaves the staging branch, and a record of refs, attempt and decision', async () => {
    world.commitDirectly(TARGET, { x: '1' })
    const head = world.commitDirectly(TARGET, { y: '1' })
    const kept: unknown[] = []
    const { request } = publicationOf(repo, input)
    await failureOf(publish({ ...request, keepRecord: (record) => Promise.resolve(void kept.push(record)) }))
    const [staging] = await stagingBranchesOf(repo)
    const [closing, staged] = await logOf(repo, staging)
    const record = JSON.parse(closing!.metadata['publish.evidence']!) as Record<string, unknown>
    expect(record).toMatchObject({
      code: 'fences/publish-refused',
      branch: TARGET,
      inputRef: input,
      stagingBranch: staging,
      stagedRef: staged!.ref,
      attempt: request.authority.attempt,
      refusal: { reason: 'branch-moved', head },
    })
    expect(JSON.parse(JSON.stringify(kept))).toEqual([record])
  })

  test('F-62 a stale attempt leaves what it had staged, with what differed', async () => {
    let reads = 0
    const attempt = attemptOf()
    const readFresh = (): Promise<FreshAttempt> =>
      Promise.resolve(++reads === 1 ? freshOf(attempt) : { ...freshOf(attempt), workflow: 'TERMINATED' })
    await failureOf(publish(publicationOf(repo, input, { authority: { attempt, readFresh } }).request))
    const [closing] = await logOf(repo, (await stagingBranchesOf(repo))[0])
    expect(JSON.parse(closing!.metadata['publish.evidence']!)).toMatchObject({
      code: 'fences/stale-attempt',
      differences: [{ field: 'workflow', expected: 'RUNNING', actual: 'TERMINATED' }],
    })
  })

  test('PU-04 a staging branch that is there already is neither built upon nor removed', async () => {
    const { request } = publicationOf(repo, input)
    const staging = branchName(
      'perago-staging-workflow-1-build-seq-1-iteration-0-task-id-task-1-retry-0-exec-execution-task-1-0',
    )
    await repo.createBranch({ branch: staging, from: input })
    const error = await failureOf(publish(request))
    expect(error).toMatchObject({ kind: 'refused', code: 'publication/staging-exists' })
    expect(await stagingBranchesOf(repo)).toEqual([staging])
    expect(world.head(TARGET)).toBe(input)
  })

  test('PU-23 an abort between two steps stops before the next one and leaves no staging branch', async () => {
    const stop = new AbortController()
    const observer = ({ step }: PublicationEvent): void => {
      if (step === 'commit-staging') stop.abort(new Error('lease lost'))
    }
    const error = await failureOf(
      publish({ ...publicationOf(repo, input).request, observer, signal: stop.signal }),
    )
    expect(error).toMatchObject({ message: 'lease lost' })
    expect(world.head(TARGET)).toBe(input)
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test.each(['worker/stopping', 'worker/abandoned', 'worker/lease-lost', 'fences/stale-attempt'] as const)(
    'PU-140 a publication that its caller ends (%s) leaves no evidence and no staging branch',
    async (code) => {
      const stop = new AbortController()
      const observer = ({ step }: PublicationEvent): void => {
        if (step === 'commit-staging') stop.abort(new RefusedError(code, 'it is over'))
      }
      const kept: unknown[] = []
      const error = await failureOf(
        publish({
          ...publicationOf(repo, input).request,
          ...{ observer, signal: stop.signal },
          keepRecord: (record) => Promise.resolve(void kept.push(record)),
        }),
      )
      expect(error).toMatchObject({ code })
      expect([kept, await stagingBranchesOf(repo)]).toEqual([[], []])
    },
  )

  test('PU-21 an observer that throws changes nothing', async () => {
    const observer = (): void => {
      throw new Error('observer')
    }
    expect(await publish({ ...publicationOf(repo, input).request, observer })).toMatchObject({
      action: 'merged',
    })
  })
})

describe('the policy of replacement', () => {
  test('PU-18 own: what the same task published is replaced', async () => {
    await publishAndDie()
    expect(
      await publish(publicationOf(repo, input, { ...retried, authority: { replace: 'own' } }).request),
    ).toMatchObject({
      action: 'replaced',
    })
  })

  test.each([
    ['a foreign commit', () => Promise.resolve(world.commitDirectly(TARGET, { x: '1' }))],
    [
      'another task of the workflow',
      async () => {
        const { request } = publicationOf(repo, input)
        await publish(withAuthority(request, { referenceTaskName: 'other' }))
      },
    ],
    [
      'another turn of the loop',
      async () => {
        const { request } = publicationOf(repo, input)
        await publish(withAuthority(request, { iteration: 7 }))
      },
    ],
  ])('PU-18 own: %s is neither replaced nor moved back from', async (_, arrange) => {
    await arrange()
    const before = world.head(TARGET)
    for (const changes of [NO_CHANGES, publicationOf(repo, input).request.changes]) {
      const error = await failureOf(
        publish(publicationOf(repo, input, { ...retried, changes, authority: { replace: 'own' } }).request),
      )
      expect(error).toMatchObject({ code: 'fences/publish-refused', reason: 'not-own' })
    }
    expect(world.head(TARGET)).toBe(before)
  })
})

/** The same repository, of which a test can put single methods in place. */
function delegate(of: VersionedRepo): VersionedRepo {
  return { ...of }
}
