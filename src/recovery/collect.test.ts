// Goal: what ended attempts have left is removed, by age and by the state of the attempt; all else stays.
// Method: an embedded lakeFS, the queue in this process, and branches as killed workers leave them.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { bytes } from '../../test/conformance/versioned-repo-cases/world.ts'
import { SCENARIOS } from '../../test/support/recovery-scenarios.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../test/support/recovery-world.ts'
import { stagingBranchesOf } from '../../test/support/publication-world.ts'
import { systemClock } from '../base/clock.ts'
import type { BranchName } from '../base/ids.ts'
import { stagingBranchName } from '../publication/staging-name.ts'
import type { TaskRecord } from '../worker/ports.ts'
import { collectStaging, type Collected } from './collect.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NO_NOTES = { after: '', seen: {} }

let lakefs: RecoveryLakefs
let it: RecoveryTestWorld
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async () => {
  it = await RecoveryTestWorld.open(lakefs)
})

/** The branch of an attempt that was killed after its commit; a Python worker's commit says nothing of itself. */
async function leave(task: TaskRecord, how: 'committed' | 'python' = 'committed'): Promise<BranchName> {
  const executionId = `run-of-${task.taskId}`
  const branch = stagingBranchName({ ...task, executionId })
  await it.repo.createBranch({ branch, from: it.input })
  await it.repo.write({ branch, path: 'left.txt', body: bytes('left') })
  const metadata = how === 'committed' ? { 'publish.run': executionId } : {}
  await it.repo.commit({ branch, message: 'left', metadata })
  return branch
}

function collect(
  afterMs: number,
  more: { readonly apply?: boolean; readonly notes?: Collected['notes'] } = {},
): Promise<Collected> {
  const clock = { ...systemClock, now: () => new Date(Date.now() + afterMs) }
  const { apply = false, notes = NO_NOTES } = more
  const ages = { endedAgeMs: HOUR_MS, unknownAgeMs: DAY_MS }
  return collectStaging({ ...it.world, clock }, { repository: it.repository, ...ages, apply, notes })
}

test('RE-16 a branch of an ended attempt is shown first, and removed with apply, once it is old enough', async () => {
  await it.start()
  const task = await it.claim()
  const branch = await leave(task)
  expect((await collect(2 * HOUR_MS, { apply: true })).due).toEqual([])
  await it.fail(task)
  expect((await collect(HOUR_MS / 2)).due).toEqual([])
  expect(await collect(2 * HOUR_MS)).toMatchObject({ due: [branch], removed: [], kept: 1 })
  expect(await stagingBranchesOf(it.repo)).toEqual([branch])
  expect(await collect(2 * HOUR_MS, { apply: true })).toMatchObject({
    due: [branch],
    removed: [branch],
    kept: 0,
  })
  expect(await stagingBranchesOf(it.repo)).toEqual([])
})

test('RE-16 one whose task Conductor does not know must be older', async () => {
  const workflowId = await it.start()
  const branch = await leave(await it.claim())
  await it.queue.terminate(workflowId)
  await it.queue.remove(workflowId)
  expect((await collect(2 * HOUR_MS)).due).toEqual([])
  expect((await collect(2 * DAY_MS)).due).toEqual([branch])
})

test('RE-17 a branch of the Python package is due as long after it was seen first as the others after their commit', async () => {
  await it.start()
  const task = await it.claim()
  const branch = await leave(task, 'python')
  await it.fail(task)
  const first = await collect(2 * HOUR_MS)
  expect(first.due).toEqual([])
  expect((await collect(2.5 * HOUR_MS, { notes: first.notes })).due).toEqual([])
  expect((await collect(4 * HOUR_MS, { notes: first.notes })).due).toEqual([branch])
})

test('RE-17 evidence stays, however old', async () => {
  await SCENARIOS['branch-moved'](it)
  const [evidence] = await stagingBranchesOf(it.repo)
  const first = await collect(0, { apply: true })
  expect(await collect(90 * DAY_MS, { apply: true, notes: first.notes })).toMatchObject({ due: [], kept: 1 })
  expect(await stagingBranchesOf(it.repo)).toEqual([evidence])
})

test('RE-17 without a Conductor nothing is known to be over, and nothing is collected', async () => {
  const request = { repository: it.repository, endedAgeMs: 0, unknownAgeMs: 0, apply: true, notes: NO_NOTES }
  await expect(collectStaging({ ...it.world, queue: undefined }, request)).rejects.toMatchObject({
    code: 'recovery/no-conductor',
  })
})
