// Goal: what is said about a branch's fence is what a worker would find there, and who passed the fence by is named.
// Method: the whole table, and publications on an embedded lakeFS whose fence is installed, switched off, or missing.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { commitOf, MAIN } from '../../test/conformance/versioned-repo-cases/world.ts'
import { publishAsPython } from '../../test/support/peer/as-python.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../test/support/recovery-world.ts'
import { systemClock } from '../base/clock.ts'
import { branchName, type BranchName } from '../base/ids.ts'
import { changeFence, isFenceEvaluated, readFenceState } from '../publication/fence-installation.ts'
import { FENCE_FILE, FENCE_PATH } from '../publication/fence-file.ts'
import { FENCE_POLICIES, type FencePolicy } from '../publication/hard-fences.ts'
import { examineFence, type BranchStrength } from './fence-strength.ts'

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

test('RE-28 policy, file and evaluation decide the strength that is told', async () => {
  const branchWith = async (name: string, files: Readonly<Record<string, string>>): Promise<BranchName> => {
    const branch = branchName(name)
    await it.repo.createBranch({ branch, from: it.input })
    await commitOf(it.repo, branch, { 'any.txt': name, ...files })
    return branch
  }
  const branches = [
    [await branchWith('absent', {}), true],
    [await branchWith('changed', { [FENCE_PATH]: `${FENCE_FILE}# and more` }), true],
    [await branchWith('installed', { [FENCE_PATH]: FENCE_FILE }), false],
    [branchName('installed'), true],
  ] as const
  const strengthsUnder = (policy: FencePolicy): Promise<string[]> =>
    Promise.all(
      branches.map(async ([branch, isEvaluated]) => {
        const options = { policy, isEvaluated: () => Promise.resolve(isEvaluated) }
        return (await examineFence(it.repo, branch, options)).strength
      }),
    )
  expect(await Promise.all(FENCE_POLICIES.map(strengthsUnder))).toEqual([
    ['refused', 'refused', 'refused', 'hard'],
    ['soft', 'refused', 'refused', 'hard'],
    ['soft', 'soft', 'soft', 'soft'],
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
