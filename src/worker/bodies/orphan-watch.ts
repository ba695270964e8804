/**
 * Entry of a thread that ends its process some time after the parent process has ended: code that never yields would not
 * notice that, and would run for ever.
 */

import { workerData } from 'node:worker_threads'
import { ORPHAN_LOOK_MS } from '../limits.ts'

export interface OrphanWatchData {
  readonly parentPid: number
  /** How long the process may take to end by itself. */
  readonly graceMs: number
  /** Ends the whole process group, of which the process is the leader. */
  readonly group: boolean
}

const { parentPid, graceMs, group } = workerData as OrphanWatchData
const timer = setInterval(() => {
  if (process.ppid === parentPid) return
  clearInterval(timer)
  setTimeout(() => process.kill(group ? -process.pid : process.pid, 'SIGKILL'), graceMs)
}, ORPHAN_LOOK_MS)
