// Goal: a branch goes back to an earlier commit from the head its caller saw, or stays; nothing becomes unreachable.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  attemptOf,
  failureOf,
  freshOf,
  logOf,
  publicationOf,
  TARGET,
} from '../../test/support/publication-world.ts'
import type { CommitRef } from '../base/ids.ts'
import { StaleAttemptError } from '../fences/attempt-fence.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import type { RepoCall, RepoFault } from '../testing/scripted-world.ts'
import type { ActorAuthority } from './authority.ts'
import { relocate, type RelocationRequest, type RelocationResult } from './relocate.ts'
import type { PublicationEvent } from './steps.ts'

const OPERATOR: ActorAuthority = { kind: 'actor', actor: 'operator', subject: 'rollback', executionId: 'e-1' }

let faultOf: (call: RepoCall) => RepoFault
let world: ScriptedRepo
let commits: readonly [CommitRef, CommitRef, CommitRef]
beforeEach(() => {
  faultOf = () => 'none'
  world = new ScriptedRepo({
    script: {
      arrive: (call) => Promise.resolve(faultOf(call)),
      answer: () => Promise.resolve(),
      later: () => undefined,
    },
  })
  const [first, second, third] = ['1', '2', '3'].map((text) => world.commitDirectly(TARGET, { a: text }))
  commits = [first!, second!, third!]
})

async function back(changes: Partial<RelocationRequest> = {}): Promise<RelocationResult> {
  const clock = new ManualClock()
  const [to, , expectedHead] = commits
  const repo = world.connect('worker')
  const request = { repo, authority: OPERATOR, branch: TARGET, expectedHead, to, clock, ...changes }
  return clock.run(relocate({ random: { next: () => 0.5 }, ...request }))
}

const writes = (): string[] => world.calls.filter((call) => call.writes).map(({ request }) => request)

describe('moving a branch back', () => {
  test('PU-39 the branch is at the earlier commit, and what left its history stays reachable', async () => {
    const events: PublicationEvent[] = []
    const result = await back({ observer: (event) => events.push(event) })
    const [first, second, third] = commits
    const evidenceTag = `perago-superseded-${third}`
    expect(result).toEqual({
      ...{ action: 'relocated', outputRef: first, supersededRef: third },
      ...{ evidenceTag, strength: 'soft' },
    })
    expect(world.head(TARGET)).toBe(first)
    expect(world.model.tags.get(evidenceTag)).toBe(third)
    expect((await logOf(world.connect('watcher'), third)).map(({ ref }) => ref)).toContain(second)
    expect(events.map(({ step }) => step)).toEqual([
      'read-facts',
      'publish-fence',
      'keep-superseded',
      'read-facts',
      'relocate',
    ])
  })

  test('PU-39 asked for again, it answers the same and writes nothing', async () => {
    const result = await back()
    const before = world.updates.length
    expect(await back()).toEqual(result)
    expect(world.updates).toHaveLength(before)
  })

  test.each(['lose-request', 'lose-answer'] as const)(
    'PU-39 a lost response (%s) to any of its writes is resolved',
    async (fault) => {
      const hit = new Set<string>()
      faultOf = ({ request, writes: isWrite }) =>
        isWrite && !hit.has(request) ? (hit.add(request), fault) : 'none'
      expect(await back()).toMatchObject({ action: 'relocated', outputRef: commits[0] })
      expect([...hit].sort()).toEqual(['createTag', 'merge', 'resetBranch', 'writeCommit'])
      expect(world.head(TARGET)).toBe(commits[0])
    },
  )

  test('PU-39 when no response ever comes, the outcome is uncertain', async () => {
    faultOf = ({ request }) => (request === 'merge' ? 'lose-request' : 'none')
    expect(await failureOf(back())).toMatchObject({ kind: 'uncertain', code: 'publication/unsettled' })
  })
})

describe('the branch stays', () => {
  test.each([
    ['has moved on', () => void world.commitDirectly(TARGET, { b: 'foreign' })],
    ['is not there', () => void world.model.branches.delete(TARGET)],
  ])('PU-39 when it %s', async (_, arrange) => {
    arrange()
    const head = world.head(TARGET)
    expect(await failureOf(back())).toMatchObject({
      ...{ kind: 'refused', code: 'publication/head-moved' },
      details: { expectedHead: commits[2], head },
    })
    expect([world.head(TARGET), writes()]).toEqual([head, []])
  })

  test('PU-39 when it moves between the look and the write', async () => {
    faultOf = ({ request }) => {
      if (request === 'createTag') world.commitDirectly(TARGET, { b: 'foreign' })
      return 'none'
    }
    expect(await failureOf(back())).toMatchObject({ code: 'publication/head-moved' })
    expect((await logOf(world.connect('watcher')))[0]?.message).toBe('Foreign work')
  })

  test('PU-39 when the commit is not an earlier one of its first-parent history', async () => {
    const [first, , third] = commits
    const aside = world.model.addCommit({ parents: [first], message: '', metadata: {}, tree: new Map() })
    for (const to of [aside.ref, third, 'f'.repeat(64) as CommitRef])
      expect(await failureOf(back({ to }))).toMatchObject({
        ...{ kind: 'refused', code: 'publication/not-in-history' },
      })
    expect(await failureOf(back({ expectedHead: 'f'.repeat(64) as CommitRef }))).toMatchObject({
      code: 'publication/not-in-history',
    })
    expect(writes()).toEqual([])
  })

  test('PU-39 when it is asked for by an attempt that is stale', async () => {
    const { authority } = publicationOf(world.connect('worker'), commits[0]).request
    const polled = attemptOf()
    const readFresh = () => Promise.resolve({ ...freshOf(polled), workflow: 'TERMINATED' as const })
    expect(await failureOf(back({ authority: { ...authority, readFresh } }))).toBeInstanceOf(
      StaleAttemptError,
    )
    expect(writes()).toEqual([])
    expect(await back({ authority })).toMatchObject({ action: 'relocated' })
  })
})
