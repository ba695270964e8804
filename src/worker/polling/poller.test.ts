// Goal: work arrives as soon as there is a place for it, no poll is cut short, and trouble is asked about less and less.
import { describe, expect, test } from 'vitest'
import { recordOf } from '../../../test/support/worker/world.ts'
import { RefusedError, UnavailableError } from '../../base/errors.ts'
import {
  POLL_AFTER_OTHER_MS,
  POLL_QUEUED_MAX_MS,
  POLL_QUICK_FIRST_MS,
  POLL_QUICK_FOR_MS,
  POLL_STOP_WAIT_MS,
  POLL_WAIT_MAX_MS,
  POLL_WAIT_MS,
  WORKER_BACKGROUND_WAIT_MS,
} from '../limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { pollForTasks } from './poller.ts'
import type { PollRequest, TaskQueue, TaskRecord } from '../ports.ts'
import { openSlots, type Slots } from './slots.ts'
import { TaskEnds } from './task-ends.ts'

interface Polled extends PollRequest {
  readonly atMs: number
}

class PollWorld {
  readonly clock = new ManualClock()
  readonly polls: Polled[] = []
  readonly begun: { readonly record: TaskRecord; readonly giveBack: () => void; readonly sinceMs: number }[] =
    []
  readonly late: TaskRecord[] = []
  readonly stopping = new AbortController()
  /** What the next polls are answered with; `undefined` afterwards: nothing, after the whole wait. */
  readonly answers: ((request: PollRequest) => Promise<readonly TaskRecord[]>)[] = []
  readonly ends = new TaskEnds(this.clock)
  findsLate = false
  inFlight = 0
  mostInFlight = 0

  start(
    slots: readonly [Slots, Slots] = [openSlots(2), openSlots(4)],
    taskType = 'orders.clean',
  ): Promise<void> {
    const queue: Pick<TaskQueue, 'poll' | 'findsLate'> = {
      findsLate: this.findsLate,
      poll: async (request, options) => {
        expect(options?.signal).toBeUndefined()
        this.polls.push({ ...request, atMs: this.clock.monotonicMs() })
        this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
        try {
          const answer = this.answers.shift()
          if (answer !== undefined) return await answer(request)
          await this.clock.sleep(request.waitMs)
          return []
        } finally {
          this.inFlight--
        }
      },
    }
    let claims = 0
    return pollForTasks({
      queue: queue as TaskQueue,
      taskType,
      slots,
      nextWorkerId: () => `${taskType}-${++claims}`,
      clock: this.clock,
      random: { next: () => 0.5 },
      logger: silentLogger,
      onTask: (record, giveBack, sinceMs) => this.begun.push({ record, giveBack, sinceMs }),
      onLateTask: (record) => {
        this.late.push(record)
        return Promise.resolve()
      },
      onPolled: () => undefined,
      ends: this.ends,
      stopping: this.stopping.signal,
    })
  }

  /** The polls that asked without a wait, by their times. */
  get quickAtMs(): readonly number[] {
    return this.polls.filter(({ waitMs }) => waitMs === 0).map(({ atMs }) => atMs)
  }

  /** Lets what was just begun come to its first wait, then moves time. */
  async pass(durationMs: number): Promise<void> {
    await this.clock.advance(0)
    await this.clock.advance(durationMs)
  }

  async stop(ended: Promise<void>): Promise<void> {
    this.stopping.abort()
    await this.clock.run(ended)
    expect(this.clock.sleeping).toBe(0)
  }
}

const claim = ({ workerId, taskType }: PollRequest): Promise<TaskRecord[]> =>
  Promise.resolve([recordOf({ workerId, taskType })])

