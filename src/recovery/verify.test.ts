// Goal: what really happened is proved, each fault that was put into a history is refuted, and every commit names its maker.
// Method: real publications on an embedded lakeFS, then one fault each.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { failureOf } from '../../test/support/publication-world.ts'
import { leaveClaim } from '../../test/support/detached-claim.ts'
import { SCENARIOS } from '../../test/support/recovery-scenarios.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../test/support/recovery-world.ts'
import { MAIN } from '../../test/conformance/versioned-repo-cases/world.ts'
import type { CommitRef } from '../base/ids.ts'
import type { Metadata } from '../publication/ports.ts'
import { blame, diffOfRun } from './blame.ts'
import { verify, type Verification, type VerifiedCheck } from './verify.ts'

let lakefs: RecoveryLakefs
let it: RecoveryTestWorld
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async () => {
  it = await RecoveryTestWorld.open(lakefs)
})

const place = () => ({ repository: it.repository, branch: MAIN })
const verified = (): Promise<Verification> => verify(it.world, place())

async function completedRun(files?: Readonly<Record<string, string>>) {
  const from = await it.head()
  const workflowId = await it.start(from)
  const task = await it.claim()
  const ref = await it.publish(task, files, 'v7')
  await it.complete(task, ref)
  return { workflowId, task, from, ref }
}

test('RE-20 a history of completed tasks holds; commits of others and soft publications are named, and refute nothing', async () => {
  const first = await completedRun()
  const foreign = await it.commit({ 'b.txt': 'theirs' })
  const second = await completedRun({ 'c.txt': 'ours' })
  expect(await verified()).toEqual({
    ...{ holds: true, isWhole: true, refuted: [], unknownWorkflows: [] },
    commits: (await it.history()).length,
    withoutFence: [second.ref, first.ref],
    foreign: [foreign, it.input],
  })
})

test('RE-20 a publication that a retry has replaced left its trace, and refutes nothing', async () => {
  await it.start()
  const first = await it.claim()
  const replaced = await it.publish(first)
  await it.queue.postResult(it.resultOf(first, 'FAILED'))
  const second = await it.claim()
  const ref = await it.publish(second, { 'a.txt': 'again' })
  await it.complete(second, ref)
  expect((await it.history()).map((each) => each.ref)).not.toContain(replaced)
  expect(await verified()).toMatchObject({ holds: true })
})

const publication = (input: CommitRef, more: Metadata = {}): Metadata => ({
  ...{ 'publish.run': 'r', 'publish.input': input, 'publish.workflow': 'w', 'publish.task': 't' },
  ...{ 'publish.iteration': '0', 'publish.task_id': 'id', ...more },
})

test.each<[VerifiedCheck, () => Promise<unknown>]>([
  ['expected-parent', () => it.commit({ x: '1' }, publication('f'.repeat(64) as CommitRef))],
  [
    'fence-held',
    async () =>
      it.commit({ x: '1' }, publication(await it.head(), { 'publish.expected_head': 'f'.repeat(64) })),
  ],
  [
    'one-commit-per-task',
    async () => {
      await it.commit({ x: '1' }, publication(await it.head()))
      await it.commit({ x: '2' }, publication(await it.head(), { 'publish.task_id': 'id of a retry' }))
    },
  ],
  ['no-claim-left', async () => leaveClaim(it, { head: await it.commit({ x: '1' }), to: it.input })],
  [
    'nothing-lost',
    async () => {
      // A workflow of two runs of the same definition; the second output is taken off by a bare reset.
      const { task, ref } = await completedRun()
      await it.reset(it.input)
      await it.commit({ x: '1' }, publication(it.input, { 'publish.workflow': task.workflowId }))
      return ref
    },
  ],
])('RE-21 %s is refuted where it does not hold', async (check, spoil) => {
  expect((await verified()).holds).toBe(true)
  await spoil()
  const { holds, refuted } = await verified()
  expect([holds, [...new Set(refuted.map((each) => each.check))]]).toEqual([false, [check]])
})

test('RE-22 blame names run, task, attempt and code version of each commit', async () => {
  const { workflowId, task, ref } = await completedRun()
  const [newest, before] = await blame(it.world, place())
  expect(newest).toMatchObject({
    ...{ ref, workflow: workflowId, task: 'load', taskId: task.taskId, attempt: '0', codeVersion: 'v7' },
    run: `run-${task.taskId}`,
  })
  expect(before).toMatchObject({ ref: it.input, run: undefined })
})

test('RE-22 blame of a path names the commit that made it what it is, or removed it', async () => {
  const first = await completedRun({ 'a.txt': 'second', 'b.txt': 'first' })
  const second = await completedRun({ 'b.txt': 'second' })
  const of = async (path: string) => (await blame(it.world, { ...place(), path })).map((each) => each.ref)
  expect(await of('a.txt')).toEqual([first.ref])
  expect(await of('b.txt')).toEqual([second.ref])
  await it.repo.deleteObjects(MAIN, ['b.txt'])
  const removed = await it.commit({ 'c.txt': 'theirs' })
  expect(await of('b.txt')).toEqual([removed])
  expect(await failureOf(of('never.txt'))).toMatchObject({ code: 'recovery/no-maker' })
})

test('RE-23 diff shows what a run changed, by the workflow or by the commits of a branch', async () => {
  await completedRun()
  const { workflowId, task, from, ref } = await completedRun({ 'b.txt': 'new' })
  const span = { ...place(), task: 'load', from, to: ref }
  const changes = [{ path: 'b.txt', change: 'added' }]
  expect(await diffOfRun(it.world, { run: workflowId })).toMatchObject([{ ...span, changes }])
  for (const run of [workflowId, `run-${task.taskId}`])
    expect(await diffOfRun({ ...it.world, queue: undefined }, { run, on: place() })).toMatchObject([
      { ...span, changes },
    ])
  expect(await failureOf(diffOfRun(it.world, { run: 'nobody' }))).toMatchObject({
    code: 'recovery/no-such-run',
  })
  expect(await diffOfRun(it.world, { run: await SCENARIOS.running(it) })).toEqual([])
})
