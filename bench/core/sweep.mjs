// The cost of removing ended executions: each with its events, the latest ones by type, variables and record, found through
// the registry.
import { clearInterval, setInterval } from 'node:timers'
import { openCore, openMaintenance } from '../../dist/perago-core.js'
import { printTable } from '../support/figures.mjs'
import { rssMib } from '../support/processes.mjs'
import { eventOf } from './backends.mjs'

const EVENTS_EACH = 100
/** Different types of an execution's events. */
const TYPES = 10
const FILLED_TOGETHER = 16
const LOOK_MS = 50
const MIB = 2 ** 20

/** `countOf` says how many executions a backend gets. */
export async function measureSweep({ backends, countOf }) {
  const rows = []
  for (const { name, store } of backends) {
    const executions = countOf(name)
    // The first pass over a store completes the index of ended executions, once for ever.
    const first = openMaintenance({ store })
    await first.sweepOnce()
    await first.release()
    const filledSeconds = await fill(store, executions)
    const held = await heldMib()
    const counted = countCalls(store)
    const maintenance = openMaintenance({
      store: counted.store,
      retention: { eventsMs: 0, variablesMs: 0, checkpointsMs: 0 },
    })
    const peak = watchPeak()
    const startMs = performance.now()
    const report = await maintenance.sweepOnce()
    const seconds = (performance.now() - startMs) / 1_000
    const most = peak.stop()
    await maintenance.release()
    if (report.done !== executions || report.failed > 0) throw new Error(`swept ${JSON.stringify(report)}`)
    const left = await heldMib()
    const { get, range, commit } = counted.counts
    const clear = counted.counts.clear + counted.counts.clearEach
    rows.push([
      name,
      executions,
      filledSeconds,
      seconds,
      (executions * EVENTS_EACH) / seconds,
      (get + range + commit + clear) / executions,
      `${[get, commit, clear].map((count) => (count / executions).toFixed(1)).join(' / ')}, ${range} pages`,
      `${held.toFixed(0)} → ${left.toFixed(0)}`,
      most,
    ])
  }
  console.log(`## Executions × ${EVENTS_EACH} events swept in one pass\n`)
  printTable(
    [
      'store',
      'executions',
      'filled in s',
      'swept in s',
      'events/s',
      'store operations each',
      'get / commit / clear each, registry',
      'held MiB, before → after',
      'resident at most MiB',
    ],
    rows,
  )
}

async function fill(store, executions) {
  const core = openCore({ store })
  const startMs = performance.now()
  for (let first = 0; first < executions; first += FILLED_TOGETHER) {
    const some = Math.min(FILLED_TOGETHER, executions - first)
    await Promise.all(
      Array.from({ length: some }, async () => {
        const execution = await core.startExecution({ name: 'bench', inputs: { day: '2026-01-01' } })
        // The first event is that of its start, the last one that of its end.
        const between = Array.from({ length: EVENTS_EACH - 2 }, (_, n) =>
          execution.events.publish(eventOf(`external.bench.t${n % TYPES}`, n)),
        )
        await Promise.all(between)
        await execution.finish({ status: 'completed', outputs: { rows: 1 } })
      }),
    )
  }
  return (performance.now() - startMs) / 1_000
}

/** The same store, counting its calls. */
function countCalls(store) {
  const counts = { get: 0, range: 0, commit: 0, clear: 0, clearEach: 0 }
  const counted = { ...store }
  for (const what of Object.keys(counts)) {
    if (store[what] === undefined) continue
    counted[what] = (...given) => {
      counts[what] += 1
      return store[what](...given)
    }
  }
  return { store: counted, counts }
}

async function heldMib() {
  // Memory outside the heap is freed only by a later collection.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / MIB
}

function watchPeak() {
  let most = rssMib(process.pid)
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() / MIB)
  }, LOOK_MS)
  return {
    stop() {
      clearInterval(timer)
      return Math.max(most, process.memoryUsage.rss() / MIB)
    },
  }
}
