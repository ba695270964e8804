/** Entry of a child process that runs one body. When its worker ends, it ends with everything it started. */

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
  // Nobody will publish what this body makes, and its directory will be removed.
  process.kill(-process.pid, 'SIGKILL')
})
let ownSignals = 0
// The worker ends the group in two steps; the signal of the body is aborted first.
process.on('SIGTERM', () => {
  if (ownSignals > 0) {
    ownSignals--
    return
  }
  process.exitCode = 143
  process.disconnect()
})
process.on('message', (message: ToHost) => {
  // A function may block the event loop, so that `disconnect` is not noticed; a program does not.
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
    endOthers: () => {
      // The signal also comes here.
      ownSignals++
      process.kill(-process.pid, 'SIGTERM')
    },
  },
  () => undefined,
)
