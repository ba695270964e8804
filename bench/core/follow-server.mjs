// The HTTP door over a store in memory, with one execution, in a process of its own; it publishes when it is told to.
import { openTokens } from '../../dist/server/access/tokens.js'
import { silentLogger as logger } from '../../dist/base/logger.js'
import { openCore, openMemoryStore } from '../../dist/perago-core.js'
import { openHost } from '../../dist/runtime/host.js'
import { serveHttp } from '../../dist/server/http/serve.js'

const store = openMemoryStore()
const core = openCore({ store })
const execution = await core.startExecution({ name: 'bench' })
const door = await serveHttp({
  host: openHost({ store, logger }),
  tokens: openTokens(store),
  logger,
  port: 0,
  openLoopback: 'viewer',
  // All of them come from one place and at once.
  limits: { requestsAtOnce: 100_000, requestsPerSecond: 100_000 },
})
globalThis.gc()
process.on('message', async ({ publish }) => {
  const atMs = Number(process.hrtime.bigint()) / 1e6
  await execution.events.publish(publish)
  process.send({ atMs })
})
process.on('disconnect', () => process.exit(0))
process.send({ port: Number(new URL(door.url).port), execution: execution.id })
