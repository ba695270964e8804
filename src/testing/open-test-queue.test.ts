import { describe, expect, test } from 'vitest'
import type { TaskQueue, TaskRecord, WorkflowId } from '../worker/ports.ts'
import { ManualClock } from './manual-clock.ts'
import type { TestTaskDef, TestWorkflowDef } from '../engine/protocol/definitions.ts'
import { openTestQueue, type TestQueue, type TestQueueOptions } from './open-test-queue.ts'

interface Started {
  readonly clock: ManualClock
  readonly queue: TestQueue
  readonly workflowId: WorkflowId
  readonly claim: (workerId?: string) => Promise<TaskRecord>
  readonly post: (task: TaskRecord, status?: 'COMPLETED' | 'FAILED') => Promise<boolean>
}

/** A workflow of the tasks `a` and `b`, started. */
async function start(
  def: Partial<TestTaskDef> = {},
  options: TestQueueOptions & { readonly workflow?: Partial<TestWorkflowDef> } = {},
): Promise<Started> {
  const clock = new ManualClock()
  const queue = openTestQueue({ clock, ...options })
  await queue.registerTask({
    name: 't',
    retryCount: 1,
    retryDelaySeconds: 0,
    responseTimeoutSeconds: 60,
    ...def,
  })
  const tasks = ['a', 'b'].map((taskReferenceName) => ({ name: 't', taskReferenceName }))
  await queue.registerWorkflow({ name: 'w', tasks, ...options.workflow })
  const workflowId = await queue.start({ name: 'w' })
  return {
    clock,
    queue,
    workflowId,
    claim: async (workerId = 'worker') => {
      const [task] = await queue.poll({ taskType: 't', workerId, count: 1, waitMs: 0 })
      if (task === undefined) throw new Error('nothing to claim')
      return task
    },
    post: ({ taskId, workerId }, status = 'COMPLETED') =>
      queue.postResult({ taskId, workflowId, workerId, status, output: { of: workerId } }),
  }
}

async function statusOf(queue: TaskQueue, task: TaskRecord): Promise<string | undefined> {
  return (await queue.readTask(task.taskId))?.status
}

describe('time limits', () => {
  test('CO-40 a lease ends exactly at its deadline, and each renewal moves it', async () => {
    const { clock, queue, claim } = await start()
    const task = await claim()
    await clock.advance(59_999)
    await queue.renewLease(task)
    await clock.advance(59_999)
    expect(await statusOf(queue, task)).toBe('IN_PROGRESS')
    await clock.advance(1)
    expect(await queue.readTask(task.taskId)).toMatchObject({
      status: 'TIMED_OUT',
      isRetried: true,
      updateTimeMs: clock.now().getTime(),
    })
  })

  test('CO-40 without retries left a lost lease ends the workflow, whatever the timeout policy says', async () => {
    const { clock, queue, workflowId, claim } = await start({ retryCount: 0, timeoutPolicy: 'ALERT_ONLY' })
    await claim()
    await clock.advance(60_000)
    expect(await queue.readWorkflowStatus(workflowId)).toBe('TIMED_OUT')
  })

  test.each([
    ['RETRY', 'TIMED_OUT', 'RUNNING', 2],
    ['TIME_OUT_WF', 'TIMED_OUT', 'TIMED_OUT', 1],
    ['ALERT_ONLY', 'IN_PROGRESS', 'RUNNING', 1],
  ] as const)(
    'CO-41 past timeoutSeconds, which renewals do not move, policy %s leaves the task %s and the workflow %s',
    async (timeoutPolicy, taskStatus, workflowStatus, attempts) => {
      const { clock, queue, workflowId, claim } = await start({ timeoutSeconds: 90, timeoutPolicy })
      const task = await claim()
      for (let renewals = 0; renewals < 3; renewals += 1) {
        await clock.advance(30_000)
        await queue.renewLease(task)
      }
      expect(await statusOf(queue, task)).toBe(taskStatus)
      expect(await queue.readWorkflow(workflowId)).toMatchObject({ status: workflowStatus })
      expect((await queue.readWorkflow(workflowId))?.tasks).toHaveLength(attempts)
    },
  )

  test('CO-42 a workflow past its own limit times out and cancels what is open, if its policy says so', async () => {
    const limited = { timeoutSeconds: 10, timeoutPolicy: 'TIME_OUT_WF' } as const
    const { clock, queue, workflowId, claim } = await start({}, { workflow: limited })
    const task = await claim()
    await clock.advance(10_000)
    expect(await queue.readWorkflowStatus(workflowId)).toBe('TIMED_OUT')
    expect(await statusOf(queue, task)).toBe('CANCELED')
    await queue.retry(workflowId)
    expect(await queue.readWorkflowStatus(workflowId)).toBe('RUNNING')
  })

  test('CO-43 what is due while nobody asks is done in order, each at its time', async () => {
    const { clock, queue, claim, workflowId } = await start({ retryDelaySeconds: 5 })
    await claim('first')
    await clock.advance(64_000)
    expect(await queue.poll({ taskType: 't', workerId: 'early', count: 1, waitMs: 0 })).toEqual([])
    await clock.advance(1_000)
    const second = await claim('second')
    expect(second).toMatchObject({ retryCount: 1, workflowId })
    expect(second.scheduledTimeMs - (await queue.readWorkflow(workflowId))!.tasks[0]!.startTimeMs).toBe(
      60_000,
    )
  })

  test('CO-44 a poll that waits wakes up for a retry that becomes due', async () => {
    const { clock, queue, claim, post } = await start({ retryDelaySeconds: 3 })
    await post(await claim(), 'FAILED')
    const startedMs = clock.monotonicMs()
    const [task] = await clock.run(queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 5_000 }))
    expect(task).toMatchObject({ retryCount: 1 })
    expect(clock.monotonicMs() - startedMs).toBe(3_000)
    expect(clock.sleeping).toBe(0)
  })
})

