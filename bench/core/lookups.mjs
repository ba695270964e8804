// Sequential lookups: has an event of a type happened, and which is the latest?
import { printTable, quantile, round } from '../support/figures.mjs'
import { openMemoryStore } from '../../dist/perago-core.js'
import { eventOf, oursOver } from './backends.mjs'
import { openBareMap } from './bare.mjs'

const EVENTS = 10_000
/** A program has about this many event types, rarely as many as events. */
const TYPES = 100
/** Calls per reading of the clock; a single call of the memory store is too short to measure. */
const TOGETHER = { memory: 100, sqlite: 10 }
const BATCHES = 200
const PUBLISHED_TOGETHER = 500

export async function measureLookups({ backends, rounds }) {
  const rows = []
  for (const { name, driver, ours, bare, count } of scenesOf(backends)) {
    const execution = await ours.start('lookups')
    const other = await bare.start('lookups')
    const types = Array.from({ length: count }, (_, index) => `external.bench.t${index}`)
    for (let at = 0; at < EVENTS; at += PUBLISHED_TOGETHER) {
      const some = Array.from({ length: PUBLISHED_TOGETHER }, (_, index) => at + index)
      await Promise.all(some.map((n) => ours.append(execution, eventOf(types[n % count], n))))
      await Promise.all(some.map((n) => bare.append(other, eventOf(types[n % count], n))))
    }
    for (const what of ['has', 'get']) {
      const together = TOGETHER[name] ?? 1
      const read = { ours: (type) => ours[what](execution, type), bare: (type) => bare[what](other, type) }
      const found = await readInTurn({ read, types, together, rounds })
      rows.push([
        `${what}, ${name}, ${count} types`,
        quantile(found.ours, 0.5),
        quantile(found.ours, 0.99),
        driver,
        quantile(found.bare, 0.5),
        quantile(found.bare, 0.99),
        quantile(found.ours, 0.5) / quantile(found.bare, 0.5),
      ])
    }
  }
  console.log(`## A lookup among ${EVENTS} events of one execution, one at a time\n`)
  printTable(['µs', 'p50', 'p99', 'beside', 'p50', 'p99', 'ratio'], rows)
  for (const count of [TYPES, EVENTS]) {
    sayThreshold(`E-67, has in memory below 1 µs, ${count} types`, rows, `has, memory, ${count} types`, 1)
    sayThreshold(`get in memory below 2 µs, ${count} types`, rows, `get, memory, ${count} types`, 2)
  }
  sayThreshold('E-73, has in Redis below 1 ms', rows, `has, redis, ${EVENTS} types`, 1_000)
  console.log('')
}

/** Only these events in memory: more data makes every lookup slower. */
function scenesOf(backends) {
  return backends.flatMap((backend) =>
    backend.name === 'memory'
      ? [TYPES, EVENTS].map((count) => ({
          ...{ name: 'memory', driver: backend.driver, count },
          ours: oursOver(openMemoryStore()),
          bare: openBareMap(),
        }))
      : [{ ...backend, count: EVENTS }],
  )
}

/** Microseconds per call, ours and bare alternating. */
export async function readInTurn({ read, types, together, rounds }) {
  const found = { ours: [], bare: [] }
  let at = 0
  for (let round = -1; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours']) {
      const ask = read[side]
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const before = performance.now()
        for (let call = 0; call < together; call += 1) {
          // In steps that reach every type without visiting neighbours in sequence.
          at = (at + 7_919) % types.length
          const answer = await ask(types[at])
          if (!answer) throw new Error(`${side} found nothing under ${types[at]}`)
        }
        const micros = ((performance.now() - before) * 1_000) / together
        if (round >= 0) found[side].push(micros)
      }
    }
  }
  return found
}

export function sayThreshold(what, rows, name, most) {
  const row = rows.find(([first]) => first === name)
  if (row === undefined) return
  console.log(`- ${what}: ${round(row[1])} µs, ${row[1] < most ? 'reached' : '**not reached**'}`)
}
