/** Entry of a child process that runs one body. When its worker is gone it ends, with everything it started. */

import { Worker } from 'node:worker_threads'
import { invariant } from '../../base/errors.ts'
import { entryUrl } from '../../base/module-entry.ts'
import type { OrphanWatchData } from './orphan-watch.ts'
import { serveBody } from './body-host.ts'
import type { ToHost } from './protocol.ts'

const workerPid = process.ppid
const send = process.send?.bind(process)
invariant(send !== undefined, 'the body host of a process is started by a worker')

process.on('disconnect', () => {
  // Nobody will publish what this body makes, and its directory will be taken from under it.
  process.kill(-process.pid, 'SIGKILL')
})
// The worker ends the group in two steps; the body hears of it by its signal first.
process.on('SIGTERM', () => {
  process.exitCode = 143
  process.disconnect()
})
process.on('message', (message: ToHost) => {
  // A program leaves this process free to hear that its worker is gone; a function may keep it to itself.
  if (message.type !== 'run' || message.what.kind === 'command') return
  const watched: OrphanWatchData = { parentPid: workerPid, graceMs: 0, group: true }
  new Worker(entryUrl(import.meta.url, './orphan-watch.ts'), { workerData: watched }).unref()
})
serveBody(
  {
    send: (message) => {
      send(message)
    },
    onMessage: (listener) => process.on('message', (message) => listener(message as ToHost)),
  },
  () => undefined,
)
