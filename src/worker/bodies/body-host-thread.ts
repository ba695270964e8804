/** Entry of a thread that runs one body. */

import { parentPort } from 'node:worker_threads'
import { invariant } from '../../base/errors.ts'
import { serveBody } from './body-host.ts'
import type { ToHost } from './protocol.ts'

const port = parentPort
invariant(port !== null, 'the body host of a thread runs in a thread')
serveBody(
  {
    send: (message) => port.postMessage(message),
    onMessage: (listener) => port.on('message', (message: ToHost) => listener(message)),
  },
  () => port.close(),
)
