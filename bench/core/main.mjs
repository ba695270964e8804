// What the core costs compared with the bare drivers of its stores: recording and reading events, lookups, sweeping, followers,
// archiving, variables, expressions. Starts PostgreSQL, Redis and etcd; everything runs on this machine. Does
// not measure a network.
//
//   npm run bench -- core [--parts sweep,append,writers,lookups,variables,archive,followers] [--stores memory,sqlite,…]
//     [--rounds 3] [--round-ms 1000] [--executions 10000] [--server-executions 1000] [--followers 1000]
//     [--beside DIR]
import { parseArgs } from 'node:util'
import { openBench } from '../support/processes.mjs'
import { measureAppend } from './append.mjs'
import { measureArchive } from './archive.mjs'
import { BACKENDS, openBackend } from './backends.mjs'
import { measureFollowers } from './follow.mjs'
import { measureLookups } from './lookups.mjs'
import { measureSweep } from './sweep.mjs'
import { measureExpressions, measureVariables } from './variables.mjs'
import { measureWriters } from './writers.mjs'

/** Sweeping first, because it would also look at data of the other parts. */
const PARTS = {
  sweep: measureSweep,
  append: measureAppend,
  writers: measureWriters,
  lookups: measureLookups,
  variables: async (world) => {
    await measureVariables(world)
    await measureExpressions(world)
  },
  archive: measureArchive,
  followers: measureFollowers,
}

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: Object.keys(PARTS).join(',') },
    stores: { type: 'string', default: BACKENDS.join(',') },
    rounds: { type: 'string', default: '3' },
    'round-ms': { type: 'string', default: '1000' },
    executions: { type: 'string', default: '10000' },
    'server-executions': { type: 'string', default: '1000' },
    followers: { type: 'string', default: '1000' },
    beside: { type: 'string' },
  },
})

const bench = openBench('core')
try {
  const wanted = values.parts.split(',')
  const backends = []
  // Starts only the servers that a part needs.
  if (wanted.some((part) => part !== 'followers')) {
    for (const name of values.stores.split(',')) backends.push(await openBackend(bench, name))
  }
  const world = {
    bench,
    backends,
    rounds: Number(values.rounds),
    roundMs: Number(values['round-ms']),
    followers: Number(values.followers),
    beside: values.beside,
    countOf: (name) =>
      Number(['memory', 'sqlite'].includes(name) ? values.executions : values['server-executions']),
  }
  for (const part of wanted) await PARTS[part](world)
} finally {
  await bench.close()
}
