// Goal: a retry of a task that adopts runs its body only where no attempt of it has published, and never lies about it.
// Method: real attempts over the scripted repository; the first is taken to have died before its result was delivered.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { logOf, stagingBranchesOf } from '../../../test/support/publication-world.ts'
import {
  filesTask,
  inputFor,
  MAIN,
  openAttemptWorld,
  type AttemptChanges,
  type AttemptWorld,
} from '../../../test/support/worker/world.ts'
import { systemClock } from '../../base/clock.ts'
import { createRedactor } from '../../base/redaction.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { FENCE_FILE, FENCE_PATH } from '../../publication/fence-file.ts'
import { openHardFences } from '../../publication/hard-fences.ts'
import { LEDGER_INLINE_MAX_BYTES } from '../../publication/limits.ts'
import type { Metadata } from '../../publication/ports.ts'
import { defineWorkspaceTask, type TaskDefinition } from '../../tasks/task-definition.ts'
import { calmScript, ScriptedRepo } from '../../testing/scripted-repo.ts'
import type { RepoCall, RepoFault } from '../../testing/scripted-world.ts'
import type { AttemptOutcome } from './run-attempt.ts'

let world: AttemptWorld
let directory: string
let runs: number
let retries = 0
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-adopt-'))
  world = await openAttemptWorld(directory)
  runs = 0
})
afterEach(async () => {
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

const taskOf = (onRetry?: 'adopt' | 'replace'): TaskDefinition =>
  filesTask({
    ...(onRetry && { controls: { onRetry } }),
    body: async ({ workspace }) => {
      runs += 1
      await writeFile(workspace.path('a.csv'), `run ${runs}`)
      return { rows: runs }
    },
  })
const adopting = taskOf('adopt')

const second = { taskId: 'task-2' as TaskId, retryCount: 1, workerId: 'worker-2' }
/** The next attempt of the task, after one that died. */
function retry(task = adopting, { attempt, ...changes }: AttemptChanges = {}): Promise<AttemptOutcome> {
  world.steps.length = 0
  retries += 1
  const input = inputFor(world.inputRef)
  return world.run(task, {
    executionId: `retry-${retries}`,
    ...changes,
    attempt: { input, taskType: task.name, ...second, ...attempt },
  })
}

async function headOf(): Promise<{ readonly ref: string; readonly metadata: Metadata }> {
  const [head] = await logOf(world.repo.connect('test'))
  if (head === undefined) throw new Error('the branch is empty')
  return head
}

/** The head of the branch with other metadata, on the same parents and with the same files. */
async function rewrite(change: (metadata: Metadata) => Metadata): Promise<void> {
  const [head] = await logOf(world.repo.connect('test'))
  const tree = head && world.repo.model.treeAt(head.ref)
  if (head === undefined || tree === undefined) throw new Error('the branch is empty')
  const made = world.repo.model.addCommit({ ...head, metadata: change(head.metadata), tree })
  world.repo.move({ client: 'direct', branch: MAIN, how: 'reset', to: made.ref })
}

function without(metadata: Metadata, key: string): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== key))
}

