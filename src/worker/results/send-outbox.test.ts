// Goal: a result that could not be delivered is sent again until it is known what became of it, soon, and not in silence.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { keepingLogger, recordOf } from '../../../test/support/worker/world.ts'
import { InvalidError, UnavailableError, UncertainError } from '../../base/errors.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { OUTBOX_LATE_MS } from '../limits.ts'
import type { Outbox, OutboxItem } from './outbox.ts'
import { sendOutbox, type OutboxNotice, type OutboxSender } from './send-outbox.ts'
import type { TaskQueue, TaskRecord, TaskResult } from '../ports.ts'

const STEP_MS = 100

const { taskId, workflowId, workerId } = recordOf()
const result: TaskResult = { taskId, workflowId, workerId, status: 'COMPLETED', output: { result: 1 } }

/** A queue of one task that answers as it is told, and an outbox that is sent to it. */
class World {
  readonly clock = new ManualClock()
  readonly notices: OutboxNotice[] = []
  readonly posted: TaskResult[] = []
  readonly readAtMs: number[] = []
  readonly log = keepingLogger()
  task: TaskRecord = recordOf()
  onRead: Error | undefined
  onPost: Error | undefined
  readonly #items: OutboxItem[] = []
  readonly #closed = new AbortController()
  /** What became of the results that were put; `undefined` while one waits. */
  readonly ends: (string | undefined)[] = []

  put(): void {
    const at = this.ends.push(undefined) - 1
    const end = (how: string) => (): Promise<void> => {
      this.ends[at] = how
      return Promise.resolve()
    }
    const writtenAt = this.clock.now().toISOString()
    const steps = { settle: end('settled'), refuse: end('refused'), release: () => undefined }
    this.#items.push({ attempt: recordOf(), result, writtenAt, ...steps })
  }

  send(): OutboxSender {
    const queue: Pick<TaskQueue, 'readTask' | 'postResult'> = {
      readTask: () => {
        this.readAtMs.push(this.clock.monotonicMs())
        return this.onRead === undefined ? Promise.resolve(this.task) : Promise.reject(this.onRead)
      },
      postResult: (posted) => {
        this.posted.push(posted)
        if (this.onPost !== undefined) return Promise.reject(this.onPost)
        this.task = { ...this.task, status: 'COMPLETED' }
        return Promise.resolve(true)
      },
    }
    const sender = sendOutbox({
      queue: queue as TaskQueue,
      outbox: { pending: () => Promise.resolve(this.#waiting()) } as Outbox,
      clock: this.clock,
      logger: this.log.logger,
      signal: this.#closed.signal,
      observe: (notice) => this.notices.push(notice),
    })
    onTestFinished(async () => {
      this.#closed.abort()
      await sender.ended
    })
    return sender
  }

  #waiting(): readonly OutboxItem[] {
    return this.#items.filter((_, at) => this.ends[at] === undefined)
  }

  /** In steps, with time for what each of them wakes. */
  async pass(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
      await turn()
      await this.clock.advance(STEP_MS)
    }
    await turn()
  }
}

function openWorld(): World {
  const world = new World()
  world.put()
  return world
}

test.each<[string, Error]>([
  ['a proxy answers', new InvalidError('conductor/not-conductor', 'a page')],
  ['the database is away', new UnavailableError('conductor/server-trouble', '500')],
])(
  'WK-214 %s for hours: the result is kept, told, and delivered once when that is over',
  async (_, error) => {
    const world = openWorld()
    world.onRead = error
    const sender = world.send()
    await world.pass(3 * OUTBOX_LATE_MS)
    expect(world.ends).toEqual([undefined])
    expect(world.notices.at(-1)).toMatchObject({ waiting: 1 })
    expect(world.notices.at(-1)?.oldestMs).toBeGreaterThan(2 * OUTBOX_LATE_MS)
    expect(sender.oldestAtMs).toBe(0)
    expect(world.log.lines).toContain('results wait because the task queue does not take them')
    world.onRead = undefined
    await world.pass(20_000)
    expect(world.posted).toEqual([result])
    expect(world.ends).toEqual(['settled'])
    expect([world.notices.at(-1), sender.oldestAtMs]).toEqual([{ waiting: 0, oldestMs: 0 }, undefined])
  },
)

test('WK-214 the pauses double from a second to the time between two looks, and a kept result begins anew', async () => {
  const world = openWorld()
  world.onRead = new UnavailableError('conductor/unreachable', 'no connection')
  const sender = world.send()
  await world.pass(60_000)
  // The second reading of a pass follows the first after a short wait.
  const passes = world.readAtMs.filter((_, index) => index % 2 === 0)
  const pauses = passes.slice(1).map((atMs, index) => Math.round((atMs - (passes[index] ?? 0)) / 1_000))
  expect(pauses.slice(0, 6)).toEqual([1, 2, 4, 8, 15, 15])
  const before = world.readAtMs.length
  sender.wake()
  await world.pass(1_500)
  expect(world.readAtMs.length - before).toBe(4)
})

test('WK-214 what a post was answered by another server is sent again after a reading, never to another attempt', async () => {
  const world = openWorld()
  world.onPost = new UncertainError('conductor/not-conductor', 'a 413 of a proxy', { read: 'the task' })
  world.send()
  await world.pass(4_000)
  expect(world.posted.length).toBeGreaterThan(1)
  expect(world.readAtMs.length).toBeGreaterThanOrEqual(2 * world.posted.length)
  world.task = recordOf({ startTimeMs: 7, workerId: 'other' })
  world.onPost = undefined
  const posts = world.posted.length
  await world.pass(20_000)
  expect(world.posted).toHaveLength(posts)
  expect(world.task.status).toBe('IN_PROGRESS')
  // It was published, so it is kept for an operator.
  expect(world.ends).toEqual(['refused'])
})
