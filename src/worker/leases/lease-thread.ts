/** Entry of the thread that renews leases, with its own queue client and timers. */

import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { describeForParent } from '../bodies/hosted-error.ts'
import { relayedLogger } from '../bodies/relayed-logger.ts'
import { openLocalLeases, type Lease } from './lease.ts'
import {
  type FromLeaseThread,
  type LeaseQueue,
  type LeaseQueueModule,
  type ToLeaseThread,
} from './threaded-leases.ts'

const port = parentPort
invariant(port !== null, 'the lease thread is started by a worker')
const send = (message: FromLeaseThread): void => port.postMessage(message)
const logger: Logger = relayedLogger((line) => send({ type: 'log', ...line }))

const source = workerData as LeaseQueueModule
const module = (await import(source.url)) as {
  openLeaseQueue(options: unknown): LeaseQueue | Promise<LeaseQueue>
}
const queue = await module.openLeaseQueue(source.options)
const leases = openLocalLeases({ queue, clock: systemClock, logger })
const held = new Map<number, Lease>()

port.on('message', (message: ToLeaseThread) => {
  switch (message.type) {
    case 'hold':
      hold(message)
      break
    case 'release':
      release(message.id).catch(crash)
      break
    case 'close':
      leases
        .close()
        .finally(() => queue.close())
        .finally(() => port.close())
        .catch(crash)
      break
  }
})

function hold({ id, ...request }: Extract<ToLeaseThread, { readonly type: 'hold' }>): void {
  const lease = leases.hold({
    ...request,
    onRenewed: (sentMsAgo) => {
      const sentAtNs = process.hrtime.bigint() - BigInt(Math.round(sentMsAgo * 1e6))
      send({ type: 'renewed', id, sentAtNs })
    },
  })
  held.set(id, lease)
  lease.lost.addEventListener(
    'abort',
    () => send({ type: 'lost', id, failure: describeForParent(lease.lost.reason) }),
    { once: true },
  )
}

async function release(id: number): Promise<void> {
  await held.get(id)?.release()
  held.delete(id)
  send({ type: 'released', id })
}

/** Ends the thread; its leases are lost then. */
function crash(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}
