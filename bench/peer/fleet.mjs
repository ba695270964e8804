// Many idle workers on one Conductor: what their polls ask of it.
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { printTable, round } from '../support/figures.mjs'
import { cpuMs } from '../support/processes.mjs'
import { startCounter } from '../support/servers.mjs'
import { sumOf } from './rows.mjs'
import { cellsOf, inBrackets } from './summary.mjs'
import { startWorker } from './workers.mjs'

const STARTED_MS = 300_000
const SETTLE_MS = 10_000
const MEASURE_MS = 20_000
/** Memory of a process, shared counted once; with more than there is free nothing is started. */
const OURS_MIB = 60
const PEER_MIB = 100

/** So many workers with so many slots, each side alone; of one command each, with a process for each worker (peer: for each slot). */
export async function compareFleets(world, { sizes, slots }) {
  const sides = world.sides.filter(({ isOurs, isWarm }) => !isOurs || isWarm)
  const none = await measureServer(world)
  const rows = [{ what: 'no worker', ...none }]
  for (const size of sizes) {
    const found = new Map()
    for (const side of sides) {
      const neededMib = size * (side.isOurs ? OURS_MIB : slots * PEER_MIB)
      if (neededMib > 0.9 * availableMib()) {
        console.log(
          `${size} workers of ${side.name} may need ${neededMib} MiB: not measured, there are ${round(availableMib())} MiB.\n`,
        )
        continue
      }
      const measured = await measureFleet(world, side, { size, slots })
      found.set(side.name, measured)
      rows.push({ what: `${size} × ${side.name}`, ...measured })
    }
    world.summary.add(
      `${size} idle workers × ${slots} slots: requests/s at Conductor (its processor, % of a core)`,
      cellsOf(found, ({ requests, serverPercent }) => inBrackets(requests, serverPercent)),
    )
  }
  console.log(`Idle workers with ${slots} slots each, for ${MEASURE_MS / 1_000} s, counted by a proxy.\n`)
  printTable(
    ['', 'requests/s', 'of which polls', 'Conductor, % of a core', 'workers, % of a core', 'workers, MiB'],
    rows.map(({ what, requests, polls, serverPercent, percent, pssMib }) => [
      what,
      ...[requests, polls, serverPercent, percent, pssMib].map(round),
    ]),
  )
  for (const { what, kinds } of rows) if (kinds.length > 0) console.log(`${what}: ${kinds.join(', ')}`)
  console.log('')
}

async function measureFleet(world, side, { size, slots }) {
  const counter = await startCounter(world.bench, world.conductor.url)
  const conductor = { ...world.conductor, url: counter.url }
  const worker = await startWorker(world.bench, side, {
    ...{ ...world, conductor, task: 'write', slots, processes: size },
  })
  await worker.allStarted({ withinMs: STARTED_MS })
  await wait(SETTLE_MS)
  const measured = await measureServer(world, { counter, worker })
  await worker.close()
  await counter.close()
  return measured
}

async function measureServer({ conductor: { pid } }, { counter, worker } = {}) {
  const look = () => ({ server: pid === undefined ? Number.NaN : cpuMs(pid), workers: worker?.cpuMs() ?? 0 })
  await counter?.take()
  const before = look()
  await wait(MEASURE_MS)
  const after = look()
  const counts = (await counter?.take()) ?? {}
  const aSecond = (matches) => (1_000 * sumOf(counts, matches)) / MEASURE_MS
  return {
    kinds: Object.entries(counts).map(([kind, count]) => `${kind} ${round((1_000 * count) / MEASURE_MS)}/s`),
    requests: aSecond(() => true),
    polls: aSecond((what) => what.includes('/poll')),
    serverPercent: (100 * (after.server - before.server)) / MEASURE_MS,
    percent: (100 * (after.workers - before.workers)) / MEASURE_MS,
    pssMib: worker?.pssMib() ?? 0,
  }
}

function availableMib() {
  return Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) / 1024
}
