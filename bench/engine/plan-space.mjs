// The shared space of a plan under three mixes: many readers, frequent writers, many subscribers of one key. Everything runs in one
// thread, so a rate says what one call costs; nothing is measured of tasks that wait for each other.
import { MemorySharedSpace } from '../../dist/perago-engine.js'
import { printTable } from '../support/figures.mjs'

const KEYS = 100
const OPERATIONS = 400_000
const CALLBACKS_MAX = 4_000_000

export async function benchPlanSpace() {
  const mixes = [
    ['readers: 99 reads for each write', { writeEvery: 100, subscribers: 0 }],
    ['writers: each call a write', { writeEvery: 1, subscribers: 0 }],
    ['writers and readers in turn', { writeEvery: 2, subscribers: 0 }],
    ['writers, 1 subscriber per key', { writeEvery: 1, subscribers: 1 }],
    ['writers, 10 subscribers per key', { writeEvery: 1, subscribers: 10 }],
    ['writers, 100 subscribers per key', { writeEvery: 1, subscribers: 100 }],
    ['writers, 1,000 subscribers per key', { writeEvery: 1, subscribers: 1_000 }],
    ['readers beside 1,000 subscribers per key', { writeEvery: Infinity, subscribers: 1_000 }],
  ]
  const rows = mixes.map(([name, mix]) => {
    run(mix, 2)
    const { cpuUs, calls } = run(mix, 1)
    return [name, cpuUs, mix.subscribers === 0 || calls === 0 ? '–' : cpuUs / mix.subscribers]
  })
  console.log(`## The shared space of a plan, ${KEYS} keys: CPU, µs per call\n`)
  printTable(['mix', 'one call', 'for each subscriber'], rows)
}

function run({ writeEvery, subscribers }, divide) {
  const space = new MemorySharedSpace()
  let calls = 0
  for (let key = 0; key < KEYS; key++) {
    space.Set(`key-${key}`, 0)
    for (let index = 0; index < subscribers; index++) space.Subscribe(`key-${key}`, () => calls++)
  }
  const operations = Math.floor(Math.min(OPERATIONS, CALLBACKS_MAX / Math.max(1, subscribers)) / divide)
  const names = Array.from({ length: KEYS }, (_, key) => `key-${key}`)
  const before = process.cpuUsage()
  for (let index = 0; index < operations; index++) {
    const name = names[index % KEYS]
    if (index % writeEvery === 0 && writeEvery !== Infinity) space.Set(name, index)
    else space.Get(name)
  }
  const { user, system } = process.cpuUsage(before)
  return { cpuUs: (user + system) / operations, calls }
}
