// Goal: whoever implements `TaskQueue` behaves as Conductor does, stale attempts above all.
// Method: each case sets its scene through the control surface, under names of its own, and reads back what became of it.
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, type TestContext } from 'vitest'
import { CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES } from '../../src/worker/limits.ts'
import type { QueueControl } from '../../src/engine/protocol/control.ts'
import type { TestTaskDef, TestWorkflowTask } from '../../src/engine/protocol/definitions.ts'
import type { TaskId, TaskQueue, TaskRecord, TaskResult, WorkflowId } from '../../src/worker/ports.ts'
import type { JsonObject } from '../../src/base/json.ts'

export interface QueueScene {
  readonly queue: TaskQueue
  readonly control: QueueControl
  /** Lets this much time pass for the queue. */
  pass(durationMs: number): Promise<void>
  /** Lets time pass until the promise has settled. */
  settle<T>(promise: Promise<T>): Promise<T>
  close(): Promise<void>
}

const NOBODY = randomUUID() as TaskId
const NOWHERE = randomUUID() as WorkflowId
const CLAIM_WAIT_MS = 1_000
const CLAIM_TRIES = 60
/** Long enough for an implementation that looks at its queue every 100 ms. */
const QUIET_MS = 350

/** One case's scene, with what it needs again and again. */
class Stage {
  readonly scene: QueueScene
  readonly started: WorkflowId[] = []
  readonly #run = randomUUID().slice(0, 8)

  constructor(scene: QueueScene) {
    this.scene = scene
  }

  get queue(): TaskQueue {
    return this.scene.queue
  }

  get control(): QueueControl {
    return this.scene.control
  }

  name(what: string): string {
    return `co_${this.#run}_${what}`
  }

  /** A workflow of SIMPLE tasks, by reference name; all of one task type unless told. */
  async define(
    refs: readonly (string | Omit<TestWorkflowTask, 'name'>)[],
    def: Partial<TestTaskDef> = {},
    more: { readonly outputParameters?: JsonObject } = {},
  ): Promise<{ readonly taskType: string; readonly workflow: string }> {
    const taskType = this.name('t')
    const workflow = this.name('w')
    await this.control.registerTask({
      name: taskType,
      retryCount: 2,
      retryDelaySeconds: 0,
      responseTimeoutSeconds: 600,
      timeoutPolicy: 'RETRY',
      ...def,
    })
    await this.control.registerWorkflow({
      name: workflow,
      version: 1,
      tasks: refs.map((ref) => ({
        name: taskType,
        ...(typeof ref === 'string' ? { taskReferenceName: ref } : ref),
      })),
      ...more,
    })
    return { taskType, workflow }
  }

  async start(
    name: string,
    more: Omit<Parameters<QueueControl['start']>[0], 'name'> = {},
  ): Promise<WorkflowId> {
    const workflowId = await this.control.start({ name, ...more })
    this.started.push(workflowId)
    return workflowId
  }

