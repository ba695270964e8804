// Many executions at once: what the engine uses, and whether a unit costs more when there are more executions. Workers in the process
// of the engine, over a file of SQLite.
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { printTable } from '../support/figures.mjs'
import { openEngineProcess, chainOf } from '../support/engines.mjs'
import { cpuMs, openBench, peakRssMib, rssMib } from '../support/processes.mjs'

const UNITS = 100
const AT_ONCE = [10, 100, 1_000]
const HOPS = 2_000
const WORKERS = 16
const LOOK_MS = 50
const NAME = 'perago_bench_many'

/** `hops`: how many units are done of each; by default not all, because each costs the same. */
export async function benchMany({ hops = HOPS, executions = AT_ONCE } = {}) {
  const bench = openBench('engine-many')
  const rows = []
  try {
    for (const count of executions) rows.push(await run(bench, count, hops))
  } finally {
    await bench.close()
  }
  console.log(`## Executions of ${UNITS} units at once, ${WORKERS} workers in the engine's process, SQLite\n`)
  printTable(
    [
      'executions',
      'start, ms CPU each',
      'units done',
      'units a second',
      'ms CPU a unit',
      'RSS started, MiB',
      'RSS at most, MiB',
    ],
    rows,
  )
}

async function run(bench, count, hops) {
  const engine = await openEngineProcess(bench, { sqlite: join(bench.directory, `many-${count}.db`) })
  const { task, graph } = chainOf(NAME, 'perago_bench_hop', UNITS)
  await engine.ask('register', { task, graph })
  const before = cpuMs(engine.pid)
  await engine.ask('start', { name: NAME, count, atOnce: 16 })
  const startCpu = (cpuMs(engine.pid) - before) / count
  const rssStarted = rssMib(engine.pid)
  const goal = Math.min(hops, count * UNITS)
  // The first steps of a process cost more than later ones.
  const warm = Math.floor(goal / 5)
  await engine.ask('work', { taskType: task.name, workers: WORKERS, count: 1 })
  const first = await until(engine, warm)
  const last = await until(engine, goal)
  const done = last.completed - first.completed
  const row = [
    ...[count, startCpu, last.completed, done / ((last.atMs - first.atMs) / 1_000)],
    ...[(last.cpuMs - first.cpuMs) / done, rssStarted, peakRssMib(engine.pid)],
  ]
  await engine.kill()
  return row
}

async function until(engine, completed) {
  for (;;) {
    const found = { ...(await engine.ask('look')), atMs: performance.now() }
    if (found.completed >= completed || found.open === 0) return found
    await wait(LOOK_MS)
  }
}
