// Goal: a lease is renewed early and often, one renewal at a time, and its loss is noticed within one period.
import { describe, expect, test } from 'vitest'
import { keepingLogger, recordOf } from '../../../test/support/worker/world.ts'
import { UnavailableError, UncertainError } from '../../base/errors.ts'
import { LEASE_LOST_ANSWER_WAIT_MS } from '../limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { openLocalLeases, type Lease, type LeaseRequest } from './lease.ts'
import type { TaskQueue, TaskRecord, WorkflowStatus } from '../ports.ts'

/** A queue whose task and workflow are as the test says, and whose renewals wait for the test where it wants. */
class LeaseQueue {
  task: TaskRecord | undefined = recordOf()
  workflow: WorkflowStatus | undefined = 'RUNNING'
  trouble: Error | undefined
  renewalTrouble: Error | undefined
  readsHang = false
  hang: Promise<void> | undefined
  inFlight = 0
  mostInFlight = 0
  readonly renewedAtMs: number[] = []
  readonly reads: number[] = []
  readonly clock = new ManualClock()
  exists = true

  hold(changes: Partial<LeaseRequest> = {}, logger = silentLogger): Lease {
    const queue: Pick<TaskQueue, 'readTask' | 'readWorkflowStatus' | 'renewLease'> = {
      readTask: (_, { signal } = {}) => {
        this.reads.push(this.clock.monotonicMs())
        if (this.readsHang)
          return new Promise((__, reject) => {
            signal?.addEventListener('abort', () => reject(new Error('no longer wanted')))
          })
        return this.trouble === undefined ? Promise.resolve(this.task) : Promise.reject(this.trouble)
      },
      readWorkflowStatus: () => Promise.resolve(this.workflow),
      renewLease: async () => {
        this.inFlight++
        this.mostInFlight = Math.max(this.mostInFlight, this.inFlight)
        await this.hang
        this.inFlight--
        if (this.renewalTrouble !== undefined) throw this.renewalTrouble
        if (this.exists) this.renewedAtMs.push(this.clock.monotonicMs())
        return this.exists
      },
    }
    const leases = openLocalLeases({ queue: queue, clock: this.clock, logger })
    return leases.hold({
      attempt: recordOf(),
      responseTimeoutSeconds: 60,
      policy: { whilePaused: 'go-on' },
      ...changes,
    })
  }
}