describe('what the real server does worse', () => {
  test('CO-45 with a late sweeper an attempt past its deadline counts until the sweeper comes by', async () => {
    const late = { deficiencies: { sweepLagMs: 70_000 } }
    const { clock, queue, claim, post } = await start({}, late)
    const task = await claim()
    await clock.advance(129_999)
    expect(await statusOf(queue, task)).toBe('IN_PROGRESS')
    await clock.advance(1)
    expect(await statusOf(queue, task)).toBe('TIMED_OUT')
    const other = await start({}, late)
    const inTime = await other.claim()
    await other.clock.advance(100_000)
    await other.post(inTime)
    expect(await statusOf(other.queue, inTime)).toBe('COMPLETED')
    expect(await post(task)).toBe(true)
    expect(await statusOf(queue, task)).toBe('TIMED_OUT')
  })

  test('CO-45 somebody else who looks at the workflow notices at once', async () => {
    const { clock, queue, claim, workflowId } = await start({}, { deficiencies: { sweepLagMs: 70_000 } })
    const task = await claim()
    await clock.advance(60_000)
    await queue.decide(workflowId)
    expect(await statusOf(queue, task)).toBe('TIMED_OUT')
  })

  test('CO-46 a renewal in flight undoes a completion, and the task runs a second time', async () => {
    const { clock, queue, claim, post, workflowId } = await start(
      {},
      { deficiencies: { renewalWritesAfterMs: 40 } },
    )
    const task = await claim()
    const renewal = queue.renewLease(task)
    expect(await post(task)).toBe(true)
    expect(await statusOf(queue, task)).toBe('COMPLETED')
    expect(await clock.run(renewal)).toBe(true)
    expect(await queue.readTask(task.taskId)).toMatchObject({ status: 'IN_PROGRESS', output: {} })
    // The next task was scheduled long ago, and is done, and still the workflow waits for the first.
    const next = await claim('next')
    expect(next).toMatchObject({ referenceTaskName: 'b' })
    await post(next)
    expect(await queue.readWorkflowStatus(workflowId)).toBe('RUNNING')
    await clock.advance(60_000)
    const again = await claim('again')
    expect(again).toMatchObject({ referenceTaskName: 'a', retryCount: 1 })
    await post(again)
    expect(await queue.readWorkflowStatus(workflowId)).toBe('COMPLETED')
  })

  test('CO-46 posted again after it was undone, the completion counts', async () => {
    const { clock, queue, claim, post } = await start({}, { deficiencies: { renewalWritesAfterMs: 40 } })
    const task = await claim()
    const renewal = queue.renewLease(task)
    await post(task)
    await clock.run(renewal)
    await post(task)
    expect(await statusOf(queue, task)).toBe('COMPLETED')
  })

  test('CO-47 a termination that raced with a completion leaves a task that is handed out and cannot end', async () => {
    const { queue, claim, post, workflowId } = await start()
    await post(await claim())
    await queue.terminate(workflowId, { leavesScheduled: true })
    const zombie = await claim('zombie')
    expect(zombie.referenceTaskName).toBe('b')
    expect(await queue.readWorkflowStatus(workflowId)).toBe('TERMINATED')
    expect(await post(zombie)).toBe(true)
    expect(await queue.renewLease(zombie)).toBe(true)
    expect(await queue.readTask(zombie.taskId)).toMatchObject({ status: 'IN_PROGRESS', output: {} })
  })

  test('CO-48 a poll that was given up claims for nobody what comes in its time', async () => {
    const { clock, queue, claim, post } = await start({}, { deficiencies: { abandonedPollsClaim: true } })
    const task = await claim()
    const giveUp = new AbortController()
    const request = { taskType: 't', workerId: 'gone', count: 1, waitMs: 1_000 }
    const poll = queue.poll(request, { signal: giveUp.signal })
    const outcome = expect(poll).rejects.toThrow('enough')
    // The poll has arrived and waits.
    await clock.advance(1)
    giveUp.abort(new Error('enough'))
    await outcome
    await post(task)
    await clock.advance(1)
    expect(await queue.poll({ ...request, workerId: 'here', waitMs: 0 })).toEqual([])
    const [lost] = (await queue.readWorkflow(task.workflowId))!.tasks.slice(-1)
    expect(lost).toMatchObject({ referenceTaskName: 'b', status: 'IN_PROGRESS', workerId: 'gone' })
  })
})