  /** Claims one task, waiting for it as long as it may take. */
  async claim(taskType: string, more: { workerId?: string; domain?: string } = {}): Promise<TaskRecord> {
    for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
      const [task] = await this.poll(taskType, { ...more, waitMs: CLAIM_WAIT_MS })
      if (task !== undefined) return task
    }
    throw new Error(`nothing to claim of type ${taskType}`)
  }

  poll(
    taskType: string,
    more: { workerId?: string; domain?: string; waitMs?: number; count?: number } = {},
  ): Promise<readonly TaskRecord[]> {
    return this.scene.settle(
      this.queue.poll({ taskType, workerId: 'worker-a', count: 1, waitMs: QUIET_MS, ...more }),
    )
  }

  post(task: TaskRecord, result: Partial<TaskResult> = {}): Promise<boolean> {
    const { taskId, workflowId, workerId } = task
    return this.scene.settle(
      this.queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output: {}, ...result }),
    )
  }

  async read(task: { readonly taskId: TaskId }): Promise<TaskRecord> {
    const found = await this.queue.readTask(task.taskId)
    if (found === undefined) throw new Error(`task ${task.taskId} is gone`)
    return found
  }

  /** A late completion and a late renewal of a stale attempt: what they were answered, and the record before and after. */
  async comeBackLate(task: TaskRecord): Promise<{
    readonly before: TaskRecord | undefined
    readonly answers: { readonly post: boolean; readonly renewal: boolean }
    readonly after: TaskRecord | undefined
  }> {
    const before = await this.queue.readTask(task.taskId)
    const renewal = await this.scene.settle(this.queue.renewLease(task))
    const post = await this.post(task, { output: { late: true } })
    return { before, answers: { post, renewal }, after: await this.queue.readTask(task.taskId) }
  }

  async status(workflowId: WorkflowId): Promise<string | undefined> {
    return this.queue.readWorkflowStatus(workflowId)
  }

  /** The records of a workflow that stand under one reference name, in order. */
  async attempts(workflowId: WorkflowId, referenceTaskName: string): Promise<readonly TaskRecord[]> {
    const workflow = await this.control.readWorkflow(workflowId)
    return (workflow?.tasks ?? []).filter((task) => task.referenceTaskName === referenceTaskName)
  }

  /** Asks again and again, for what a sweeper does in its own time. */
  async until<T>(ask: () => Promise<T>, isIt: (value: T) => boolean, boundMs: number): Promise<T> {
    for (let waitedMs = 0; ; waitedMs += 250) {
      const value = await ask()
      if (isIt(value)) return value
      if (waitedMs >= boundMs) throw new Error(`still not so after ${boundMs} ms: ${JSON.stringify(value)}`)
      await this.scene.pass(250)
    }
  }
}

const COUNTED = { post: true, renewal: true }
const GONE = { post: false, renewal: false }