describe('asked to stop', () => {
  test('WK-262 a poll that is not answered in its time is no longer awaited; what it brings later is handed back', async () => {
    const world = new PollWorld()
    let answer: (records: readonly TaskRecord[]) => void = () => undefined
    world.answers.push(() => new Promise((resolve) => (answer = resolve)))
    const ended = world.start()
    await world.pass(0)
    let hasEnded = false
    const told = ended.then(() => (hasEnded = true))
    world.stopping.abort()
    await world.pass(POLL_WAIT_MS + POLL_STOP_WAIT_MS - 1)
    expect(hasEnded).toBe(false)
    await world.pass(1)
    await told
    expect(world.clock.sleeping).toBe(0)
    const late = recordOf({ workerId: world.polls[0]?.workerId ?? '' })
    answer([late])
    await world.pass(0)
    expect([world.late, world.begun]).toEqual([[late], []])
  })

  test('WK-262 the longest wait of a poll is over within two seconds, also without an answer', () => {
    expect(POLL_WAIT_MAX_MS + POLL_STOP_WAIT_MS + WORKER_BACKGROUND_WAIT_MS).toBeLessThan(2_000)
  })
})

describe('polls', () => {
  test('WK-60 ask for one task, each under a worker id of its own, one at a time', async () => {
    const world = new PollWorld()
    const ended = world.start()
    await world.pass(3_000)
    expect(new Set(world.polls.map(({ count }) => count))).toEqual(new Set([1]))
    expect(new Set(world.polls.map(({ workerId }) => workerId)).size).toBe(world.polls.length)
    expect(world.mostInFlight).toBe(1)
    await world.stop(ended)
  })

  test('WK-60 are as many as there are places while tasks queue, and one again afterwards', async () => {
    const world = new PollWorld()
    const slow = async (request: PollRequest): Promise<TaskRecord[]> => {
      await world.clock.sleep(POLL_QUEUED_MAX_MS / 2)
      return claim(request)
    }
    for (let count = 0; count < 30; count++) world.answers.push(slow)
    const ended = world.start([openSlots(3), openSlots(4)])
    for (let turn = 0; turn < 30; turn++) {
      await world.pass(POLL_QUEUED_MAX_MS / 2)
      for (const { giveBack } of world.begun) giveBack()
    }
    expect(world.begun).toHaveLength(30)
    expect(world.mostInFlight).toBe(3)
    expect(new Set(world.begun.map(({ record }) => record.workerId)).size).toBe(30)
    await world.pass(POLL_WAIT_MAX_MS)
    world.mostInFlight = 0
    await world.pass(10 * POLL_WAIT_MAX_MS)
    expect(world.mostInFlight).toBe(1)
    await world.stop(ended)
  })

  test('WK-60 that bring one task after the other, each in its time, stay alone', async () => {
    const world = new PollWorld()
    const inTime = async (request: PollRequest): Promise<TaskRecord[]> => {
      await world.clock.sleep(POLL_QUEUED_MAX_MS)
      return claim(request)
    }
    for (let count = 0; count < 20; count++) world.answers.push(inTime)
    const ended = world.start([openSlots(20), openSlots(20)])
    await world.pass(21 * POLL_QUEUED_MAX_MS)
    expect(world.begun).toHaveLength(20)
    expect(world.mostInFlight).toBe(1)
    await world.stop(ended)
  })

  test('WK-61 ask the server to wait, longer while there is nothing, and shortly again after a task', async () => {
    const world = new PollWorld()
    const ended = world.start()
    await world.pass(6_000)
    const waits = world.polls.map(({ waitMs }) => waitMs)
    expect(waits.slice(0, 6)).toEqual([POLL_WAIT_MS, 200, 400, 800, POLL_WAIT_MAX_MS, POLL_WAIT_MAX_MS])
    world.answers.push(claim)
    await world.pass(POLL_WAIT_MAX_MS)
    const after = world.polls.findIndex(({ waitMs }, index) => index > 5 && waitMs === POLL_WAIT_MS)
    expect(after).toBeGreaterThan(0)
    expect(world.begun).toHaveLength(1)
    await world.stop(ended)
  })

  test('WK-61 a server that does not wait as asked is not asked again at once', async () => {
    const world = new PollWorld()
    for (let index = 0; index < 100; index++) world.answers.push(() => Promise.resolve([]))
    const ended = world.start()
    await world.pass(5_000)
    expect(world.polls.length).toBeLessThanOrEqual(10)
    await world.stop(ended)
  })

  test('WK-62 are sent only with a place for what they may bring', async () => {
    const world = new PollWorld()
    world.answers.push(claim, claim, claim)
    const ended = world.start([openSlots(2), openSlots(4)])
    await world.pass(10_000)
    expect(world.begun).toHaveLength(2)
    expect(world.polls).toHaveLength(2)
    world.begun[0]?.giveBack()
    await world.pass(0)
    expect(world.begun).toHaveLength(3)
    await world.stop(ended)
  })

  test('WK-62 types share the places of the worker in turn, and none keeps one for long', async () => {
    const world = new PollWorld()
    const shared = openSlots(1)
    const ended = ['a', 'b', 'c'].map((type) => world.start([openSlots(1), shared], type))
    await world.pass(3_000)
    const counts = ['a', 'b', 'c'].map(
      (type) => world.polls.filter(({ taskType }) => taskType === type).length,
    )
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    expect(new Set(world.polls.slice(3).map(({ waitMs }) => waitMs))).toEqual(new Set([POLL_WAIT_MS]))
    await world.stop(Promise.all(ended).then(() => undefined))
  })

  test('WK-354 say with a task when they were sent, not when they were answered', async () => {
    const world = new PollWorld()
    world.answers.push(
      () => world.clock.sleep(70).then(() => []),
      async (request) => {
        await world.clock.sleep(80)
        return claim(request)
      },
    )
    const ended = world.start()
    await world.pass(1_000)
    expect(world.begun.map(({ sinceMs }) => sinceMs)).toEqual([world.polls[1]?.atMs])
    await world.stop(ended)
  })

  test('WK-64 tasks that do not carry the name of the claim are left alone', async () => {
    const world = new PollWorld()
    world.answers.push(() => Promise.resolve([recordOf({ workerId: 'stranger' })]))
    const ended = world.start()
    await world.pass(200)
    expect(world.begun).toEqual([])
    await world.stop(ended)
    expect(world.late).toEqual([])
  })
})

