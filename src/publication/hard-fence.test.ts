// Goal: with the fence installed nobody's commit is dropped, whatever arrives between the last look and the write.
// Method: the scripted repository evaluates the fence as lakeFS does; the world changes in the moment a request arrives.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  attemptOf,
  failureOf,
  filesOf,
  logOf,
  NO_CHANGES,
  PREFIX,
  publicationOf,
  stagingBranchesOf,
  TARGET,
  uploadOf,
} from '../../test/support/publication-world.ts'
import type { RefusedError } from '../base/errors.ts'
import { branchName, type CommitRef } from '../base/ids.ts'
import type { TaskId } from '../fences/attempt-snapshot.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import type { RepoCall, RepoFault, RepoRequest, RepoScript } from '../testing/scripted-world.ts'
import { FENCE_FILE, FENCE_PATH } from './fence-file.ts'
import { openHardFences, type FencePolicy, type HardFences } from './hard-fences.ts'
import { FENCE_ABSENCE_MS } from './limits.ts'
import type { PublicationRequest, PublicationResult } from './publication.ts'
import { publish } from './publish.ts'
import { relocate } from './relocate.ts'

type Trouble = (call: RepoCall) => RepoFault | undefined

const calm: Trouble = () => undefined
let trouble = calm
const script: RepoScript = {
  arrive: (call) => Promise.resolve(trouble(call) ?? 'none'),
  answer: () => Promise.resolve(),
  later: () => undefined,
}

const FENCED = { [FENCE_PATH]: FENCE_FILE }
const later = { attempt: { taskId: 'task-2' as TaskId, retryCount: 1 } }
let clock: ManualClock
let world: ScriptedRepo
let fences: HardFences
let input: CommitRef
beforeEach(() => {
  trouble = calm
  clock = new ManualClock()
  openWorld(FENCED)
})

function openWorld(files: Readonly<Record<string, string>>, policy?: FencePolicy): void {
  world = new ScriptedRepo({ script, now: () => clock.now() })
  fences = openHardFences({ policy, clock })
  input = world.commitDirectly(TARGET, { ...files, [`${PREFIX}a.txt`]: 'first', x: 'x' })
}

function run(overrides: Parameters<typeof publicationOf>[2] = {}): Promise<PublicationResult> {
  const changes = { uploads: [uploadOf(`${PREFIX}a.txt`, `second of ${world.calls.length}`)], deletes: [] }
  const { request } = publicationOf(world.connect('worker'), input, { changes, fences, ...overrides })
  return send(request)
}

function send(request: PublicationRequest): Promise<PublicationResult> {
  return clock.run(publish({ ...request, clock, random: { next: () => 0.5 } }))
}

const watcher = (): ReturnType<ScriptedRepo['connect']> => world.connect('watcher')
let theirs: CommitRef | undefined
const slipIn = (): undefined => {
  theirs = world.commitDirectly(TARGET, { theirs: String(world.calls.length) })
}
const requests = (): RepoRequest[] =>
  world.calls.filter(({ client }) => client === 'worker').map(({ request }) => request)
const count = (wanted: RepoRequest): number => requests().filter((request) => request === wanted).length

/** In the moment the n-th request of a kind arrives on the target branch. */
function onNth(wanted: RepoRequest, nth: number, act: () => RepoFault | undefined): Trouble {
  let seen = 0
  return ({ request, client, branch }) => {
    const isOfTarget = branch === undefined || branch === TARGET
    if (client !== 'worker' || request !== wanted || !isOfTarget) return undefined
    seen += 1
    return seen === nth ? act() : undefined
  }
}

/** Down to the input. */
async function firstParents(): Promise<CommitRef[]> {
  const refs = (await logOf(watcher())).map(({ ref }) => ref)
  return refs.slice(0, refs.indexOf(input) + 1)
}