function signalledPromise(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

describe('renewals', () => {
  test('WK-30 the first comes after a second at most, the others every third of the response timeout', async () => {
    const queue = new LeaseQueue()
    const lease = queue.hold()
    await queue.clock.advance(61_000)
    expect(queue.renewedAtMs).toEqual([1_000, 21_000, 41_000, 61_000])
    expect(lease.renewedAtMs).toBe(61_000)
    await lease.release()
  })

  test('WK-30 with a short response timeout the first comes after a third of it', async () => {
    const queue = new LeaseQueue()
    const lease = queue.hold({ responseTimeoutSeconds: 1.5 })
    await queue.clock.advance(1_000)
    expect(queue.renewedAtMs).toEqual([500, 1_000])
    await lease.release()
  })

  test('WK-31 at most one is in flight, however long it takes', async () => {
    const queue = new LeaseQueue()
    const held = signalledPromise()
    queue.hang = held.promise
    const lease = queue.hold()
    await queue.clock.advance(50_000)
    expect([queue.inFlight, queue.mostInFlight]).toEqual([1, 1])
    held.resolve()
    await lease.release()
    expect(queue.mostInFlight).toBe(1)
  })

  test('WK-32 release waits for the one in flight, and none begins afterwards', async () => {
    const queue = new LeaseQueue()
    const held = signalledPromise()
    queue.hang = held.promise
    const lease = queue.hold()
    await queue.clock.advance(1_000)
    expect(queue.inFlight).toBe(1)
    let released = false
    const releasing = lease.release().then(() => (released = true))
    await queue.clock.advance(5_000)
    expect(released).toBe(false)
    held.resolve()
    await releasing
    await queue.clock.advance(120_000)
    expect([queue.inFlight, queue.renewedAtMs.length, queue.clock.sleeping]).toEqual([0, 1, 0])
    expect(lease.lost.aborted).toBe(false)
  })

  test('WK-32 release does not wait for a reading, and no renewal follows it', async () => {
    const queue = new LeaseQueue()
    queue.readsHang = true
    const { logger, lines } = keepingLogger()
    const lease = queue.hold({}, logger)
    await queue.clock.advance(1_000)
    expect(queue.reads).toEqual([1_000])
    await lease.release()
    await queue.clock.advance(120_000)
    expect([queue.reads.length, queue.renewedAtMs.length, lines]).toEqual([1, 0, []])
    expect(lease.lost.aborted).toBe(false)
  })

  test('WK-32 a renewal whose answer was lost may still arrive: the release gives it time', async () => {
    const queue = new LeaseQueue()
    queue.renewalTrouble = new UncertainError('conductor/lost', 'no answer', { read: 'the task' })
    const lease = queue.hold()
    await queue.clock.advance(1_000)
    let released = false
    const releasing = lease.release().then(() => (released = true))
    await queue.clock.advance(LEASE_LOST_ANSWER_WAIT_MS - 1)
    expect(released).toBe(false)
    await queue.clock.advance(1)
    await releasing
    expect(queue.clock.sleeping).toBe(0)
  })

  test('WK-32 a renewal that was surely not done delays nothing', async () => {
    const queue = new LeaseQueue()
    queue.renewalTrouble = new UnavailableError('conductor/unreachable', 'no connection')
    const lease = queue.hold()
    await queue.clock.advance(1_000)
    await lease.release()
    expect(queue.clock.monotonicMs()).toBe(1_000)
  })

  test('WK-32 release may be called again, and the keeper releases what is held', async () => {
    const queue = new LeaseQueue()
    const lease = queue.hold()
    expect(lease.release()).toBe(lease.release())
    await lease.release()
    expect(queue.clock.sleeping).toBe(0)
  })
})

describe('the loss', () => {
  const losses: readonly [string, (queue: LeaseQueue) => void, string][] = [
    ['terminated', (queue) => (queue.workflow = 'TERMINATED'), 'workflow is TERMINATED'],
    ['removed', (queue) => (queue.workflow = undefined), 'workflow is gone'],
    ['restarted', (queue) => (queue.task = undefined), 'task is gone'],
    [
      'completed by somebody',
      (queue) => (queue.task = recordOf({ status: 'COMPLETED' })),
      'status is COMPLETED',
    ],
    ['rerun under the same id', (queue) => (queue.task = recordOf({ startTimeMs: 5 })), 'startTimeMs is 5'],
    [
      'handed to another worker',
      (queue) => (queue.task = recordOf({ workerId: 'other' })),
      'workerId is other',
    ],
    ['gone at the renewal', (queue) => (queue.exists = false), 'task is gone'],
  ]

  test.each(losses)('WK-33 %s: noticed within one period, and no renewal follows', async (_, change, why) => {
    const queue = new LeaseQueue()
    const lease = queue.hold()
    await queue.clock.advance(1_000)
    const renewals = queue.renewedAtMs.length
    change(queue)
    await queue.clock.advance(20_000)
    expect(lease.lost.aborted).toBe(true)
    expect((lease.lost.reason as Error).message).toContain(why)
    await queue.clock.advance(60_000)
    expect(queue.renewedAtMs.length).toBe(renewals)
    await lease.release()
  })

  test('WK-33 paused: by policy a loss or none', async () => {
    for (const whilePaused of ['stop', 'go-on'] as const) {
      const queue = new LeaseQueue()
      queue.workflow = 'PAUSED'
      const lease = queue.hold({ policy: { whilePaused } })
      await queue.clock.advance(1_000)
      expect(lease.lost.aborted).toBe(whilePaused === 'stop')
      await lease.release()
    }
  })

  test('WK-34 nothing renewed for the response timeout: lost, with what stood in the way as its cause', async () => {
    const queue = new LeaseQueue()
    const lease = queue.hold()
    await queue.clock.advance(1_000)
    queue.trouble = new UnavailableError('conductor/unreachable', 'read task: no connection')
    await queue.clock.advance(59_900)
    expect(lease.lost.aborted).toBe(false)
    await queue.clock.advance(100)
    expect(lease.lost.reason).toMatchObject({
      code: 'worker/lease-lost',
      kind: 'refused',
      cause: queue.trouble,
    })
    await lease.release()
  })

  test('WK-34 a renewal that hangs hides nothing: the lease is lost while it hangs', async () => {
    const queue = new LeaseQueue()
    const held = signalledPromise()
    queue.hang = held.promise
    const lease = queue.hold()
    await queue.clock.advance(60_000)
    expect(lease.lost.aborted).toBe(true)
    held.resolve()
    await lease.release()
  })

  test('WK-215 a renewal counts from its sending, however late its answer comes', async () => {
    const queue = new LeaseQueue()
    const held = signalledPromise()
    queue.hang = held.promise
    const lease = queue.hold()
    await queue.clock.advance(51_000)
    held.resolve()
    queue.hang = new Promise(() => undefined)
    await queue.clock.advance(0)
    expect([queue.renewedAtMs, lease.renewedAtMs]).toEqual([[51_000], 1_000])
    await queue.clock.advance(9_900)
    expect(lease.lost.aborted).toBe(false)
    await queue.clock.advance(100)
    expect(lease.lost.reason).toMatchObject({ code: 'worker/lease-lost', details: { silentMs: 60_000 } })
  })

  test('WK-35 trouble that passes is survived, and what is surely not done is tried again sooner', async () => {
    const queue = new LeaseQueue()
    const { logger, lines } = keepingLogger()
    const lease = queue.hold({}, logger)
    queue.trouble = new UnavailableError('conductor/unreachable', 'no connection')
    await queue.clock.advance(8_000)
    expect(queue.reads).toEqual([1_000, 1_000 + 20_000 / 3])
    queue.trouble = new UncertainError('conductor/lost', 'no answer', { read: 'the task' })
    await queue.clock.advance(30_000)
    queue.trouble = undefined
    await queue.clock.advance(20_000)
    expect(lease.lost.aborted).toBe(false)
    expect(queue.renewedAtMs.length).toBeGreaterThan(0)
    expect(lines[0]).toBe('a lease renewal failed and is tried again')
    await lease.release()
  })
})
