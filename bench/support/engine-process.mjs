// An engine over a store in its own process. The order comes over IPC; requests of the bench are answered in turn.
//   serve: Conductor's API; work: how many workers in this process claim and complete at once, without HTTP.
import { silentLogger } from '../../dist/base/logger.js'
import { plainRedactor } from '../../dist/base/redaction.js'
import { openEngine } from '../../dist/engine/host/open-engine.js'
import { openDefinitionShelf } from '../../dist/server/conductor/definition-shelf.js'
import { buildConductorApp } from '../../dist/server/conductor/conductor-app.js'
import { listenHttp } from '../../dist/server/http/listen-http.js'
import { openPostgresStore } from '../../dist/stores/postgres/postgres-store.js'
import { openSqliteStore } from '../../dist/stores/sqlite/sqlite-store.js'

const WAIT_MS = 100
let engine
let store
let completed = 0

const ACTS = {
  async open({ sqlite, postgres, serve }) {
    store = await (sqlite === undefined ? openPostgresStore(postgres) : openSqliteStore({ file: sqlite }))
    engine = await openEngine({ store })
    while (!engine.isRunning()) await new Promise((resolve) => setTimeout(resolve, 1))
    const open = await engine.control.listOpen()
    if (serve !== true) return { open: open.length }
    const { queue, control } = engine
    const definitions = openDefinitionShelf(store, control)
    const app = buildConductorApp({ queue, control, definitions, logger: silentLogger })
    const fetch = (request) => app.fetch(request)
    const { url } = await listenHttp({ fetch, address: '127.0.0.1', port: 0, redactor: plainRedactor })
    return { open: open.length, url }
  },
  async register({ task, graph }) {
    await engine.control.registerTask(task)
    await engine.control.registerGraph(graph)
  },
  /** Milliseconds that each start takes. */
  async start({ name, count, atOnce }) {
    const times = []
    let left = count
    const starter = async () => {
      while (left-- > 0) {
        const before = performance.now()
        await engine.control.start({ name })
        times.push(performance.now() - before)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, starter))
    return times
  },
  work({ taskType, workers, count }) {
    const loop = async (workerId) => {
      for (;;) {
        const tasks = await engine.queue.poll({ taskType, workerId, count, waitMs: WAIT_MS })
        for (const { taskId, workflowId } of tasks) {
          await engine.queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output: {} })
          completed += 1
        }
      }
    }
    // They end with the process.
    for (let index = 0; index < workers; index += 1) void loop(`bench-${index}`)
  },
  async look() {
    const { user, system } = process.cpuUsage()
    return { completed, open: (await engine.control.listOpen()).length, cpuMs: (user + system) / 1_000 }
  },
  async stop() {
    await engine.close()
    await store.close()
    setImmediate(() => process.exit())
  },
}

process.on('disconnect', () => process.exit())
process.on('message', ({ id, act, told }) => {
  Promise.resolve(ACTS[act](told ?? {})).then(
    (answer) => process.send({ id, answer }),
    (error) => process.send({ id, error: String(error?.stack ?? error) }),
  )
})