describe('a retry of a task that adopts', () => {
  test('WK-295 a recorded result with a secret that was configured since is refused or redacted as any other', async () => {
    const secret = 'very-secret-value'
    const task = defineWorkspaceTask({
      ...{ name: 'orders.clean', owner: 'data@example.org', params: z.unknown(), result: z.unknown() },
      controls: { onRetry: 'adopt' },
      body: async ({ workspace }) => {
        runs += 1
        await writeFile(workspace.path('a.csv'), 'changed')
        return { text: secret }
      },
    })
    expect((await world.run(task)).result.status).toBe('COMPLETED')
    const redactor = createRedactor([secret])
    const refused = await retry(task, { redactor })
    expect(refused.result).toMatchObject({ status: 'FAILED_WITH_TERMINAL_ERROR', output: {} })
    expect(refused.result.reasonForIncompletion).toContain('[worker/secret-in-result]')
    const { result, publication } = await retry(task, { redactor, secretResults: 'redact' })
    expect(result).toMatchObject({ status: 'COMPLETED', output: { result: { text: '[redacted]' } } })
    expect([JSON.stringify([result, publication]).includes(secret), runs]).toEqual([false, 1])
  })

  test('F-55 PU-165 completes with the recorded result, lays nothing out and runs no body', async () => {
    const first = await world.run(adopting)
    const { ref } = await headOf()
    const adopted = await retry(adopting, {
      readFresh: (polled) =>
        Promise.resolve({
          task: { ...polled, status: polled.taskId === 'task-1' ? 'FAILED' : 'IN_PROGRESS' },
          workflow: 'RUNNING',
        }),
    })
    expect(adopted.result).toMatchObject({
      status: 'COMPLETED',
      taskId: 'task-2',
      output: first.result.output,
    })
    expect(adopted.publication).toMatchObject({ action: 'adopted', outputRef: ref, strength: 'soft' })
    expect([runs, (await headOf()).ref]).toEqual([1, ref])
    expect(world.steps).toEqual([
      'read-input',
      'publish/read-facts',
      'publish/read-ledger',
      'publish/attempt-fence',
      'publish/read-facts',
      'adopt',
    ])
    expect(adopted.result.logs?.join('\n')).toContain('the body did not run')
    await adopted.cleanUp()
    expect(await stagingBranchesOf(world.repo.connect('test'))).toEqual([])
  })

  test('PU-165 runs the body where nothing was published, and adopts after a replacement too', async () => {
    expect((await retry()).publication).toMatchObject({ action: 'merged' })
    world.repo.move({ client: 'direct', branch: MAIN, how: 'reset', to: world.inputRef })
    const foreign = world.repo.commitDirectly(MAIN, { x: 'by hand' })
    const replaced = await retry(adopting, { attempt: { retryCount: 2 } })
    expect(replaced.publication).toMatchObject({ action: 'replaced', supersededRef: foreign })
    const adopted = await retry(adopting, { attempt: { retryCount: 3 } })
    expect([adopted.publication?.action, adopted.result.output, runs]).toEqual([
      'adopted',
      replaced.result.output,
      2,
    ])
  })

  test('PU-166 replaces by default; the task decides before the settings', async () => {
    await world.run(taskOf())
    expect((await retry(taskOf())).publication?.action).toBe('replaced')
    const ledger = { onRetry: 'adopt' } as const
    expect((await retry(taskOf('replace'), { ledger })).publication?.action).toBe('replaced')
    expect((await retry(taskOf(), { ledger })).publication?.action).toBe('adopted')
    expect(runs).toBe(3)
  })

  test('PU-165 a large result comes back from its record; without it nothing is adopted', async () => {
    const text = 'x'.repeat(LEDGER_INLINE_MAX_BYTES)
    const task = defineWorkspaceTask({
      ...{ name: 'orders.clean', owner: 'data@example.org', params: z.unknown(), result: z.unknown() },
      workspace: { prefix: 'orders' },
      controls: { onRetry: 'adopt' },
      body: async ({ workspace }) => {
        await writeFile(workspace.path('a.csv'), `run ${++runs}`)
        return { text }
      },
    })
    const first = await world.run(task)
    expect((await retry(task)).result.output).toEqual(first.result.output)
    const { 'publish.result_ref': record = '' } = (await headOf()).metadata
    const found = await retry(task, {
      openRepo: () => ({
        ...world.repo.connect('worker'),
        readCommit: (ref, options) =>
          ref === record ? Promise.resolve(undefined) : world.repo.connect('worker').readCommit(ref, options),
      }),
    })
    expect(found.error).toMatchObject({ code: 'publication/not-adopted', reason: 'result-lost' })
    expect(runs).toBe(1)
  })

  test.each([
    ['another workflow', { workflowId: 'workflow-2' as WorkflowId }],
    ['another task', { referenceTaskName: 'other' }],
    ['another iteration', { iteration: 1 }],
  ])('PU-167 what %s has published is not adopted', async (_, attempt) => {
    await world.run(adopting)
    expect((await retry(adopting, { attempt })).publication?.action).toBe('replaced')
    expect(runs).toBe(2)
  })

  test('PU-167 a commit by hand is not adopted, whatever it holds', async () => {
    await world.run(adopting)
    await rewrite(() => ({ note: 'by hand' }))
    expect((await retry()).publication?.action).toBe('replaced')
    expect(runs).toBe(2)
  })

  const refusals: readonly [string, string, (metadata: Metadata) => Metadata][] = [
    ['unreadable', 'a damaged ledger', (metadata) => ({ ...metadata, 'publish.result': '{"rows":9}' })],
    ['no-ledger', 'no ledger', (metadata) => without(metadata, 'publish.ledger')],
    ['unreadable', 'a later version', (metadata) => ({ ...metadata, 'publish.ledger': '2' })],
  ]
  test.each(refusals)(
    'PU-168 an own commit is refused as %s with %s, and the body does not run',
    async (reason, _, change) => {
      await world.run(adopting)
      await rewrite(change)
      const { ref } = await headOf()
      const refused = await retry()
      expect(refused.error).toMatchObject({ code: 'publication/not-adopted', reason })
      expect(refused.result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
      expect([runs, (await headOf()).ref]).toEqual([1, ref])
    },
  )

  test('PU-168 an own commit on another branch, or without a result, is refused', async () => {
    const secret = 'very-secret-value'
    await world.run(taskOf(), { redactor: createRedactor([secret]) })
    const other = filesTask({ body: () => ({ rows: 1 }), controls: { onRetry: 'adopt' } })
    await rewrite((metadata) => metadata)
    expect((await retry(other)).publication?.action).toBe('adopted')
    const { ref } = await headOf()
    world.repo.move({ client: 'direct', branch: 'copy' as never, how: 'create', to: ref as never })
    const input = inputFor(world.inputRef)
    const copied = { ...input, workspace: { ...(input['workspace'] as object), branch: 'copy' } }
    const refused = await retry(adopting, { attempt: { input: copied } })
    expect(refused.error).toMatchObject({ reason: 'elsewhere' })
  })

  test('PU-162 with keys, only an entry signed with one of them is adopted', async () => {
    const keysOf = (id: string, byte: number): NonNullable<AttemptChanges['ledger']> => ({
      onRetry: 'adopt',
      keys: { use: id, keys: new Map([[id, Buffer.alloc(32, byte)]]) },
    })
    await world.run(adopting, { ledger: keysOf('k1', 1) })
    const reasons: unknown[] = []
    for (const ledger of [keysOf('k1', 2), keysOf('k2', 1), undefined])
      reasons.push(((await retry(adopting, { ledger })).error as { reason?: unknown }).reason)
    expect(reasons).toEqual(['forged', 'unknown-key', 'unknown-key'])
    expect((await retry(adopting, { ledger: keysOf('k1', 1) })).publication?.action).toBe('adopted')
    await rewrite((metadata) => without(metadata, 'publish.signature'))
    expect((await retry(adopting, { ledger: keysOf('k1', 1) })).error).toMatchObject({ reason: 'unsigned' })
    expect(runs).toBe(1)
  })

  test('PU-164 a result that looks as if a secret were in it is not recorded, so that nothing is published', async () => {
    const task = defineWorkspaceTask({
      ...{ name: 'orders.clean', owner: 'data@example.org', params: z.unknown(), result: z.unknown() },
      workspace: { prefix: 'orders' },
      controls: { onRetry: 'adopt' },
      body: async ({ workspace }) => {
        await writeFile(workspace.path('a.csv'), 'changed')
        return { text: 'https://me:very-secret-value@host/' }
      },
    })
    const refused = await world.run(task)
    expect(refused.error).toMatchObject({ code: 'publication/result-not-recorded' })
    expect((await headOf()).ref).toBe(world.inputRef)
  })
})

describe('the fences, where something is adopted', () => {
  test('PU-169 a stale attempt adopts nothing', async () => {
    await world.run(adopting)
    const { ref } = await headOf()
    const stale = await retry(adopting, {
      readFresh: (polled) =>
        Promise.resolve({
          task: { ...polled, workerId: 'another', status: 'IN_PROGRESS' },
          workflow: 'RUNNING',
        }),
    })
    expect(stale.error).toMatchObject({ code: 'fences/stale-attempt' })
    expect([stale.result.status, runs, (await headOf()).ref]).toEqual(['FAILED', 1, ref])
  })

  test('PU-169 a commit above the own publication refuses the attempt before its body', async () => {
    await world.run(adopting)
    const above = world.repo.commitDirectly(MAIN, { x: 'above' })
    const refused = await retry()
    expect(refused.error).toMatchObject({ code: 'fences/publish-refused', reason: 'branch-moved' })
    expect([runs, (await headOf()).ref]).toEqual([1, above])
  })

  test('PU-169 a branch that moves while it is judged is judged again', async () => {
    await world.run(adopting)
    let looks = 0
    const found = await retry(adopting, {
      readFresh: (polled) => {
        looks += 1
        // Somebody takes the publication off the branch in between.
        if (looks === 1) world.repo.move({ client: 'direct', branch: MAIN, how: 'reset', to: world.inputRef })
        return Promise.resolve({ task: { ...polled, status: 'IN_PROGRESS' }, workflow: 'RUNNING' })
      },
    })
    expect(found.publication?.action).toBe('merged')
    expect(runs).toBe(2)
  })

  test('F-55 PU-169 a claim that was left at the head is collapsed first, and what it led to is adopted', async () => {
    let isCut = false
    let isClaimed = false
    const arrive = (call: RepoCall): Promise<RepoFault> => {
      isClaimed ||= call.request === 'merge' && call.branch === MAIN
      return Promise.resolve(isCut && isClaimed && call.isCollapse === true ? 'lose-request' : 'none')
    }
    const repo = new ScriptedRepo({ script: { ...calmScript, arrive } })
    const ref = repo.commitDirectly(MAIN, { [FENCE_PATH]: FENCE_FILE, 'orders/a.csv': 'a' })
    const input = inputFor(ref)
    const fences = openHardFences({ clock: systemClock })
    const on = { openRepo: () => repo.connect('worker'), fences, attempt: { input } }
    const published = repo.commitDirectly(MAIN, { x: 'by hand' })
    // Its claim stays: the collapse never arrives.
    isCut = true
    const first = await world.run(adopting, on)
    expect(first.result.status).not.toBe('COMPLETED')
    const claim = repo.head(MAIN)
    expect((await repo.connect('test').readCommit(claim!))?.metadata).toHaveProperty('publish.claim')
    isCut = false
    const adopted = await retry(adopting, on)
    expect(adopted.publication).toMatchObject({ action: 'adopted', outputRef: repo.head(MAIN) })
    expect((await logOf(repo.connect('test'))).map((one) => one.ref).slice(0, 2)).toEqual([
      repo.head(MAIN),
      ref,
    ])
    expect(repo.model.tags.get(`perago-superseded-${published}`)).toBe(published)
    expect([runs, adopted.result.status]).toEqual([1, 'COMPLETED'])
  }, 20_000)

  test('PU-169 lakeFS away while it is judged ends the attempt without a body', async () => {
    const task = adopting
    let isAway = false
    const arrive = (call: RepoCall): Promise<RepoFault> =>
      Promise.resolve(isAway && call.request === 'log' ? 'refuse' : 'none')
    const repo = new ScriptedRepo({ script: { ...calmScript, arrive } })
    const ref = repo.commitDirectly(MAIN, { 'orders/a.csv': 'a' })
    const input = inputFor(ref)
    const openRepo = (): ReturnType<ScriptedRepo['connect']> => repo.connect('worker')
    await world.run(task, { openRepo, attempt: { input } })
    isAway = true
    const failed = await retry(task, { openRepo, attempt: { input } })
    expect([failed.result.status, runs]).toEqual(['FAILED', 1])
  })
})
