// Hops of a chain that does nothing: the embedded engine beside Conductor, with the same client and the same worker code, over HTTP,
// in turn. A hop: the result of one unit is posted, and the next unit is claimed.
import { createHttpTaskQueue } from '../../dist/conductor/http-task-queue.js'
import { openConductorClient } from '../../dist/conductor/client.js'
import { printTable, quantile } from '../support/figures.mjs'
import { openEngineProcess, chainOf } from '../support/engines.mjs'
import { cpuMs, openBench } from '../support/processes.mjs'
import { startConductor } from '../support/servers.mjs'
import { join } from 'node:path'

const LENGTH = 20
const WARM_UP = 3
const COUNTED = 10
const PARALLEL = 20
const WORKERS = 4
const WAIT_MS = 1_000
const TASK = 'perago_bench_hop'
const NAME = 'perago_bench_chain'

export async function benchChain() {
  const bench = openBench('engine-chain')
  try {
    const conductor = await startConductor(bench)
    const engine = await openEngineProcess(bench, { sqlite: join(bench.directory, 'engine.db'), serve: true })
    const sides = [
      { name: 'engine', url: engine.opened.url, pid: engine.pid },
      { name: 'Conductor', url: conductor.url, pid: conductor.pid },
    ]
    for (const side of sides) await prepare(side)
    // In turn, so that other load slows both.
    for (let round = 0; round < WARM_UP + COUNTED; round += 1)
      for (const side of sides) await runAlone(side, round >= WARM_UP)
    for (let round = 0; round < 2; round += 1) for (const side of sides) await runTogether(side, round > 0)
    print(sides)
    for (const { client } of sides) await client.close()
  } finally {
    await bench.close()
  }
}

async function prepare(side) {
  const { task, graph } = chainOf(NAME, TASK, LENGTH)
  side.client = openConductorClient({ endpoint: `${side.url}/api` })
  side.queue = createHttpTaskQueue(side.client)
  side.alone = []
  side.hops = []
  side.together = []
  side.cpu = []
  const timing = { timeoutSeconds: 0, retryLogic: 'FIXED', ownerEmail: 'bench@example.org' }
  await request(side, 'POST', '/metadata/taskdefs', [{ ...task, ...timing }])
  await request(side, 'PUT', '/metadata/workflow', [
    {
      ...{ name: NAME, version: 1, schemaVersion: 2, ownerEmail: 'bench@example.org' },
      ...{ timeoutSeconds: 0, timeoutPolicy: 'ALERT_ONLY', inputParameters: [] },
      tasks: graph.units.map(({ name, taskReferenceName }) => ({
        ...{ name, taskReferenceName, type: 'SIMPLE', inputParameters: {} },
      })),
    },
  ])
}

async function request({ url }, method, path, json) {
  const answer = await fetch(`${url}/api${path}`, {
    ...{ method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text
}

const start = (side) => request(side, 'POST', '/workflow', { name: NAME, version: 1, input: {} })

/** One execution, one worker: the latency of a hop. */
async function runAlone(side, counts) {
  await start(side)
  const startMs = performance.now()
  let postedMs
  await work(side, LENGTH, {
    claimed: () => {
      if (counts && postedMs !== undefined) side.hops.push(performance.now() - postedMs)
    },
    posting: () => (postedMs = performance.now()),
  })
  if (counts) side.alone.push(LENGTH / ((performance.now() - startMs) / 1_000))
}

/** Many executions, some workers: hops a second. */
async function runTogether(side, counts) {
  await Promise.all(Array.from({ length: PARALLEL }, () => start(side)))
  const hops = PARALLEL * LENGTH
  const [cpuBefore, startMs] = [cpuMs(side.pid), performance.now()]
  const left = { count: hops }
  await Promise.all(Array.from({ length: WORKERS }, () => work(side, left)))
  if (!counts) return
  side.together.push(hops / ((performance.now() - startMs) / 1_000))
  side.cpu.push((cpuMs(side.pid) - cpuBefore) / hops)
}

let workers = 0

/** Claims and completes until so many are done; `left` may be shared. */
async function work({ queue }, many, { claimed, posting } = {}) {
  const left = typeof many === 'number' ? { count: many } : many
  const workerId = `bench-${(workers += 1)}`
  while (left.count > 0) {
    for (const { taskId, workflowId } of await queue.poll({
      taskType: TASK,
      workerId,
      count: 1,
      waitMs: WAIT_MS,
    })) {
      claimed?.()
      posting?.()
      await queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output: {} })
      left.count -= 1
    }
  }
}

function print(sides) {
  const [engine, conductor] = sides
  const row = (what, of) => [what, of(engine), of(conductor), of(engine) / of(conductor)]
  console.log(`## A chain of ${LENGTH} units that do nothing, over HTTP, SQLite behind both\n`)
  printTable(
    ['what', 'engine', 'Conductor', 'ratio'],
    [
      row('one execution, one worker: hops a second, p50', ({ alone }) => quantile(alone, 0.5)),
      row('… result posted → next unit claimed, p50 ms', ({ hops }) => quantile(hops, 0.5)),
      row('… p95 ms', ({ hops }) => quantile(hops, 0.95)),
      row(`${PARALLEL} executions, ${WORKERS} workers: hops a second`, ({ together }) =>
        quantile(together, 0.5),
      ),
      row('… processor time of the server, ms a hop', ({ cpu }) => quantile(cpu, 0.5)),
    ],
  )
}