describe('where the fence is installed', () => {
  test('F-53 PU-150 a publication is hard: the published commit names the head that lakeFS compared', async () => {
    const result = await run()
    expect(result).toMatchObject({ action: 'merged', strength: 'hard', outputRef: world.head(TARGET) })
    const published = await watcher().readCommit(result.outputRef)
    expect(published).toMatchObject({ parents: [input], metadata: { 'publish.expected_head': input } })
    expect(await stagingBranchesOf(watcher())).toEqual([])
    const first = requests().length
    input = result.outputRef
    await run({ attempt: { taskId: 'task-2' as TaskId } })
    // The canary was sent once; what stays is one stat more than without a fence.
    expect(requests().slice(first)).toHaveLength(9)
  })

  test('F-54 PU-151 a commit that slips in before the merge is kept, and the publication is refused', async () => {
    trouble = onNth('merge', 1, slipIn)
    const failure = await failureOf(run({ authority: { replace: 'own' } }))
    expect(failure).toMatchObject({ code: 'fences/publish-refused', reason: 'not-own' })
    expect(await firstParents()).toEqual([theirs, input])
    // By default a commit directly above the input is replaced, whoever made it, and stays reachable.
    expect(await run(later)).toMatchObject({ action: 'replaced', supersededRef: theirs })
    expect(world.model.tags.get(`perago-superseded-${theirs}`)).toBe(theirs)
  })

  test.each(['replaced', 'relocated'] as const)(
    'PU-152 a commit that slips in before a branch is %s stays on the branch',
    async (action) => {
      const abandoned = (await run()).outputRef
      trouble = onNth('merge', 1, slipIn)
      const failure = await failureOf(
        run({ ...later, ...(action === 'relocated' && { changes: NO_CHANGES }) }),
      )
      expect(failure).toMatchObject({ code: 'fences/publish-refused', reason: 'branch-moved' })
      expect(await firstParents()).toEqual([theirs, abandoned, input])
    },
  )

  test('PU-153 a replacement ends as a reset would: one commit above the input, the other one tagged', async () => {
    const abandoned = (await run()).outputRef
    const result = await run(later)
    expect(result).toMatchObject({ action: 'replaced', strength: 'hard', supersededRef: abandoned })
    expect(await firstParents()).toEqual([result.outputRef, input])
    expect(world.model.tags.get(`perago-superseded-${abandoned}`)).toBe(abandoned)
    const back = await run({ attempt: { taskId: 'task-3' as TaskId }, changes: NO_CHANGES })
    expect(back).toMatchObject({ action: 'relocated', strength: 'hard', outputRef: input })
    expect(world.head(TARGET)).toBe(input)
  })

  test('PU-153 a commit between claim and collapse is kept too', async () => {
    await run()
    // The first one asks whether the branch is protected.
    trouble = onNth('resetBranch', 2, slipIn)
    expect(await failureOf(run(later))).toMatchObject({ code: 'fences/publish-refused' })
    expect(world.head(TARGET)).toBe(theirs)
    expect(await filesOf(watcher())).toMatchObject({ theirs: expect.any(String) as string })
  })

  test('PU-150 a branch is moved back hard, also to before the fence was installed', async () => {
    openWorld({})
    const before = input
    const installed = world.commitDirectly(TARGET, FENCED)
    const authority = { kind: 'actor', actor: 'operator', subject: 'back', executionId: 'e' } as const
    const repo = world.connect('worker')
    const request = { repo, authority, branch: TARGET, expectedHead: installed, to: before, fences, clock }
    expect(await clock.run(relocate(request))).toMatchObject({ strength: 'hard', outputRef: before })
    expect(world.head(TARGET)).toBe(before)
    expect(await clock.run(relocate(request))).toMatchObject({ outputRef: before })
  })
})

describe('the folder of the actions', () => {
  test.each(['uploads', 'deletes'] as const)(
    'PU-159 %s in it are refused before anything is sent, whatever the prefix',
    async (what) => {
      const path = '_lakefs_actions/mine.yaml'
      const changes = { uploads: [], deletes: [], [what]: [what === 'uploads' ? uploadOf(path, 'x') : path] }
      const target = { branch: TARGET, inputRef: input, prefix: '' }
      expect(await failureOf(run({ changes, target }))).toMatchObject({
        kind: 'refused',
        code: 'publication/actions-folder',
      })
      expect(world.calls).toEqual([])
    },
  )
})

describe('a lost answer', () => {
  const LOST = ['lose-request', 'lose-answer'] as const

  test.each(LOST)('PU-154 of the merge (%s) ends in one commit above the input', async (fault) => {
    trouble = onNth('merge', 1, () => fault)
    const result = await run()
    expect(result).toMatchObject({ action: 'merged', strength: 'hard', outputRef: world.head(TARGET) })
    expect(await firstParents()).toEqual([result.outputRef, input])
  })

  test('PU-154 of the reading after a merge is uncertain, and then found', async () => {
    // The canary reads one commit.
    trouble = onNth('readCommit', 2, () => 'refuse')
    expect(await run()).toMatchObject({ action: 'merged', outputRef: world.head(TARGET) })
    expect(count('merge')).toBe(2)
  })

  test.each(
    (['writeCommit', 'merge', 'resetBranch'] as const).flatMap((request) =>
      LOST.flatMap((fault) => [1, 2].map((nth) => [request, fault, nth] as const)),
    ),
  )('PU-154 of a replacement (%s, %s, request %i) is settled by looking', async (request, fault, nth) => {
    const abandoned = (await run()).outputRef
    trouble = onNth(request, nth, () => fault)
    const result = await run(later)
    expect(result).toMatchObject({ action: 'replaced', supersededRef: abandoned })
    expect(await firstParents()).toEqual([result.outputRef, input])
    expect(world.head(TARGET)).toBe(result.outputRef)
  })

  test('PU-154 a claim whose collapse never gets through is uncertain, and the next publication finishes it', async () => {
    await run()
    trouble = ({ request, client }) =>
      client === 'worker' && request === 'resetBranch' && count('resetBranch') > 1 ? 'refuse' : undefined
    expect(await failureOf(run(later))).toMatchObject({ kind: 'uncertain' })
    trouble = calm
    const result = await run({ attempt: { taskId: 'task-3' as TaskId } })
    expect(result).toMatchObject({ action: 'replaced' })
    expect(await firstParents()).toEqual([result.outputRef, input])
  })
})

