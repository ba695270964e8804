// Records events and reads the latest of their type; each write is durable when it resolves.
import { printTable } from '../support/figures.mjs'
import { eventOf } from './backends.mjs'
import { compareSides, timesAsLong, work } from './compare.mjs'

const CELLS = [
  { writers: 1, executions: 1 },
  { writers: 8, executions: 1 },
  { writers: 8, executions: 8 },
  { writers: 32, executions: 1 },
  { writers: 32, executions: 32 },
]

export async function measureAppend({ backends, rounds, roundMs }) {
  const rows = []
  for (const { name, driver, ours, bare } of backends) {
    for (const { writers, executions } of CELLS) {
      const compared = await compareSides({
        sides: [ours, bare],
        rounds,
        roundMs,
        run: async (side, until) => {
          const started = await startAll(side, executions)
          return work(writers, until, async (writer, n) => {
            const execution = started[writer % executions]
            const type = `external.bench.w${writer}`
            await side.append(execution, eventOf(type, n))
            if ((await side.get(execution, type)).payload.rows !== n) throw new Error('read something else')
          })
        },
      })
      const [mine, other] = compared
      rows.push([
        `${name}, ${writers} at once${writers === 1 ? '' : executions === 1 ? ', one execution' : ', an execution each'}`,
        mine.rate,
        mine.p50,
        mine.p99,
        `${driver}`,
        other.rate,
        other.p50,
        other.p99,
        timesAsLong(compared),
      ])
    }
  }
  console.log(`## Append, index and read, median of ${rounds} rounds of ${roundMs} ms\n`)
  printTable(
    ['what', 'events/s', 'p50 ms', 'p99 ms', 'beside', 'events/s', 'p50 ms', 'p99 ms', 'time, ours to bare'],
    rows,
  )
}

let started = 0

function startAll(side, count) {
  return Promise.all(Array.from({ length: count }, () => side.start(`bench_${(started += 1)}`)))
}
