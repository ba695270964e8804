/**
 * Entry of a thread that ends its process some time after the supervisor is gone: a body that never yields would
 * otherwise keep the worker, and its leases, for ever.
 */

import { workerData } from 'node:worker_threads'
import { ORPHAN_LOOK_MS } from '../base/limits.ts'

export interface OrphanWatchData {
  readonly supervisorPid: number
  /** What the worker itself may take to end in order. */
  readonly graceMs: number
}

const { supervisorPid, graceMs } = workerData as OrphanWatchData
const looking = setInterval(() => {
  if (process.ppid === supervisorPid) return
  clearInterval(looking)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), graceMs)
}, ORPHAN_LOOK_MS)