describe('the way between worker and queue', () => {
  test('CO-49 a request may get lost before it arrives, and an answer after it counted', async () => {
    const lost = { request: false, answer: false }
    const link = {
      onRequest: () => {
        if (lost.request) throw new Error('not arrived')
      },
      onAnswer: () => {
        if (lost.answer) throw new Error('answer lost')
      },
    }
    const { queue, claim, post, workflowId } = await start({}, { link })
    const task = await claim()
    lost.request = true
    await expect(post(task)).rejects.toThrow('not arrived')
    lost.request = false
    expect(await statusOf(queue, task)).toBe('IN_PROGRESS')
    lost.answer = true
    await expect(post(task)).rejects.toThrow('answer lost')
    expect((await queue.readWorkflow(workflowId))?.tasks[0]?.status).toBe('COMPLETED')
  })
})

describe('definitions', () => {
  test.each([
    ['FIXED', {}, [2, 2, 2]],
    ['EXPONENTIAL_BACKOFF', {}, [2, 4, 8]],
    ['EXPONENTIAL_BACKOFF', { maxRetryDelaySeconds: 5 }, [2, 4, 5]],
    ['LINEAR_BACKOFF', { backoffScaleFactor: 3 }, [6, 12, 18]],
  ] as const)('CO-50 retry delays are %s with %o: %o seconds', async (retryLogic, more, delays) => {
    const { clock, queue, claim, post } = await start({
      retryCount: 3,
      retryDelaySeconds: 2,
      retryLogic,
      ...more,
    })
    for (const delay of delays) {
      await post(await claim(), 'FAILED')
      await clock.advance(delay * 1000 - 1)
      expect(await queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 0 })).toEqual([])
      await clock.advance(1)
    }
    expect(await claim()).toMatchObject({ retryCount: 3 })
  })

  test.each<[string, object]>([
    ['pollTimeoutSeconds', { name: 't', pollTimeoutSeconds: 1 }],
    ['responseTimeoutSeconds is below 1', { name: 't', responseTimeoutSeconds: 0 }],
    [
      'responseTimeoutSeconds is above timeoutSeconds',
      { name: 't', timeoutSeconds: 5, responseTimeoutSeconds: 6 },
    ],
    ['retryCount is below 0', { name: 't', retryCount: -1 }],
  ])('CO-51 a task definition it could not keep is refused: %s', async (why, def) => {
    await expect(openTestQueue().registerTask(def as TestTaskDef)).rejects.toThrow(why)
  })

  const task = { name: 't', taskReferenceName: 'a' }
  test.each<[string, object]>([
    ['at least one task', { name: 'w', tasks: [] }],
    ['used twice', { name: 'w', tasks: [task, task] }],
    ['tasks of type HTTP are not supported', { name: 'w', tasks: [{ ...task, type: 'HTTP' }] }],
    ['does not support permissive', { name: 'w', tasks: [{ ...task, permissive: true }] }],
    ['names "ghost"', { name: 'w', tasks: [{ ...task, inputParameters: { x: '${ghost.output.y}' } }] }],
  ])('CO-51 a workflow definition it could not keep is refused: %s', async (why, def) => {
    await expect(openTestQueue().registerWorkflow(def as TestWorkflowDef)).rejects.toThrow(why)
  })

  test('CO-52 without a task definition the defaults of the server hold', async () => {
    const queue = openTestQueue({ clock: new ManualClock() })
    await queue.registerWorkflow({ name: 'w', tasks: [{ name: 'undefined_t', taskReferenceName: 'a' }] })
    const workflowId = await queue.start({ name: 'w' })
    expect((await queue.readWorkflow(workflowId))?.tasks).toMatchObject([{ responseTimeoutSeconds: 3600 }])
  })

  test('CO-52 templates fill what the input lacks', async () => {
    const { queue } = await start({ inputTemplate: { x: 'from the template', y: 2 } })
    await queue.registerWorkflow({
      name: 'filled',
      inputTemplate: { given: 'default', other: 'default' },
      tasks: [
        {
          name: 't',
          taskReferenceName: 'a',
          inputParameters: { x: '${workflow.input.none}', z: '${workflow.input.given}' },
        },
      ],
    })
    const workflowId = await queue.start({ name: 'filled', input: { given: 'by hand' } })
    const workflow = await queue.readWorkflow(workflowId)
    expect(workflow?.input).toEqual({ given: 'by hand', other: 'default' })
    expect(workflow?.tasks[0]?.input).toEqual({ x: 'from the template', y: 2, z: 'by hand' })
  })
})
