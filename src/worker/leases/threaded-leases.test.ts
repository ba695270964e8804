// Goal: no body, however it behaves, keeps a lease from being renewed.
// The thread loads the package as it was built: `npm run build` comes first.
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { recordOf } from '../../../test/support/worker/world.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/logger.ts'
import { leaseQueueModule } from '../../runtime/connections/lease-queue.ts'
import { ThreadedLeases } from './threaded-leases.ts'
import type { Lease, LeaseKeeper } from './lease.ts'

// In a thread of its own, for the one of this test will not listen. Speaks the three calls a lease takes.
const SERVER = `
  const { createServer } = require('node:http')
  const { parentPort, workerData } = require('node:worker_threads')
  const shared = new Int32Array(workerData.shared)
  createServer((request, response) => {
    const json = (value) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
    if (request.method === 'POST') {
      request.resume().on('end', () => {
        Atomics.add(shared, 0, 1)
        const answer = () => response.setHeader('content-type', 'text/plain').end('task-1')
        setTimeout(answer, Atomics.load(shared, 2))
      })
    } else if (request.url.startsWith('/api/workflow/')) json({ status: Atomics.load(shared, 1) === 0 ? 'RUNNING' : 'TERMINATED' })
    else json(workerData.task)
  }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })
`

let server: Worker
let leases: LeaseKeeper
let shared: Int32Array
const renewals = (): number => Atomics.load(shared, 0)

beforeEach(async () => {
  const buffer = new SharedArrayBuffer(12)
  shared = new Int32Array(buffer)
  const { taskId, workflowId, retryCount, pollCount, startTimeMs, workerId } = recordOf()
  const task = {
    ...{ taskId, workflowInstanceId: workflowId, retryCount, pollCount, startTime: startTimeMs, workerId },
    ...{ status: 'IN_PROGRESS', taskType: 'orders.clean', referenceTaskName: 'clean' },
  }
  server = new Worker(SERVER, { eval: true, workerData: { shared: buffer, task } })
  const port = await new Promise<number>((resolve) => server.once('message', resolve))
  leases = new ThreadedLeases({
    queue: leaseQueueModule({ endpoint: `http://127.0.0.1:${port}/api` }),
    clock: systemClock,
    logger: silentLogger,
  })
})
afterEach(async () => {
  await leases.close()
  await server.terminate()
})

/** Renewed every second, and long enough that a busy machine does not lose it. */
function hold(responseTimeoutSeconds = 3): Lease {
  return leases.hold({ attempt: recordOf(), responseTimeoutSeconds, policy: { whilePaused: 'go-on' } })
}

async function until(happened: () => boolean): Promise<void> {
  await expect.poll(happened, { timeout: 20_000, interval: 5 }).toBe(true)
}

/** Keeps the thread of this test to itself. */
function spinUntil(happened: () => boolean): void {
  const giveUpMs = performance.now() + 20_000
  while (!happened() && performance.now() < giveUpMs);
}

describe('leases in a thread of their own', () => {
  test('WK-100 a body that never yields does not stop the renewals', async () => {
    const lease = hold()
    const before = renewals()
    spinUntil(() => renewals() >= before + 4)
    expect(renewals()).toBeGreaterThanOrEqual(before + 4)
    expect(lease.lost.aborted).toBe(false)
    await lease.release()
  })

  test('WK-101 after the release none is sent', async () => {
    const lease = hold()
    await until(() => renewals() > 0)
    expect(lease.release()).toBe(lease.release())
    await lease.release()
    const at = renewals()
    await systemClock.sleep(1_200)
    expect(renewals()).toBe(at)
  })

  test('WK-102 the loss comes with its reason, and with it the renewals end', async () => {
    const lease = hold()
    await until(() => renewals() > 0)
    Atomics.store(shared, 1, 1)
    await until(() => lease.lost.aborted)
    expect(lease.lost.reason).toMatchObject({
      kind: 'refused',
      code: 'fences/stale-attempt',
      message: expect.stringContaining('workflow is TERMINATED') as string,
    })
    await lease.release()
  })

  test('WK-103 it is told of each renewal', async () => {
    let told = 0
    const lease = leases.hold({
      attempt: recordOf(),
      responseTimeoutSeconds: 3,
      policy: { whilePaused: 'go-on' },
      onRenewed: () => told++,
    })
    const heldAtMs = lease.renewedAtMs
    await until(() => told > 1)
    expect(lease.renewedAtMs).toBeGreaterThan(heldAtMs)
    await lease.release()
  })

  test('WK-215 a renewal counts from its sending, not from the answer', async () => {
    const answerAfterMs = 400
    Atomics.store(shared, 2, answerAfterMs)
    let told = 0
    const lease = leases.hold({
      attempt: recordOf(),
      responseTimeoutSeconds: 30,
      policy: { whilePaused: 'go-on' },
      onRenewed: () => told++,
    })
    await until(() => told > 0)
    expect(performance.now() - lease.renewedAtMs).toBeGreaterThanOrEqual(answerAfterMs)
    await lease.release()
  })

  test('WK-104 a thread that cannot go on loses every lease, and the next lease has a new one', async () => {
    const broken = new ThreadedLeases({
      queue: {
        url: 'data:text/javascript,export const openLeaseQueue = () => { throw new Error("no queue") }',
        options: {},
      },
      clock: systemClock,
      logger: silentLogger,
    })
    for (let time = 0; time < 2; time++) {
      const lease = broken.hold({
        attempt: recordOf(),
        responseTimeoutSeconds: 60,
        policy: { whilePaused: 'stop' },
      })
      await until(() => lease.lost.aborted)
      expect(lease.lost.reason).toMatchObject({
        code: 'worker/lease-thread-ended',
        cause: { message: 'no queue' },
      })
      await lease.release()
    }
    await broken.close()
  })

  test('WK-105 closing releases what is held and ends the thread; it may be called again', async () => {
    const lease = hold(60)
    expect(leases.close()).toBe(leases.close())
    await leases.close()
    expect(lease.lost.aborted).toBe(true)
  })
})
