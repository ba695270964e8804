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
} from '../../test/support/publication-world.ts'
import { isPeragoError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import type { TaskId } from '../fences/attempt-snapshot.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import type { RepoCall, RepoFault, RepoScript } from '../testing/scripted-world.ts'
import { PUBLICATION_BUSY_MS } from './limits.ts'
import type { PublicationRequest, PublicationResult } from './publication.ts'
import { publish } from './publish.ts'

/** What happens to a request: the fault, and what somebody else does in the moment before it takes effect. */
type Trouble = (call: RepoCall) => RepoFault | undefined

let trouble: Trouble = () => undefined
let afterEffect: (call: RepoCall) => void = () => undefined
const late: (() => void)[] = []
const script: RepoScript = {
  arrive: (call) => Promise.resolve(trouble(call) ?? 'none'),
  answer: (call) => {
    afterEffect(call)
    return Promise.resolve()
  },
  later: (_, effect) => void late.push(effect),
}

let world: ScriptedRepo
let input: CommitRef
beforeEach(() => {
  trouble = () => undefined
  afterEffect = () => undefined
  late.length = 0
  world = new ScriptedRepo({ script })
  input = world.commitDirectly(TARGET, { [`${PREFIX}a.txt`]: 'first', [`${PREFIX}old.txt`]: 'old', x: 'x' })
})

async function run(request: PublicationRequest): Promise<PublicationResult> {
  const clock = new ManualClock()
  return clock.run(publish({ ...request, clock, random: { next: () => 0.5 } }))
}

/** The fault for the first so many requests of one kind. */
function onFirst(request: RepoCall['request'], fault: RepoFault, times = 1): Trouble {
  let left = times
  return (call) => (call.request === request && call.client === 'worker' && left-- > 0 ? fault : undefined)
}

const changes = { uploads: [uploadOf(`${PREFIX}a.txt`, 'second')], deletes: [`${PREFIX}old.txt`] }
const wanted = { [`${PREFIX}a.txt`]: 'second', x: 'x' }
const publication = (overrides: Parameters<typeof publicationOf>[2] = {}): PublicationRequest =>
  publicationOf(world.connect('worker'), input, { changes, ...overrides }).request
const watcher = (): ReturnType<ScriptedRepo['connect']> => world.connect('watcher')

describe('a lost answer', () => {
  test('PU-08 a replacement that cannot be read back does not supersede itself', async () => {
    const first = await run(publication())
    trouble = onFirst('readBranch', 'refuse')
    const second = await run(publication({ attempt: { retryCount: 1 } }))
    expect(second).toMatchObject({ action: 'replaced', supersededRef: first.outputRef })
    expect([...world.model.tags.values()]).toEqual([first.outputRef])
    expect(world.head(TARGET)).toBe(second.outputRef)
  })

  const WRITES = ['createBranch', 'write', 'deleteObjects', 'commit', 'merge', 'deleteBranch'] as const

  test.each(
    WRITES.flatMap((request) => [[request, 'lose-request'] as const, [request, 'lose-answer'] as const]),
  )(
    'PU-08 of %s (%s) is resolved: one commit above the input, and nothing left behind',
    async (request, fault) => {
      trouble = onFirst(request, fault)
      const result = await run(publication())
      expect(result).toMatchObject({ action: 'merged', outputRef: world.head(TARGET), strength: 'soft' })
      expect((await logOf(watcher())).map(({ ref }) => ref).slice(0, 2)).toEqual([result.outputRef, input])
      expect(await filesOf(watcher())).toEqual(wanted)
      expect(await stagingBranchesOf(watcher())).toEqual([])
    },
  )

  test.each(['lose-request', 'lose-answer'] as const)(
    'PU-08 of a replacement (%s) is resolved',
    async (fault) => {
      const abandoned = (await run(publication())).outputRef
      trouble = onFirst('resetBranch', fault)
      const result = await run(publication({ attempt: { taskId: 'task-2' as TaskId, retryCount: 1 } }))
      expect(result).toMatchObject({
        action: 'replaced',
        outputRef: world.head(TARGET),
        supersededRef: abandoned,
      })
      expect((await watcher().readCommit(result.outputRef))?.parents).toEqual([input])
    },
  )

  test.each(['lose-request', 'lose-answer'] as const)(
    'PU-08 of a relocation (%s) is resolved',
    async (fault) => {
      const abandoned = (await run(publication())).outputRef
      trouble = onFirst('resetBranch', fault)
      const result = await run(publication({ attempt: { taskId: 'task-2' as TaskId }, changes: NO_CHANGES }))
      expect(result).toMatchObject({ action: 'relocated', outputRef: input, supersededRef: abandoned })
      expect(world.head(TARGET)).toBe(input)
    },
  )

  test.each(['lose-request', 'lose-answer'] as const)(
    'PU-08 of the evidence tag (%s) is resolved',
    async (fault) => {
      const abandoned = (await run(publication())).outputRef
      trouble = onFirst('createTag', fault)
      const result = await run(publication({ attempt: { taskId: 'task-2' as TaskId } }))
      expect(result).toMatchObject({ action: 'replaced', supersededRef: abandoned })
      expect([...world.model.tags.values()]).toEqual([abandoned])
    },
  )

  test('PU-08 of a merge upon which somebody has built already is found in the history', async () => {
    trouble = onFirst('merge', 'lose-answer')
    afterEffect = (call) => {
      if (call.request === 'merge') world.commitDirectly(TARGET, { y: 'built upon it' })
    }
    const result = await run(publication())
    const [head, own] = await logOf(watcher())
    expect(head?.message).toBe('Foreign work')
    expect(result).toMatchObject({ action: 'merged', outputRef: own?.ref })
  })

  test('PU-09 a merge that was sent twice and landed twice leaves one commit', async () => {
    let isLanded = false
    trouble = (call) => {
      // The first merge answers nothing and takes effect right before the second does.
      if (call.request !== 'merge') return undefined
      if (late.length === 0 && !isLanded) return 'late'
      isLanded = true
      late.pop()?.()
      return 'none'
    }
    const result = await run(publication())
    const log = await logOf(watcher())
    // The third is the claim by which the second is taken off.
    expect(world.updates.filter(({ branch, how }) => branch === TARGET && how === 'merge')).toHaveLength(3)
    expect(log.map(({ ref }) => ref).slice(0, 2)).toEqual([result.outputRef, input])
    expect(await filesOf(watcher())).toEqual(wanted)
  })

  test('PU-24 when no answer ever comes, the outcome is uncertain, after a bounded number of looks', async () => {
    trouble = onFirst('merge', 'lose-request', Infinity)
    const error = await failureOf(run(publication()))
    expect(error).toMatchObject({ kind: 'uncertain', code: 'publication/unsettled' })
    expect(world.calls.filter(({ request }) => request === 'merge')).toHaveLength(4)
    expect(world.head(TARGET)).toBe(input)
    // What was staged may be all there is of this work.
    expect(await stagingBranchesOf(watcher())).toHaveLength(1)
  })

  test('PU-08 a merge that cannot be confirmed afterwards is no success', async () => {
    let merged = false
    afterEffect = (call) => {
      merged ||= call.request === 'merge'
    }
    trouble = (call) => (merged && call.request === 'log' && call.client === 'worker' ? 'refuse' : undefined)
    expect(await failureOf(run(publication()))).toMatchObject({
      kind: 'uncertain',
      code: 'publication/unconfirmed',
    })
  })
})

describe('a branch that others write busily', () => {
  test('PU-105 is judged and written again for about a minute, with attempt and head read before each write', async () => {
    const seen: string[] = []
    trouble = (call) => {
      if (call.client === 'worker' && (call.request === 'log' || call.request === 'merge'))
        seen.push(call.request)
      return onFirstTen(call)
    }
    const onFirstTen = onFirst('merge', 'refuse', 10)
    let reads = 0
    const attempt = attemptOf()
    const readFresh = () => (seen.push('attempt'), (reads += 1), Promise.resolve(freshOf(attempt)))
    expect(await run(publication({ authority: { attempt, readFresh } }))).toMatchObject({ action: 'merged' })
    expect(reads).toBe(12)
    // The first reading is the one before staging; the last one confirms the merge.
    expect(seen.slice(1, -1)).toEqual(Array.from({ length: 11 }, () => ['attempt', 'log', 'merge']).flat())
  })

  test('PU-105 that never gives in is surely not written: unavailable, and nothing is left behind', async () => {
    trouble = onFirst('merge', 'refuse', Infinity)
    const clock = new ManualClock()
    const publishing = publish({ ...publication(), clock, random: { next: () => 0.5 } })
    expect(await failureOf(clock.run(publishing))).toMatchObject({ kind: 'unavailable' })
    expect(clock.monotonicMs()).toBeGreaterThan(45_000)
    expect(clock.monotonicMs()).toBeLessThanOrEqual(PUBLICATION_BUSY_MS)
    expect(world.head(TARGET)).toBe(input)
    expect(await stagingBranchesOf(watcher())).toEqual([])
  })

  test('PU-105 after a lost answer it is uncertain, and what was staged is kept', async () => {
    let merges = 0
    trouble = ({ request }) =>
      request === 'merge' ? (merges++ === 0 ? 'lose-request' : 'refuse') : undefined
    expect(await failureOf(run(publication()))).toMatchObject({
      ...{ kind: 'uncertain', code: 'publication/unsettled', cause: { kind: 'unavailable' } },
    })
    expect(await stagingBranchesOf(watcher())).toHaveLength(1)
  })
})

describe('duplicates of the own commit', () => {
  /** The merge took effect, nobody heard of it, and this stands above it by the next look. */
  async function publishBelow(...above: readonly ('own' | 'foreign')[]): Promise<PublicationResult> {
    trouble = onFirst('merge', 'lose-answer')
    const left = [...above]
    afterEffect = ({ request, branch }) => {
      if (request !== 'merge' || branch !== TARGET) return
      for (const kind of left.splice(0)) {
        const head = world.model.commit(world.head(TARGET)!)!
        if (kind === 'foreign') world.commitDirectly(TARGET, { y: 'built upon it' })
        else {
          const { tree, ...rest } = { ...head, tree: world.model.treeAt(head.ref)! }
          const again = world.model.addCommit({ ...rest, parents: [head.ref], message: 'again', tree })
          world.move({ client: 'wire', branch: TARGET, how: 'merge', to: again.ref })
        }
      }
    }
    return run(publication())
  }

  test('PU-106 alone above it leave the branch', async () => {
    const { outputRef } = await publishBelow('own', 'own')
    expect(world.head(TARGET)).toBe(outputRef)
  })

  test.each([
    ['below', ['own', 'foreign']],
    ['above', ['foreign', 'own']],
  ] as const)('PU-106 with foreign work %s stay, and so does the work', async (_, above) => {
    const { outputRef } = await publishBelow(...above)
    const log = await logOf(watcher())
    expect(log.map(({ ref }) => ref).indexOf(outputRef)).toBe(2)
    expect(log.map(({ message }) => message)).toContain('Foreign work')
  })

  test.each(['refuse', 'lose-request'] as const)(
    'PU-106 that cannot be taken off (%s) change nothing about the publication',
    async (fault) => {
      const publishing = publishBelow('own')
      const before = trouble
      trouble = (call) => (call.request === 'resetBranch' ? fault : before(call))
      const { outputRef } = await publishing
      expect((await logOf(watcher())).map(({ ref }) => ref).slice(1, 3)).toEqual([outputRef, input])
    },
  )
})

test('PU-107 a record that can be kept nowhere changes nothing about the refusal', async () => {
  world.commitDirectly(TARGET, { y: '1' })
  world.commitDirectly(TARGET, { y: '2' })
  let commits = 0
  trouble = ({ request }) => (request === 'commit' && ++commits > 1 ? 'refuse' : undefined)
  const keepRecord = () => Promise.reject(new Error('the disk is full'))
  const error = await failureOf(run({ ...publication(), keepRecord }))
  expect(error).toMatchObject({ code: 'fences/publish-refused', reason: 'branch-moved' })
  expect(commits).toBeGreaterThan(1)
})

// Goal: whatever happens to any single request, `publish` tells the truth, and the next attempt ends well.
// Method: each request of a publication is hit once by each fault; then a retry runs undisturbed.
describe('each request in turn', () => {
  const COUNT = 19
  const FAULTS = ['refuse', 'lose-request', 'lose-answer', 'late'] as const
  const CASES = Array.from({ length: COUNT }, (_, index) => index + 1).flatMap((number) =>
    FAULTS.flatMap((fault) => (['fresh', 'replacing'] as const).map((kind) => ({ number, fault, kind }))),
  )

  test.each(CASES)(
    'PU-08 request $number of a $kind publication: $fault',
    async ({ number, fault, kind }) => {
      if (kind === 'replacing') await run(publication({ attempt: { taskId: 'task-0' as TaskId } }))
      const before = world.calls.length
      trouble = (call) => (call.number === before + number ? fault : undefined)
      const outcome = await run(publication()).catch((error: unknown) => error)
      trouble = () => undefined
      if (isPeragoError(outcome)) expect(['unavailable', 'uncertain']).toContain(outcome.kind)
      else {
        expect(world.head(TARGET)).toBe((outcome as PublicationResult).outputRef)
        expect(await filesOf(watcher())).toEqual(wanted)
      }
      // Whatever was late arrives before anybody tries again.
      for (const effect of late) effect()
      const retry = attemptOf({ taskId: 'task-2' as TaskId, retryCount: 1 })
      const result = await run(publication({ attempt: retry })).catch((error: unknown) => error)
      // A merge that landed a second time after its attempt was over stands two above the input: refused, never overwritten.
      if (isPeragoError(result)) expect([result.code, fault]).toEqual(['fences/publish-refused', 'late'])
      else {
        expect((await logOf(watcher())).map(({ ref }) => ref).slice(0, 2)).toEqual([
          (result as PublicationResult).outputRef,
          input,
        ])
        expect(await filesOf(watcher())).toEqual(wanted)
      }
    },
  )

  test('PU-08 every request of both kinds of publication was hit', async () => {
    await run(publication({ attempt: { taskId: 'task-0' as TaskId } }))
    const fresh = world.calls.length
    await run(publication())
    expect(Math.max(fresh, world.calls.length - fresh)).toBeLessThanOrEqual(COUNT)
  })
})

describe('what stands in the way of a merge', () => {
  test('PU-10 a commit that slips in before the merge, in other files: not a success, and nobody loses anything', async () => {
    trouble = (call) => {
      if (call.request === 'merge') world.commitDirectly(TARGET, { y: 'foreign' })
      return undefined
    }
    const error = await failureOf(run(publication()))
    expect(error).toMatchObject({ code: 'fences/publish-refused', reason: 'landed-elsewhere' })
    const log = await logOf(watcher())
    expect(log.map(({ message }) => message).slice(0, 2)).toEqual([
      'Publish build, attempt 0',
      'Foreign work',
    ])
    expect(await stagingBranchesOf(watcher())).toHaveLength(1)
  })

  test('PU-10 a commit that slips in before the merge, in the same file: a conflict, and the facts are judged anew', async () => {
    trouble = (call) => {
      if (call.request === 'merge') {
        world.commitDirectly(TARGET, { [`${PREFIX}a.txt`]: 'foreign' })
        world.commitDirectly(TARGET, { y: 'more' })
      }
      return undefined
    }
    const head = (): CommitRef | undefined => world.head(TARGET)
    expect(await failureOf(run(publication()))).toMatchObject({ reason: 'branch-moved' })
    expect(head()).toBe(world.updates.filter(({ client }) => client === 'direct').at(-1)?.to)
  })

  test('PU-10 a publication that is taken off the branch before it is confirmed is no success', async () => {
    afterEffect = (call) => {
      if (call.request === 'merge') world.move({ client: 'direct', branch: TARGET, how: 'reset', to: input })
    }
    expect(await failureOf(run(publication()))).toMatchObject({
      code: 'fences/publish-refused',
      reason: 'moved-away',
    })
  })

  test('PU-11 uncommitted changes on the target are named as such, and what was staged is kept', async () => {
    await watcher().write({
      branch: TARGET,
      path: 'dirty',
      body: { sizeBytes: 1, open: () => Buffer.from('x') },
    })
    const error = await failureOf(run(publication()))
    expect(error).toMatchObject({ kind: 'refused', code: 'publication/dirty-target' })
    expect(world.head(TARGET)).toBe(input)
    expect(await stagingBranchesOf(watcher())).toHaveLength(1)
  })

  test('PU-12 a hook that refuses the merge is quoted', async () => {
    const repo = world.connect('worker')
    const refusing = {
      ...repo,
      merge: () =>
        Promise.resolve({ merged: false, reason: 'hook-refused', message: 'no PII allowed' } as const),
    }
    const error = await failureOf(run({ ...publication(), repo: refusing }))
    expect(error).toMatchObject({ kind: 'refused', code: 'publication/hook-refused' })
    expect((error as Error).message).toContain('no PII allowed')
  })
})