describe('a claim that was left', () => {
  async function leaveClaim(): Promise<CommitRef> {
    await run()
    trouble = onNth('resetBranch', 2, () => {
      throw new Error('the worker dies')
    })
    await failureOf(run(later))
    trouble = calm
    return world.head(TARGET)!
  }

  test('PU-155 is collapsed by whoever reads the branch, with or without a fence of its own', async () => {
    const claim = await leaveClaim()
    const to = (await watcher().readCommit(claim))?.metadata['publish.claim'] as CommitRef
    expect(await filesOf(watcher())).toEqual(await filesOf(watcher(), to))
    input = to
    const { request } = publicationOf(world.connect('other'), input, { changes: NO_CHANGES })
    expect(await send(request)).toMatchObject({ action: 'completed', outputRef: to })
    expect(world.head(TARGET)).toBe(to)
  })

  test('PU-155 a commit that only says to be a claim is not collapsed', async () => {
    const other = branchName('other')
    await watcher().createBranch({ branch: other, from: input })
    const side = world.commitDirectly(other, { side: '1' })
    const metadata = { 'publish.claim': input }
    const merged = await watcher().merge({ source: side, into: TARGET, metadata })
    expect(merged).toMatchObject({ merged: true })
    const { request } = publicationOf(world.connect('worker'), world.head(TARGET)!, { changes: NO_CHANGES })
    expect(await send(request)).toMatchObject({ action: 'completed' })
    expect(count('resetBranch')).toBe(0)
  })
})

describe('whether the fence may be relied on', () => {
  test('PU-156 a merge that stands on another commit than expected is refused, with evidence', async () => {
    await run()
    input = world.head(TARGET)!
    world.runsActions = false
    trouble = onNth('merge', 1, slipIn)
    const failure = await failureOf(run({ attempt: { taskId: 'task-2' as TaskId } }))
    expect(failure).toMatchObject({ code: 'fences/publish-refused', reason: 'fence-not-held' })
    expect(await stagingBranchesOf(watcher())).toHaveLength(1)
    // Nothing is believed of this server any more.
    trouble = calm
    input = world.head(TARGET)!
    expect(await failureOf(run({ attempt: attemptOf({ taskId: 'task-3' as TaskId }) }))).toMatchObject({
      code: 'publication/fence-off',
    })
  })

  test.each([
    ['preferred', FENCED, true, 'hard'],
    ['preferred', {}, true, 'soft'],
    ['preferred', FENCED, false, 'publication/fence-off'],
    ['preferred', { [FENCE_PATH]: 'name: other' }, true, 'publication/fence-damaged'],
    ['required', FENCED, true, 'hard'],
    ['required', {}, true, 'publication/fence-missing'],
    ['required', FENCED, false, 'publication/fence-off'],
    ['off', FENCED, true, 'soft'],
  ] as const)('PU-157 case %#: %s', async (policy, files, runsActions, expected) => {
    openWorld(files, policy)
    world.runsActions = runsActions
    const outcome = await run().then(
      ({ strength }) => strength,
      (error: unknown) => (error as RefusedError).code,
    )
    expect(outcome).toBe(expected)
    if (expected !== 'hard' && expected !== 'soft') expect(world.head(TARGET)).toBe(input)
  })

  test('PU-158 that a branch has no fence is asked once a minute, and costs nothing in between', async () => {
    openWorld({})
    const next = async (taskId: string): Promise<number> => {
      const before = requests().length
      input = (await run({ attempt: { taskId: taskId as TaskId } })).outputRef
      return requests().length - before
    }
    expect([await next('t1'), await next('t2')]).toEqual([9, 8])
    await clock.advance(FENCE_ABSENCE_MS)
    expect([await next('t3'), await next('t4')]).toEqual([9, 8])
  })

  test('PU-158 the canary is sent once, again after a lost connection, and leaves no branch', async () => {
    const next = async (taskId: string): Promise<number> => {
      const before = count('merge')
      input = (await run({ attempt: { taskId: taskId as TaskId } })).outputRef
      return count('merge') - before
    }
    expect([await next('t1'), await next('t2')]).toEqual([2, 1])
    fences.forget()
    expect([await next('t3'), await next('t4')]).toEqual([2, 1])
    expect(await stagingBranchesOf(watcher())).toEqual([])
  })
})