describe('a server that looks for tasks only now and then', () => {
  const opened = (): PollWorld => Object.assign(new PollWorld(), { findsLate: true })

  test('WK-350 is asked without a wait after a task, ever more rarely, and soon as before', async () => {
    const world = opened()
    world.answers.push(claim)
    const ended = world.start()
    await world.pass(POLL_QUICK_FOR_MS * 2)
    const gaps = world.quickAtMs.slice(1).map((atMs, index) => atMs - (world.quickAtMs[index] ?? 0))
    expect(world.quickAtMs[0]).toBe(0)
    expect(gaps[0]).toBe(POLL_QUICK_FIRST_MS)
    expect(gaps).toEqual([...gaps].sort((one, other) => one - other))
    expect(world.quickAtMs.length).toBeLessThan(25)
    // For whoever comes at any time of the first tenth of a second, half of the pause is short.
    expect(world.quickAtMs.filter((atMs) => atMs <= 100).length).toBeGreaterThan(10)
    const quickUntil = world.polls.findLastIndex(({ waitMs }) => waitMs === 0)
    expect(world.polls[quickUntil]?.atMs).toBeLessThanOrEqual(POLL_QUICK_FOR_MS * 1.3)
    await world.pass(10_000)
    expect(world.polls.slice(quickUntil + 1, quickUntil + 4).map(({ waitMs }) => waitMs)).toEqual([
      POLL_WAIT_MS,
      2 * POLL_WAIT_MS,
      4 * POLL_WAIT_MS,
    ])
    await world.stop(ended)
  })

  test('WK-350 is asked no more often while there is nothing', async () => {
    const [late, woken] = [opened(), new PollWorld()]
    for (const world of [late, woken]) {
      const ended = world.start()
      await world.pass(60_000)
      await world.stop(ended)
    }
    expect(late.polls).toEqual(woken.polls)
  })

  test('WK-351 is asked at once when a task ends, also while a poll waits there', async () => {
    const world = opened()
    world.answers.push(claim)
    const ended = world.start()
    await world.pass(20 * POLL_QUICK_FOR_MS)
    const before = world.polls.length
    expect(world.inFlight).toBe(1)
    const nowMs = world.clock.monotonicMs()
    world.answers.push(claim)
    world.begun[0]?.giveBack()
    await world.pass(0)
    expect(world.polls[before]).toMatchObject({ waitMs: 0, atMs: nowMs })
    expect([world.mostInFlight, world.begun.length]).toEqual([2, 2])
    // A place that is given back twice has ended one task.
    await world.pass(20 * POLL_QUICK_FOR_MS)
    const later = world.polls.length
    world.begun[0]?.giveBack()
    await world.pass(0)
    expect(world.polls).toHaveLength(later)
    await world.stop(ended)
  })

  test('WK-62 WK-351 is never asked for more than there are places for', async () => {
    const world = opened()
    for (let count = 0; count < 12; count++) world.answers.push(claim)
    const slots = openSlots(3)
    const ended = world.start([slots, openSlots(3)])
    for (let turn = 0; turn < 12; turn++) {
      await world.pass(POLL_QUICK_FIRST_MS)
      expect(slots.taken).toBeLessThanOrEqual(3)
      world.begun[turn]?.giveBack()
    }
    await world.pass(0)
    expect(world.begun).toHaveLength(12)
    await world.stop(ended)
  })

  test('WK-352 that answers waiting polls at once is never asked without a wait', async () => {
    const world = new PollWorld()
    world.answers.push(claim, claim)
    const ended = world.start()
    await world.pass(POLL_QUICK_FOR_MS)
    for (const { giveBack } of world.begun) giveBack()
    await world.pass(POLL_QUICK_FOR_MS)
    expect(world.begun).toHaveLength(2)
    expect(world.quickAtMs).toEqual([])
    await world.stop(ended)
  })

  test('WK-353 is asked once for each other type when a task ends, and not again at once', async () => {
    const world = opened()
    const ended = ['a', 'b', 'c'].map((type) => world.start([openSlots(2), openSlots(8)], type))
    await world.pass(POLL_WAIT_MS)
    world.answers.push(claim)
    await world.pass(POLL_WAIT_MAX_MS)
    expect(world.begun).toHaveLength(1)
    const own = world.begun[0]?.record.taskType
    await world.pass(20 * POLL_QUICK_FOR_MS)
    const before = world.polls.length
    world.begun[0]?.giveBack()
    await world.pass(0)
    const asked = world.polls.slice(before)
    expect(asked.map(({ taskType }) => taskType).sort()).toEqual(['a', 'b', 'c'])
    expect(asked.every(({ waitMs }) => waitMs === 0)).toBe(true)
    world.ends.tellOthers(() => undefined)
    await world.pass(POLL_AFTER_OTHER_MS - 1)
    const others = world.polls
      .slice(before)
      .filter(({ taskType, waitMs }) => taskType !== own && waitMs === 0)
    expect(others).toHaveLength(2)
    await world.stop(Promise.all(ended).then(() => undefined))
  })
})

