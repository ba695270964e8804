// Goal: what is said about a branch's fence is what a worker would find there, and who passed the fence by is named.
// Method: the whole table, and publications on an embedded lakeFS whose fence is installed, switched off, or missing.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MAIN } from '../../test/conformance/versioned-repo-cases/world.ts'
import { publishAsPython } from '../../test/support/peer/as-python.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../test/support/recovery-world.ts'
import { systemClock } from '../base/clock.ts'
import { changeFence, isFenceEvaluated, readFenceState } from '../publication/fence-installation.ts'
import { FENCE_POLICIES } from '../publication/hard-fences.ts'
import { examineFence, judgeStrength, type BranchStrength } from './fence-strength.ts'

let lakefs: RecoveryLakefs
let it: RecoveryTestWorld
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async () => {
  it = await RecoveryTestWorld.open(lakefs)
})

const examined = (): Promise<BranchStrength> =>
  examineFence(it.repo, MAIN, {
    policy: 'preferred',
    isEvaluated: (state) => isFenceEvaluated(it.repo, state, systemClock),
  })

const publishOne = async (path: string): Promise<void> => {
  await it.start(await it.head())
  const task = await it.claim()
  await it.complete(task, await it.publish(task, { [path]: path }))
}

test('RE-28 policy, file and evaluation decide the strength that is told', () => {
  const table = FENCE_POLICIES.map((policy) => [
    policy,
    ...(['absent', 'changed', 'installed'] as const).map(
      (file) => judgeStrength(policy, file, false).strength,
    ),
    judgeStrength(policy, 'installed', true).strength,
  ])
  expect(table).toEqual([
    ['required', 'refused', 'refused', 'refused', 'hard'],
    ['preferred', 'soft', 'refused', 'refused', 'hard'],
    ['off', 'soft', 'soft', 'soft', 'soft'],
  ])
})

test('RE-28 without a fence only those are named who know none', async () => {
  await publishOne('ours.txt')
  const { merged } = await publishAsPython(it.repo, { 'theirs.txt': '1' })
  expect(await examined()).toMatchObject({
    ...{ strength: 'soft', file: 'absent', isEvaluated: undefined },
    withoutFence: [{ kind: 'python', commits: 1, newest: merged }],
  })
})

test('RE-28 on a branch with a fence all are named who have published past it since', async () => {
  // No fence could hold then.
  await it.commit({ 'before.txt': '1' }, { 'publish.run': 'q', 'publish.task': 'load' })
  await changeFence(it.repo, await readFenceState(it.repo, MAIN, {}), { act: 'install', clock: systemClock })
  await publishOne('fenced.txt')
  expect(await examined()).toMatchObject({
    strength: 'hard',
    file: 'installed',
    isEvaluated: true,
    withoutFence: [],
  })
  // A worker whose lakefs.fence is off.
  const ref = await it.commit(
    { 'x.txt': '1' },
    {
      ...{ 'publish.run': 'r', 'publish.input': await it.head() },
      ...{ 'publish.task': 'load', 'publish.worker': 'old-1' },
    },
  )
  expect((await examined()).withoutFence).toEqual([
    { kind: 'task', name: 'load', commits: 1, newest: ref, worker: 'old-1' },
  ])
})
