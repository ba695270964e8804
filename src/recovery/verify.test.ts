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
import { publishAsPython } from '../../test/support/peer/as-python.ts'
import { aborted } from '../base/abort-signals.ts'
import type { CommitRef } from '../base/ids.ts'
import type { WorkflowId } from '../worker/ports.ts'
import type { Metadata } from '../publication/ports.ts'
import { blame, diffOfRun } from './blame.ts'
import { VERIFIED_CHECKS, type VerifiedCheck } from './history-judge.ts'
import { verify, type Verification, type VerifyRequest } from './verify.ts'

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
const verified = (more: Partial<VerifyRequest> = {}): Promise<Verification> =>
  verify(it.world, { ...place(), ...more })

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
  const [oldest] = (await it.history()).slice(-1)
  expect(await verified()).toEqual({
    ...{ holds: true, isWhole: true, stopped: 'beginning', oldest: oldest?.ref },
    ...{ refuted: [], refutedCount: 0, unknownWorkflows: [], openOutputs: 0 },
    refutedOf: Object.fromEntries(Object.keys(VERIFIED_CHECKS).map((check) => [check, 0])),
    commits: (await it.history()).length,
    withoutFence: [
      { kind: 'task', name: 'load', commits: 2, newest: second.ref, worker: second.task.workerId },
    ],
    ...{ foreign: [foreign, it.input], foreignCount: 2 },
  })
  expect(first.ref).not.toBe(second.ref)
})

test('RE-26 commits of the Python package are told from commits by hand, and it is named as one that knows no fence', async () => {
  const byHand = await it.commit({ 'b.txt': 'by hand' })
  const first = await publishAsPython(it.repo, { 'c.txt': 'theirs' })
  const second = await publishAsPython(it.repo, { 'd.txt': 'theirs' })
  // A retry of it replaces what it finds directly above its input, by a reset.
  await it.reset(second.staged)
  expect(await verified()).toMatchObject({
    ...{ holds: true, foreign: [byHand, it.input] },
    withoutFence: [{ kind: 'python', name: 'the Python package', commits: 2, newest: second.staged }],
  })
  expect((await it.history()).map(({ ref }) => ref)).toContain(first.merged)
})

test('RE-27 the walk goes to the beginning, or to the given end, and says where it stopped', async () => {
  const first = await completedRun()
  const second = await completedRun({ 'b.txt': 'second' })
  const third = await completedRun({ 'c.txt': 'third' })
  const whole = (await it.history()).length
  const cases = [
    [{}, { commits: whole, stopped: 'beginning', isWhole: true }],
    [{ limit: whole }, { commits: whole, stopped: 'beginning', isWhole: true }],
    [{ limit: 2 }, { commits: 2, stopped: 'limit', isWhole: false, oldest: second.ref }],
    [{ since: first.ref }, { commits: 2, stopped: 'since', isWhole: false, oldest: second.ref }],
    [{ since: MAIN }, { commits: 0, stopped: 'since', oldest: undefined }],
    [
      { since: third.ref, limit: 1 },
      { commits: 0, stopped: 'since' },
    ],
  ] as const
  for (const [more, expected] of cases)
    expect(await verified(more)).toMatchObject({ holds: true, ...expected })
  expect(await failureOf(verified({ since: 'nothing' }))).toMatchObject({ code: 'recovery/no-such-ref' })
})

test('RE-27 what is remembered of a long history is bounded, and what was forgotten is looked up again', async () => {
  const lost = await completedRun()
  await it.reset(it.input)
  const beside = await completedRun({ 'b.txt': 'beside it' })
  // Its commit names a workflow whose output is a commit above it.
  const early = await it.start()
  const task = await it.claim()
  await it.commit({ x: '1' }, publication(await it.head(), { 'publish.workflow': early }))
  await it.complete(task, (await completedRun({ 'c.txt': 'above' })).ref)
  await it.commit({ x: '2' }, publication(await it.head(), { 'publish.workflow': lost.workflowId }))
  for (const y of ['0', '1']) await it.commit({ y })

  const findings = await verified()
  expect(findings).toMatchObject({ refutedCount: 1, refuted: [{ check: 'nothing-lost', ref: lost.ref }] })
  expect(await verified({ rememberedMax: 1 })).toEqual(findings)
  // It would have been seen by then; further up it may lie below the end.
  const downTo = (await it.history()).findIndex(({ ref }) => ref === beside.ref) + 1
  expect(await verified({ limit: downTo })).toMatchObject({ refuted: findings.refuted })
  expect(await verified({ limit: downTo - 1 })).toMatchObject({ holds: true })
})

test('DO-167 a walk whose time is over tells what it has judged until then, and never that the rest holds', async () => {
  const { ref: lost, workflowId } = await completedRun()
  await it.reset(it.input)
  await it.commit({ x: '1' }, publication(await it.head(), { 'publish.workflow': 'gone' }))
  await completedRun({ 'b.txt': 'ours' })
  await it.commit({ x: '2' }, publication('f'.repeat(64) as CommitRef, { 'publish.workflow': workflowId }))
  const whole = await verified()
  expect(whole.refuted.map(({ check }) => check).sort()).toEqual(['expected-parent', 'nothing-lost'])

  // The queue does not answer any more when the third commit is judged.
  const time = new AbortController()
  const queue = {
    ...it.world.queue!,
    readWorkflow: async (id: WorkflowId, call: { readonly signal?: AbortSignal | undefined } = {}) => {
      if (id !== ('gone' as WorkflowId)) return it.world.queue!.readWorkflow(id, call)
      time.abort(new Error('too late'))
      await aborted(call.signal)
      throw new Error('aborted')
    },
  }
  const cut = await verify({ ...it.world, queue }, { ...place(), until: time.signal })
  expect(cut).toMatchObject({ stopped: 'time', isWhole: false, commits: 2, holds: false, refutedCount: 1 })
  expect([cut.refuted[0]?.check, cut.openOutputs]).toEqual(['expected-parent', 1])
  expect(cut.refuted.map((each) => each.ref)).not.toContain(lost)

  const late = AbortSignal.abort(new Error('too late'))
  expect(await failureOf(verified({ until: late }))).toMatchObject({
    ...{ kind: 'unavailable', code: 'recovery/too-slow' },
  })
  // A failure that is not the end of its time is none.
  const failing = { ...queue, readWorkflow: () => Promise.reject(new Error('down')) }
  const open = new AbortController()
  expect(
    await failureOf(verify({ ...it.world, queue: failing }, { ...place(), until: open.signal })),
  ).toMatchObject({ message: 'down' })
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
  const { holds, refuted, refutedOf } = await verified()
  expect([holds, [...new Set(refuted.map((each) => each.check))]]).toEqual([false, [check]])
  expect(Object.entries(refutedOf).filter(([, count]) => count > 0)).toEqual([[check, refuted.length]])
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