describe('task types that share one place', () => {
  test('WK-361 that has no work leaves it mostly to one that has', async () => {
    const world = Object.assign(new PollWorld(), { findsLate: true })
    const workOf = (request: PollRequest): Promise<TaskRecord[]> =>
      request.taskType === 'a' ? claim(request) : Promise.resolve([])
    world.answers.push(...Array.from({ length: 200 }, () => workOf))
    const shared = openSlots(1)
    const ended = ['a', 'b', 'c', 'd'].map((type) => world.start([openSlots(1), shared], type))
    for (let turn = 0; turn < 40; turn++) {
      await world.pass(50)
      world.begun.at(-1)?.giveBack()
    }
    const of = (type: string): number => world.polls.filter(({ taskType }) => taskType === type).length
    expect(of('a')).toBe(40)
    const others = ['b', 'c', 'd'].map(of)
    expect(Math.min(...others)).toBeGreaterThan(1)
    expect(others.reduce((sum, polls) => sum + polls)).toBeLessThan(20)
    await world.stop(Promise.all(ended).then(() => undefined))
  })

  test('WK-356 do not keep it from one another while one of them has work', async () => {
    const world = Object.assign(new PollWorld(), { findsLate: true })
    const shared = openSlots(1)
    const ended = ['a', 'b', 'c', 'd'].map((type) => world.start([openSlots(1), shared], type))
    await world.pass(5 * POLL_WAIT_MAX_MS)
    world.answers.push(claim)
    await world.pass(POLL_WAIT_MAX_MS)
    const begun = world.begun[0]
    const before = world.polls.length
    await world.pass(POLL_WAIT_MAX_MS)
    begun?.giveBack()
    await world.pass(100)
    const after = world.polls.slice(before)
    expect(after.every(({ waitMs }) => waitMs === 0)).toBe(true)
    const own = after.filter(({ taskType }) => taskType === begun?.record.taskType)
    expect(own.length).toBeGreaterThan(10)
    for (const other of ['a', 'b', 'c', 'd'])
      expect(after.filter(({ taskType }) => taskType === other).length).toBeGreaterThan(0)
    // Later they take turns as before, each for a short wait at the server.
    await world.pass(5 * POLL_QUICK_FOR_MS)
    expect(world.polls.slice(-8).map(({ waitMs }) => waitMs)).toEqual(
      Array.from({ length: 8 }, () => POLL_WAIT_MS),
    )
    await world.stop(Promise.all(ended).then(() => undefined))
  })
})

