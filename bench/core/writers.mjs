// Many executions that write events and variables at once, and one writer in memory, beside what somebody would write by hand for the
// same promises. `--beside DIR`: also beside another built checkout.
import { pathToFileURL } from 'node:url'
import { join, resolve } from 'node:path'
import { loadavg } from 'node:os'
import { printTable } from '../support/figures.mjs'
import { eventOf } from './backends.mjs'
import { keysOfBatch, openMapByHand, openPgByHand, openRedisByHand } from './by-hand.mjs'
import { compareSides, timesAsLong, work } from './compare.mjs'

const CONNECTIONS = 10
const TYPES = 10
const VARIABLES = 20
const ALONE = 'batches of the store alone'

const KINDS = {
  memory: {
    executions: [1],
    alone: [ALONE, 'events', 'variables'],
    store: ({ openMemoryStore }) => openMemoryStore(),
    byHand: () => openMapByHand(),
  },
  postgres: {
    executions: [1, 32, 256],
    alone: ['events', 'variables'],
    store: ({ openPostgresStore }, { url }, schema) => openPostgresStore({ url, schema }),
    byHand: ({ url }) => openPgByHand(url, CONNECTIONS),
  },
  redis: {
    executions: [1, 32, 256],
    alone: ['events', 'variables'],
    store: ({ openRedisStore }, { url }, name) => openRedisStore({ url, prefix: `{${name}}:` }),
    byHand: ({ url }) => openRedisByHand(url),
  },
}

/** One after the other of what an execution does. */
const DOING = {
  [ALONE]: (side, { place }, n) => side.batch(place, n, VALUE),
  events: (side, execution, n) => side.append(execution, eventOf(`external.bench.t${n % TYPES}`, n)),
  variables: (side, execution, n) => side.set(execution, `shared.v${n % VARIABLES}`, valueOf(n)),
  'events and variables': async (side, execution, n) => {
    await DOING.events(side, execution, n)
    await DOING.variables(side, execution, n)
  },
}

const VALUE = Buffer.from(JSON.stringify(eventOf('external.bench.t1', 1)))

function valueOf(n) {
  return { rows: n, path: 's3://bench/orders/part-000123.parquet' }
}

export async function measureWriters({ bench, backends, rounds, roundMs, beside }) {
  const builds = { ours: resolve('.'), ...(beside === undefined ? {} : { before: resolve(beside) }) }
  const rows = []
  for (const backend of backends.filter(({ name }) => name in KINDS)) {
    const kind = KINDS[backend.name]
    const sides = []
    for (const [what, directory] of Object.entries(builds)) {
      const api = await load(directory, backend.name)
      const store = await kind.store(api, backend, `writers_${what}`)
      bench.defer(() => store.close())
      sides.push(sideOver(api.openCore({ store }), store))
    }
    const byHand = await kind.byHand(backend)
    bench.defer(() => byHand.close())
    sides.push(byHand)
    for (const executions of kind.executions) {
      for (const doing of executions === 1 ? kind.alone : ['events and variables']) {
        const compared = await measure({ sides, executions, doing, rounds, roundMs })
        rows.push([
          `${backend.name}, ${executions} at once: ${doing}`,
          ...compared.map(({ rate }) => rate * (executions === 1 ? 1 : 2)),
          ...compared.map(({ p50 }) => p50),
          ...compared.map(({ p99 }) => p99),
          ...compared.slice(0, -1).map((one) => timesAsLong([one, compared.at(-1)])),
        ])
      }
    }
  }
  const names = [...Object.keys(builds), 'by hand']
  const load1 = loadavg()[0].toFixed(1)
  console.log(
    `## Writers, each with an execution of its own, median of ${rounds} rounds of ${roundMs} ms, load ${load1}\n`,
  )
  const columns = ['writes/s', 'p50 ms', 'p99 ms'].flatMap((what) => names.map((name) => `${what}, ${name}`))
  printTable(['what', ...columns, ...names.slice(0, -1).map((name) => `time, ${name} to by hand`)], rows)
}

function measure({ sides, executions, doing, rounds, roundMs }) {
  return compareSides({
    sides,
    rounds,
    roundMs,
    run: async (side, until) => {
      const begun =
        doing === ALONE ? [{ place: `alone_${(started += 1)}` }] : await startAll(side, executions)
      return work(executions, until, (writer, n) => DOING[doing](side, begun[writer], n))
    },
  })
}

async function load(directory, store) {
  const parts = ['perago-core.js', `stores/${store}.js`]
  const loaded = await Promise.all(
    parts.map((part) => import(pathToFileURL(join(directory, 'dist', part)).href)),
  )
  return Object.assign({}, ...loaded)
}

function sideOver(core, store) {
  return {
    batch: async (place, n, value) => {
      const [entry, latest] = keysOfBatch(place, n)
      const operations = [entry, latest].map((key) => ({ do: 'put', key, value }))
      const { committed } = await store.commit({ conditions: [{ key: entry, is: 'absent' }], operations })
      if (!committed) throw new Error('refused')
    },
    start: () => core.startExecution({ name: 'bench' }),
    append: (execution, event) => execution.events.publish(event),
    set: (execution, name, value) => execution.variables.set(name, value),
  }
}

let started = 0

function startAll(side, count) {
  return Promise.all(Array.from({ length: count }, () => side.start(`bench_writers_${(started += 1)}`)))
}