const CASES: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'CO-01 a poll gives nothing when nothing is queued': async (stage) => {
    const { taskType } = await stage.define(['a'])
    expect(await stage.poll(taskType)).toEqual([])
    expect(await stage.poll(taskType, { waitMs: 0 })).toEqual([])
  },

  'CO-02 a claim puts the task in progress under its worker id, and says so when it is read': async (
    stage,
  ) => {
    const { taskType, workflow } = await stage.define([
      {
        taskReferenceName: 'a',
        inputParameters: { whole: '${workflow.input.list}', text: 'n=${workflow.input.n}' },
      },
    ])
    const workflowId = await stage.start(workflow, { input: { list: [1, 'x'], n: 7 }, correlationId: 'c-1' })
    const task = await stage.claim(taskType, { workerId: 'claim-1' })
    expect(task).toMatchObject({
      workflowId,
      workflowType: workflow,
      status: 'IN_PROGRESS',
      taskType,
      taskDefName: taskType,
      referenceTaskName: 'a',
      retryCount: 0,
      pollCount: 1,
      seq: 1,
      iteration: 0,
      responseTimeoutSeconds: 600,
      isRetried: false,
      workerId: 'claim-1',
      correlationId: 'c-1',
      domain: undefined,
      input: { whole: [1, 'x'], text: 'n=7' },
      output: {},
      externalInputPath: undefined,
      externalOutputPath: undefined,
      reasonForIncompletion: undefined,
    })
    expect(task.startTimeMs).toBeGreaterThan(0)
    expect(task.scheduledTimeMs).toBeGreaterThan(0)
    // The update time of the answer to a poll may be a moment younger than the stored one.
    expect({ ...(await stage.read(task)), updateTimeMs: 0 }).toEqual({ ...task, updateTimeMs: 0 })
    expect(await stage.status(workflowId)).toBe('RUNNING')
    expect(await stage.poll(taskType)).toEqual([])
  },

  'CO-03 no task is claimed twice, however many poll at once': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    for (let index = 0; index < 6; index += 1) await stage.start(workflow)
    const claimed: string[] = []
    for (let round = 0; claimed.length < 6 && round < 20; round += 1) {
      const polls = Array.from({ length: 8 }, (_, index) =>
        stage.queue.poll({ taskType, workerId: `w-${round}-${index}`, count: 1, waitMs: 100 }),
      )
      claimed.push(...(await stage.scene.settle(Promise.all(polls))).flat().map((task) => task.taskId))
    }
    expect(claimed).toHaveLength(6)
    expect(new Set(claimed).size).toBe(6)
  },

  'CO-04 a workflow of higher priority is served first': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const low = await stage.start(workflow, { priority: 1 })
    const high = await stage.start(workflow, { priority: 9 })
    expect((await stage.claim(taskType)).workflowId).toBe(high)
    expect((await stage.claim(taskType)).workflowId).toBe(low)
  },

  'CO-05 a task that arrives while a poll waits is given to it': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const poll = stage.queue.poll({ taskType, workerId: 'waiting', count: 1, waitMs: 5_000 })
    await stage.start(workflow)
    expect(await stage.scene.settle(poll)).toMatchObject([{ workerId: 'waiting', status: 'IN_PROGRESS' }])
  },

  'CO-06 a poll for more tasks than there are gives those there are': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const workflowId = await stage.start(workflow)
    expect(await stage.poll(taskType, { count: 3, waitMs: 500 })).toMatchObject([{ workflowId }])
  },

  'CO-07 a task of a domain goes to polls of that domain only, and so does its retry': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    await stage.start(workflow, { taskToDomain: { [taskType]: 'blue' } })
    expect(await stage.poll(taskType)).toEqual([])
    expect(await stage.poll(taskType, { domain: 'green' })).toEqual([])
    const first = await stage.claim(taskType, { domain: 'blue' })
    expect(first.domain).toBe('blue')
    await stage.post(first, { status: 'FAILED' })
    expect(await stage.poll(taskType)).toEqual([])
    expect(await stage.claim(taskType, { domain: 'blue' })).toMatchObject({ domain: 'blue', retryCount: 1 })
  },

  'CO-08 of several domains the first with a poller is served, and without any the last': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const toDomain = async (domains: string): Promise<string | undefined> => {
      const workflowId = await stage.start(workflow, { taskToDomain: { '*': domains } })
      const [task] = await stage.attempts(workflowId, 'a')
      return task?.domain
    }
    expect(await toDomain('ghost,phantom')).toBe('phantom')
    expect(await toDomain('ghost,NO_DOMAIN')).toBeUndefined()
    await stage.poll(taskType, { domain: 'alive' })
    expect(await toDomain('ghost,alive,NO_DOMAIN')).toBe('alive')
  },

  'CO-09 what is not there is undefined when read and false when updated': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const workflowId = await stage.start(workflow)
    const task = await stage.claim(taskType)
    expect(await stage.queue.readTask(NOBODY)).toBeUndefined()
    expect(await stage.queue.readWorkflowStatus(NOWHERE)).toBeUndefined()
    expect(await stage.queue.renewLease({ ...task, taskId: NOBODY })).toBe(false)
    expect(await stage.post({ ...task, taskId: NOBODY })).toBe(false)
    expect(await stage.post({ ...task, workflowId: NOWHERE })).toBe(false)
    expect(await stage.status(workflowId)).toBe('RUNNING')
  },

  'CO-10 a renewal moves the update time and nothing else': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    await stage.start(workflow)
    const task = await stage.claim(taskType)
    const before = await stage.read(task)
    await stage.scene.pass(50)
    expect(await stage.scene.settle(stage.queue.renewLease(task))).toBe(true)
    const after = await stage.read(task)
    expect(after.updateTimeMs).toBeGreaterThan(before.updateTimeMs)
    expect({ ...after, updateTimeMs: 0 }).toEqual({ ...before, updateTimeMs: 0 })
  },

  'CO-11 a completion stores the output, and the next task is there before it is answered': async (stage) => {
    const { taskType, workflow } = await stage.define(
      [
        'a',
        { taskReferenceName: 'b', inputParameters: { from: '${a.output}', missing: '${a.output.no.such}' } },
      ],
      {},
      { outputParameters: { sum: '${b.output.sum}' } },
    )
    const workflowId = await stage.start(workflow)
    const a = await stage.claim(taskType)
    expect(await stage.post(a, { output: { n: 1, deep: { x: [true] } } })).toBe(true)
    expect(await stage.attempts(workflowId, 'b')).toMatchObject([
      {
        status: 'SCHEDULED',
        seq: 2,
        pollCount: 0,
        startTimeMs: 0,
        input: { from: { n: 1, deep: { x: [true] } }, missing: null },
      },
    ])
    expect(await stage.read(a)).toMatchObject({ status: 'COMPLETED', output: { n: 1, deep: { x: [true] } } })
    await stage.post(await stage.claim(taskType), { output: { sum: 2 } })
    expect(await stage.control.readWorkflow(workflowId)).toMatchObject({
      status: 'COMPLETED',
      output: { sum: 2 },
    })
  },

  'CO-12 a task that is handed back is offered again under its id, after its delay': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    await stage.start(workflow)
    const first = await stage.claim(taskType, { workerId: 'first' })
    const handBack = { status: 'IN_PROGRESS', output: { progress: 1 }, callbackAfterSeconds: 2 } as const
    expect(await stage.post(first, handBack)).toBe(true)
    expect(await stage.read(first)).toMatchObject({
      status: 'SCHEDULED',
      workerId: 'first',
      output: { progress: 1 },
    })
    expect(await stage.poll(taskType)).toEqual([])
    const second = await stage.claim(taskType, { workerId: 'second' })
    expect(second).toMatchObject({ taskId: first.taskId, retryCount: 0, pollCount: 2, workerId: 'second' })
    expect(second.startTimeMs).toBe(first.startTimeMs)
  },

  'CO-13 a failure is followed by a new attempt under a new id, which is told why': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'], { retryCount: 1 })
    const workflowId = await stage.start(workflow)
    const first = await stage.claim(taskType)
    await stage.post(first, {
      status: 'FAILED',
      reasonForIncompletion: 'the disk is full',
      output: { part: 1 },
    })
    const second = await stage.claim(taskType)
    expect(second.taskId).not.toBe(first.taskId)
    expect(second).toMatchObject({
      retryCount: 1,
      pollCount: 1,
      seq: 2,
      output: {},
      reasonForIncompletion: 'the disk is full',
    })
    expect(await stage.read(first)).toMatchObject({ status: 'FAILED', isRetried: true, output: { part: 1 } })
    await stage.post(second, { status: 'FAILED', output: { last: true } })
    expect(await stage.control.readWorkflow(workflowId)).toMatchObject({
      status: 'FAILED',
      output: { last: true },
    })
    expect(await stage.read(second)).toMatchObject({ status: 'FAILED', isRetried: false })
  },

  'CO-14 a failure for good is not tried again': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const workflowId = await stage.start(workflow)
    const task = await stage.claim(taskType)
    await stage.post(task, { status: 'FAILED_WITH_TERMINAL_ERROR', reasonForIncompletion: 'bad input' })
    expect(await stage.status(workflowId)).toBe('FAILED')
    expect(await stage.attempts(workflowId, 'a')).toHaveLength(1)
  },

  'CO-15 a retry waits for its delay': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'], { retryDelaySeconds: 2 })
    const workflowId = await stage.start(workflow)
    await stage.post(await stage.claim(taskType), { status: 'FAILED' })
    expect(await stage.attempts(workflowId, 'a')).toMatchObject([{}, { status: 'SCHEDULED', retryCount: 1 }])
    expect(await stage.poll(taskType)).toEqual([])
    expect(await stage.claim(taskType)).toMatchObject({ retryCount: 1 })
  },

  'CO-16 five hundred characters of a reason are kept': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    await stage.start(workflow)
    const task = await stage.claim(taskType)
    await stage.post(task, { status: 'FAILED', reasonForIncompletion: 'r'.repeat(600) })
    expect((await stage.read(task)).reasonForIncompletion).toBe('r'.repeat(500))
  },

  'CO-17 log lines arrive as they are, with a result or alone, and for an unknown task as well': async (
    stage,
  ) => {
    const { taskType, workflow } = await stage.define(['a'])
    await stage.start(workflow)
    const task = await stage.claim(taskType)
    await stage.queue.appendLog(task.taskId, 'alone: "quoted" €')
    await stage.queue.appendLog(NOBODY, 'for nobody')
    await stage.post(task, { logs: ['with the result 1', 'with the result 2'] })
    const lines = await stage.until(
      () => stage.control.readLogs(task.taskId),
      (found) => found.length >= 3,
      20_000,
    )
    expect([...lines].sort()).toEqual(['alone: "quoted" €', 'with the result 1', 'with the result 2'])
  },

  'CO-18 an output the next task could not read is refused, and the task stays as it is': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const workflowId = await stage.start(workflow)
    const task = await stage.claim(taskType)
    const frame = JSON.stringify({ big: '' }).length
    const fitting = 'x'.repeat(CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES - frame)
    await expect(stage.post(task, { output: { big: `${fitting}x` } })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'conductor/payload-too-large',
    })
    expect((await stage.read(task)).status).toBe('IN_PROGRESS')
    expect(await stage.post(task, { output: { big: fitting } })).toBe(true)
    const stored = await stage.read(task)
    expect(stored.externalOutputPath).toBeUndefined()
    expect(stored.output.big).toHaveLength(fitting.length)
    expect(await stage.status(workflowId)).toBe('COMPLETED')
  },

  'CO-19 a running workflow keeps the definitions it started with': async (stage) => {
    const { taskType, workflow } = await stage.define(['a', 'b'])
    const workflowId = await stage.start(workflow)
    await stage.control.registerTask({ name: taskType, retryCount: 0, responseTimeoutSeconds: 77 })
    await stage.control.registerWorkflow({
      name: workflow,
      version: 1,
      tasks: [{ name: taskType, taskReferenceName: 'a' }],
    })
    await stage.post(await stage.claim(taskType))
    expect(await stage.attempts(workflowId, 'b')).toMatchObject([{ responseTimeoutSeconds: 600 }])
  },

  'CO-20 completed twice: the second completion is answered and does not count': async (stage) => {
    const { taskType, workflow } = await stage.define(['a', 'b'])
    await stage.start(workflow)
    const task = await stage.claim(taskType)
    await stage.post(task, { output: { first: true } })
    const { before, answers, after } = await stage.comeBackLate(task)
    expect(answers).toEqual(COUNTED)
    expect(before).toMatchObject({ status: 'COMPLETED', output: { first: true } })
    expect(after).toEqual(before)
    expect(await stage.post(task, { status: 'FAILED' })).toBe(true)
    expect(await stage.read(task)).toEqual(before)
  },

  'CO-21 failed and retried: the late attempt is answered and harms neither record': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    await stage.start(workflow)
    const task = await stage.claim(taskType)
    await stage.post(task, { status: 'FAILED' })
    const queued = await stage.comeBackLate(task)
    expect(queued.answers).toEqual(COUNTED)
    expect(queued.before).toMatchObject({ status: 'FAILED', isRetried: true })
    expect(queued.after).toEqual(queued.before)
    const retry = await stage.claim(taskType, { workerId: 'retry' })
    expect((await stage.comeBackLate(task)).after).toEqual(queued.before)
    expect(await stage.read(retry)).toMatchObject({ status: 'IN_PROGRESS', workerId: 'retry', output: {} })
  },

  'CO-22 a lease that ran out is noticed: the attempt times out, and the retry is unharmed by the late one':
    async (stage) => {
      const { taskType, workflow } = await stage.define(['a'], { responseTimeoutSeconds: 1 })
      const workflowId = await stage.start(workflow)
      const task = await stage.claim(taskType)
      await stage.until(
        () => stage.read(task),
        ({ status }) => status === 'TIMED_OUT',
        30_000,
      )
      const { before, answers, after } = await stage.comeBackLate(task)
      expect(answers).toEqual(COUNTED)
      expect(before).toMatchObject({ status: 'TIMED_OUT', isRetried: true })
      expect(after).toEqual(before)
      expect(await stage.attempts(workflowId, 'a')).toMatchObject([
        { taskId: task.taskId },
        { retryCount: 1 },
      ])
      expect(await stage.status(workflowId)).toBe('RUNNING')
    },

  'CO-23 past its deadline and not yet noticed an attempt still counts': async (stage) => {
    const { taskType, workflow } = await stage.define(['a', 'b'], { responseTimeoutSeconds: 1 })
    const workflowId = await stage.start(workflow)
    const task = await stage.claim(taskType)
    // While a workflow is paused nobody looks at its deadlines.
    await stage.control.pause(workflowId)
    await stage.scene.pass(2_000)
    const { before, answers, after } = await stage.comeBackLate(task)
    expect(before?.status).toBe('IN_PROGRESS')
    expect(answers).toEqual(COUNTED)
    expect(after).toMatchObject({ status: 'COMPLETED', output: { late: true } })
    await stage.control.resume(workflowId)
    expect(await stage.attempts(workflowId, 'b')).toHaveLength(1)
  },

  'CO-24 terminated: the attempt is cancelled, and what comes late is answered and does not count': async (
    stage,
  ) => {
    const { taskType, workflow } = await stage.define(['a'])
    const workflowId = await stage.start(workflow)
    const task = await stage.claim(taskType)
    await stage.control.terminate(workflowId, { reason: 'enough' })
    expect(await stage.status(workflowId)).toBe('TERMINATED')
    const { before, answers, after } = await stage.comeBackLate(task)
    expect(answers).toEqual(COUNTED)
    expect(before).toMatchObject({ status: 'CANCELED', isRetried: false })
    expect(after).toEqual(before)
  },

  'CO-25 terminated and retried: a second attempt stands beside the cancelled one': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'], { retryCount: 0 })
    const workflowId = await stage.start(workflow)
    const task = await stage.claim(taskType)
    await stage.control.terminate(workflowId)
    await stage.control.retry(workflowId)
    expect(await stage.status(workflowId)).toBe('RUNNING')
    const retry = await stage.claim(taskType, { workerId: 'retry' })
    expect(retry).toMatchObject({ retryCount: 1 })
    expect(retry.taskId).not.toBe(task.taskId)
    const { before, answers, after } = await stage.comeBackLate(task)
    expect(answers).toEqual(COUNTED)
    expect(before).toMatchObject({ status: 'CANCELED', isRetried: true })
    expect(after).toEqual(before)
    expect((await stage.read(retry)).status).toBe('IN_PROGRESS')
  },

  'CO-26 paused: the attempt counts, tasks are handed out, and nothing new is scheduled until it is resumed':
    async (stage) => {
      const { taskType, workflow } = await stage.define(['a', 'b'])
      const workflowId = await stage.start(workflow)
      await stage.control.pause(workflowId)
      expect(await stage.status(workflowId)).toBe('PAUSED')
      const task = await stage.claim(taskType)
      const { answers, after } = await stage.comeBackLate(task)
      expect(answers).toEqual(COUNTED)
      expect(after).toMatchObject({ status: 'COMPLETED', output: { late: true } })
      expect(await stage.poll(taskType)).toEqual([])
      await stage.control.resume(workflowId)
      expect(await stage.claim(taskType)).toMatchObject({ referenceTaskName: 'b' })
    },

  'CO-27 restarted: the attempt is gone, and the workflow begins again under its id': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const workflowId = await stage.start(workflow, { input: { k: 1 } })
    const task = await stage.claim(taskType)
    await stage.control.terminate(workflowId)
    await stage.control.restart(workflowId)
    expect(await stage.comeBackLate(task)).toEqual({ before: undefined, answers: GONE, after: undefined })
    expect(await stage.control.readWorkflow(workflowId)).toMatchObject({ status: 'RUNNING', input: { k: 1 } })
    const fresh = await stage.claim(taskType)
    expect(fresh).toMatchObject({ workflowId, retryCount: 0, pollCount: 1, seq: 1 })
    expect(fresh.taskId).not.toBe(task.taskId)
  },

  'CO-28 removed: attempt and workflow are gone': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const workflowId = await stage.start(workflow)
    const task = await stage.claim(taskType)
    await stage.control.remove(workflowId)
    expect(await stage.comeBackLate(task)).toEqual({ before: undefined, answers: GONE, after: undefined })
    expect(await stage.status(workflowId)).toBeUndefined()
  },

  'CO-29 run again from the attempt: the same id and counts, and the old worker completes it for the new one':
    async (stage) => {
      const { taskType, workflow } = await stage.define(['a', 'b'])
      const workflowId = await stage.start(workflow)
      const task = await stage.claim(taskType, { workerId: 'old' })
      await stage.control.terminate(workflowId)
      await stage.scene.pass(50)
      await stage.control.rerun(workflowId, { fromTaskId: task.taskId })
      expect(await stage.read(task)).toMatchObject({
        status: 'SCHEDULED',
        workerId: 'old',
        pollCount: 0,
        startTimeMs: 0,
      })
      const again = await stage.claim(taskType, { workerId: 'new' })
      const { taskId, retryCount, pollCount, seq } = task
      expect(again).toMatchObject({ taskId, retryCount, pollCount, seq, workerId: 'new' })
      expect(again.startTimeMs).toBeGreaterThan(task.startTimeMs)
      expect(await stage.post(task, { output: { from: 'old' } })).toBe(true)
      expect(await stage.read(task)).toMatchObject({
        status: 'COMPLETED',
        workerId: 'old',
        output: { from: 'old' },
      })
      expect(await stage.attempts(workflowId, 'b')).toHaveLength(1)
    },

  'CO-30 run again from an earlier task: what came later is gone': async (stage) => {
    const { taskType, workflow } = await stage.define(['a', 'b'])
    const workflowId = await stage.start(workflow)
    const a = await stage.claim(taskType)
    await stage.post(a)
    const b = await stage.claim(taskType)
    await stage.control.terminate(workflowId)
    await stage.control.rerun(workflowId, { fromTaskId: a.taskId, taskInput: { given: true } })
    expect(await stage.comeBackLate(b)).toEqual({ before: undefined, answers: GONE, after: undefined })
    expect(await stage.claim(taskType)).toMatchObject({
      taskId: a.taskId,
      input: { given: true },
      output: {},
    })
  },

  'CO-31 handed back and claimed by another: the first worker still counts, and takes the name over': async (
    stage,
  ) => {
    const { taskType, workflow } = await stage.define(['a'])
    await stage.start(workflow)
    const first = await stage.claim(taskType, { workerId: 'first' })
    await stage.post(first, { status: 'IN_PROGRESS' })
    const second = await stage.claim(taskType, { workerId: 'second' })
    expect(second).toMatchObject({ taskId: first.taskId, pollCount: 2, workerId: 'second' })
    const { before, answers, after } = await stage.comeBackLate(first)
    expect(before).toMatchObject({ status: 'IN_PROGRESS', workerId: 'second' })
    expect(answers).toEqual(COUNTED)
    expect(after).toMatchObject({ status: 'COMPLETED', workerId: 'first', output: { late: true } })
  },

  'CO-32 put into the queue once more by an operator: two workers hold one id': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    await stage.start(workflow)
    const first = await stage.claim(taskType, { workerId: 'first' })
    await stage.control.requeue(taskType)
    const second = await stage.claim(taskType, { workerId: 'second' })
    const { taskId, startTimeMs } = first
    expect(second).toMatchObject({
      taskId,
      startTimeMs,
      pollCount: 2,
      status: 'IN_PROGRESS',
      workerId: 'second',
    })
    const { answers, after } = await stage.comeBackLate(first)
    expect(answers).toEqual(COUNTED)
    expect(after).toMatchObject({ status: 'COMPLETED', workerId: 'first' })
  },

  'CO-33 skipped: never handed out, and an update does not count': async (stage) => {
    const { taskType, workflow } = await stage.define(['a', 'b', 'c'])
    const workflowId = await stage.start(workflow)
    await stage.control.skip(workflowId, 'b')
    const [skipped] = await stage.attempts(workflowId, 'b')
    expect(skipped).toMatchObject({ status: 'SKIPPED', pollCount: 0, startTimeMs: 0 })
    const { before, answers, after } = await stage.comeBackLate(skipped!)
    expect(answers).toEqual(COUNTED)
    expect(after).toEqual(before)
    await stage.post(await stage.claim(taskType))
    expect(await stage.claim(taskType)).toMatchObject({ referenceTaskName: 'c' })
  },

  'CO-34 under the id of another workflow a task ends, and its own does not go on until it is looked at':
    async (stage) => {
      const { taskType, workflow } = await stage.define(['a', 'b'])
      const workflowId = await stage.start(workflow)
      const task = await stage.claim(taskType)
      const otherId = await stage.start(workflow)
      expect(await stage.post({ ...task, workflowId: otherId }, { output: { x: 1 } })).toBe(true)
      expect(await stage.read(task)).toMatchObject({ status: 'COMPLETED', output: { x: 1 } })
      expect(await stage.attempts(workflowId, 'b')).toEqual([])
      await stage.control.decide(workflowId)
      expect(await stage.attempts(workflowId, 'b')).toHaveLength(1)
    },

  'CO-35 no more tasks are in progress than the definition allows': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'], { concurrentExecLimit: 1 })
    await stage.start(workflow)
    // Scheduled within the same second, the real server may turn the first poll away.
    await stage.scene.pass(1_500)
    await stage.start(workflow)
    const first = await stage.claim(taskType)
    expect(await stage.poll(taskType)).toEqual([])
    await stage.post(first)
    expect((await stage.claim(taskType)).taskId).not.toBe(first.taskId)
  },

  'CO-36 an operator is refused what the state of the workflow does not allow': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const workflowId = await stage.start(workflow)
    const refused = { kind: 'refused' }
    await expect(stage.control.resume(workflowId)).rejects.toMatchObject(refused)
    await expect(stage.control.restart(workflowId)).rejects.toMatchObject(refused)
    await expect(stage.control.rerun(workflowId)).rejects.toMatchObject(refused)
    await stage.control.pause(workflowId)
    await stage.control.pause(workflowId)
    await expect(stage.control.restart(workflowId)).rejects.toMatchObject(refused)
    await stage.control.resume(workflowId)
    await expect(stage.control.skip(workflowId, 'a')).rejects.toMatchObject(refused)
    await stage.post(await stage.claim(taskType))
    await expect(stage.control.retry(workflowId)).rejects.toMatchObject(refused)
    await expect(stage.control.terminate(workflowId)).rejects.toMatchObject(refused)
    await expect(stage.control.pause(workflowId)).rejects.toMatchObject(refused)
    await expect(stage.control.restart(NOWHERE)).rejects.toMatchObject({ kind: 'missing' })
  },

  'CO-37 a signal ends a waiting poll, and the task stays for others': async (stage) => {
    const { taskType, workflow } = await stage.define(['a'])
    const giveUp = new AbortController()
    const poll = stage.queue.poll(
      { taskType, workerId: 'gone', count: 1, waitMs: 5_000 },
      { signal: giveUp.signal },
    )
    const outcome = expect(poll).rejects.toThrow()
    await stage.scene.pass(50)
    giveUp.abort(new Error('enough'))
    await outcome
    // A real server does not notice at once, and may hand a task to whoever has left: the bound of that wait is over first.
    await stage.scene.pass(5_100)
    await stage.start(workflow)
    expect(await stage.claim(taskType, { workerId: 'here' })).toMatchObject({
      workerId: 'here',
      pollCount: 1,
    })
  },

  'CO-38 workflows that run or are paused are listed with input and steps, and none that has ended': async (
    stage,
  ) => {
    const { taskType, workflow } = await stage.define(['a'])
    const input = { workspace: { repository: 'r', branch: stage.name('b') }, deep: [{ n: null }] }
    const [runs, paused, ends] = [
      await stage.start(workflow, { input }),
      await stage.start(workflow, { input }),
      await stage.start(workflow, { input }),
    ]
    await stage.control.pause(paused)
    await stage.control.terminate(ends)
    const { workflows, isWhole } = await stage.queue.readOpenWorkflows(5_000)
    expect(isWhole).toBe(true)
    const mine = workflows.filter(({ name }) => name === workflow)
    expect(mine.map(({ workflowId }) => workflowId).sort()).toEqual([runs, paused].sort())
    for (const found of mine) {
      expect(found).toMatchObject({ input, parentId: undefined })
      expect(found.steps).toMatchObject([{ name: taskType, taskReferenceName: 'a' }])
      expect(found.startTimeMs).toBeGreaterThan(0)
    }
    const some = await stage.queue.readOpenWorkflows(1)
    expect([some.workflows.length, some.isWhole]).toEqual([1, false])
  },
}

export function taskQueueConformance(
  name: string,
  options: {
    readonly open: (context: TestContext) => Promise<QueueScene>
    /** Title → the reason, shown in the report. */
    readonly skip?: Readonly<Record<string, string>>
    readonly timeoutMs?: number
  },
): void {
  describe(`${name} is a task queue`, () => {
    let stage: Stage | undefined
    beforeEach(async (context) => {
      stage = new Stage(await options.open(context))
    })
    afterEach(async () => {
      for (const workflowId of stage?.started ?? [])
        await stage?.control.remove(workflowId).catch(() => undefined)
      await stage?.scene.close()
      stage = undefined
    })
    for (const [title, run] of Object.entries(CASES)) {
      const reason = options.skip?.[title]
      // Without the promise's id at its head: what this implementation cannot have does not leave a promise unproven.
      const heading = reason === undefined ? title : `cannot have ${title}`
      test(heading, { timeout: options.timeoutMs ?? 90_000 }, async (context) => {
        if (reason !== undefined) context.skip(reason)
        await run(stage!)
      })
    }
  })
}
