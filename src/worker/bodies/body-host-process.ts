/** Entry of a child process that runs one body. When its worker is gone it ends, with everything it started. */

import { invariant } from '../../base/errors.ts'
import { serveBody } from './body-host.ts'
import type { ToHost } from './protocol.ts'

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
serveBody(
  {
    send: (message) => {
      send(message)
    },
    onMessage: (listener) => process.on('message', (message) => listener(message as ToHost)),
  },
  () => undefined,
)
