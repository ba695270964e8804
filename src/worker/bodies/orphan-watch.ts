/**
 * Entry of a thread that ends its process some time after the one that started it is gone: what never yields does not hear
 * that by itself, and would go on for ever.
 */

import { workerData } from 'node:worker_threads'
import { ORPHAN_LOOK_MS } from '../limits.ts'

export interface OrphanWatchData {
  readonly parentPid: number
  /** What the process itself may take to end in order. */
  readonly graceMs: number
  /** Ends its whole process group, of which it is the leader. */
  readonly group: boolean
}

const { parentPid, graceMs, group } = workerData as OrphanWatchData
const looking = setInterval(() => {
  if (process.ppid === parentPid) return
  clearInterval(looking)
  setTimeout(() => process.kill(group ? -process.pid : process.pid, 'SIGKILL'), graceMs)
}, ORPHAN_LOOK_MS)
