// One step of an execution stored: a claim, and a completion after which the next unit is decided. And whether that costs more with
// more open executions. CPU time counts all threads, garbage collection included.
import { join } from 'node:path'
import { PerformanceObserver } from 'node:perf_hooks'
import { openEngine } from '../../dist/perago-engine.js'
import { openMemoryStore } from '../../dist/stores/memory.js'
import { openPostgresStore } from '../../dist/stores/postgres.js'
import { openSqliteStore } from '../../dist/stores/sqlite.js'
import { startPostgres } from '../support/databases.mjs'
import { printTable, quantile } from '../support/figures.mjs'
import { openBench } from '../support/processes.mjs'

const UNITS = 100
const WIDTH = 10

export async function benchTransition({ transitions = 10_000, stores = 'memory,sqlite,postgres' }) {
  const bench = openBench('engine')
  try {
    const rows = []
    for (const name of stores.split(',')) {
      const store = await STORES[name](bench)
      bench.defer(() => store.close())
      // A first one, because the compiler has not seen the code yet.
      if (rows.length === 0) await runSteps(store, { executions: 5, steps: 1_000 })
      const executions = Math.ceil(transitions / UNITS / 2)
      const { claim, complete, cpu, gc } = await runSteps(store, { executions, steps: transitions })
      rows.push([name, ...figures(claim), ...figures(complete), ...figures(cpu), Math.max(0, ...gc)])
    }
    console.log(`## ${transitions} steps of executions of ${UNITS} units, ms\n`)
    const columns = ['p50', 'p90', 'p99', 'longest']
    printTable(
      [
        'store',
        ...columns.map((each) => `claim ${each}`),
        ...columns.map((each) => `complete ${each}`),
        ...columns.map((each) => `CPU of both ${each}`),
        'longest garbage collection',
      ],
      rows,
    )
  } finally {
    await bench.close()
  }
}

export async function benchGrowth({ counts = '50,200,1000', steps = 4_000 }) {
  const rows = []
  for (const count of counts.split(',').map(Number)) {
    const store = openMemoryStore()
    const { claim, complete, cpuMs, startMs, heapMiB } = await runSteps(store, { executions: count, steps })
    const show = (samples) => [quantile(samples, 0.5), quantile(samples, 0.9)]
    rows.push([String(count), startMs, ...show(claim), ...show(complete), cpuMs, heapMiB])
    await store.close()
  }
  console.log(`## ${steps} steps with so many open executions of ${UNITS} units, in memory, ms\n`)
  printTable(
    [
      ...['open executions', 'start one', 'claim p50', 'p90', 'complete p50', 'p90', 'CPU per step'],
      'heap, MiB',
    ],
    rows,
  )
}

const STORES = {
  memory: async () => openMemoryStore(),
  sqlite: async (bench) => openSqliteStore({ file: join(bench.directory, 'engine.db') }),
  postgres: async (bench) => openPostgresStore({ url: (await startPostgres(bench)).url }),
}

async function runSteps(store, { executions, steps }) {
  const engine = await openEngine({ store })
  const gc = []
  const observer = new PerformanceObserver((list) =>
    gc.push(...list.getEntries().map((each) => each.duration)),
  )
  try {
    const graph = layered()
    const started = performance.now()
    for (let index = 0; index < executions; index++) await engine.control.startGraph(graph, {})
    const startMs = (performance.now() - started) / executions
    observer.observe({ entryTypes: ['gc'] })
    const before = process.cpuUsage()
    const [claim, complete, cpu] = [[], [], []]
    for (let step = 0; step < steps; step += 2) {
      const used = process.cpuUsage()
      const polled = performance.now()
      const [task] = await engine.queue.poll({ taskType: 'task', workerId: 'bench-0', count: 1, waitMs: 0 })
      claim.push(performance.now() - polled)
      if (task === undefined) throw new Error('poll: there was no task')
      const { taskId, workflowId, workerId } = task
      const posted = performance.now()
      const result = { taskId, workflowId, workerId, status: 'COMPLETED', output: { rows: step } }
      if (!(await engine.queue.postResult(result))) throw new Error('post: there is no such task')
      complete.push(performance.now() - posted)
      const { user, system } = process.cpuUsage(used)
      cpu.push((user + system) / 1000)
    }
    const { user, system } = process.cpuUsage(before)
    const heapMiB = process.memoryUsage().heapUsed / 1024 ** 2
    return { claim, complete, cpu, gc, startMs, heapMiB, cpuMs: (user + system) / 1000 / steps }
  } finally {
    observer.disconnect()
    await engine.close()
  }
}

function figures(samples) {
  return [quantile(samples, 0.5), quantile(samples, 0.9), quantile(samples, 0.99), quantile(samples, 1)]
}

/** Ten wide, each after three of the layer before it. */
function layered() {
  const units = Array.from({ length: UNITS }, (_, index) => {
    const first = Math.floor(index / WIDTH) * WIDTH - WIDTH
    const after = first < 0 ? [] : [0, 1, 2].map((edge) => `unit-${first + ((index + edge) % WIDTH)}`)
    return {
      type: 'SIMPLE',
      name: 'task',
      taskReferenceName: `unit-${index}`,
      inputParameters: { table: `table-${index}` },
      after,
    }
  })
  return {
    ...{ name: 'bench', version: 1, units, inputTemplate: {}, restartable: true },
    ...{ timeoutSeconds: 0, timeoutPolicy: 'ALERT_ONLY' },
  }
}