describe('trouble', () => {
  test('WK-63 the pauses double up to a limit, and one success ends them', async () => {
    const world = new PollWorld()
    const failure = (): Promise<never> => Promise.reject(new UnavailableError('conductor/unreachable', 'no'))
    for (let index = 0; index < 12; index++) world.answers.push(failure)
    const ended = world.start()
    await world.pass(200_000)
    const pauses = world.polls.slice(1, 13).map(({ atMs }, index) => atMs - (world.polls[index]?.atMs ?? 0))
    expect(pauses).toEqual([125, 250, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000, 15000, 15000])
    await world.stop(ended)
  })

  test('WK-63 the server may name the time, and refusals do not end the polling', async () => {
    const world = new PollWorld()
    world.answers.push(
      () => Promise.reject(new UnavailableError('conductor/busy', 'no', { retryAfterMs: 5_000 })),
      () => Promise.reject(new RefusedError('conductor/unauthorized', 'no')),
      claim,
    )
    const ended = world.start()
    await world.pass(6_000)
    expect(world.polls[1]?.atMs).toBeGreaterThanOrEqual(5_000)
    expect(world.begun).toHaveLength(1)
    await world.stop(ended)
  })
})

describe('stopping', () => {
  test('WK-65 a poll in flight is not cut short, and what it brings is handed back', async () => {
    const world = new PollWorld()
    world.answers.push(async (request) => {
      await world.clock.sleep(POLL_WAIT_MS + POLL_STOP_WAIT_MS - 1)
      return claim(request)
    })
    const slots = openSlots(1)
    const ended = world.start([slots, openSlots(1)])
    await world.pass(POLL_WAIT_MS)
    world.stopping.abort()
    let isOver = false
    ended.then(
      () => (isOver = true),
      () => undefined,
    )
    await world.pass(POLL_WAIT_MS)
    expect(isOver).toBe(false)
    await world.pass(POLL_STOP_WAIT_MS)
    expect(isOver).toBe(true)
    expect(world.begun).toEqual([])
    expect(world.late).toHaveLength(1)
    expect(world.polls).toHaveLength(1)
    expect(slots.taken).toBe(0)
  })

  test('WK-65 whoever waits for a place or in a pause ends at once', async () => {
    const world = new PollWorld()
    const slots = openSlots(1)
    const give = await slots.take(new AbortController().signal)
    const waiting = world.start([openSlots(1), slots])
    world.stopping.abort()
    await waiting
    expect(world.polls).toEqual([])
    give()
    expect([slots.taken, slots.waiting]).toEqual([0, 0])
  })
})
