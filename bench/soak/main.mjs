// Whether good callers are served while others do what they can to keep the server busy:
//
//   npm run soak -- [--minutes 20] [--kills 10]
//
// `perago serve` on SQLite, in a process of its own. 50 good callers post and read, 25 of a tenant that does nothing else (north),
// 25 of one (south) in which a crowd begins after a fifth of the time (`crowd.mjs`): 200 followers of which half do not read, scans,
// bad tokens, webhooks to receivers and name servers that never answer. Meanwhile the server is killed with SIGKILL.
// Exit code 1 unless the p99 of north stays within three times of what it was alone, the memory of the server within 300 MiB, and
// nothing that was acknowledged is lost.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { printTable, quantile } from '../support/figures.mjs'
import { openBench } from '../support/processes.mjs'
import { openCallers } from './callers.mjs'
import { prepare, readBack } from './records.mjs'
import { KilledServer } from './server.mjs'

const CALLERS_PER_TENANT = 25
const PART_ALONE = 0.2
/** After a start, and before a kill, what is asked is not measured: nobody is served well while a server is away. */
const SETTLE_MS = 5_000
const P99_FACTOR_MAX = 3
const RSS_MIB_MAX = 300

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '20' }, kills: { type: 'string', default: '10' } },
})
const totalMs = Number(values.minutes) * 60_000
const kills = Number(values.kills)

const bench = openBench('soak')
try {
  await soak()
} finally {
  await bench.close()
}

async function soak() {
  const file = join(bench.directory, 'store.db')
  const records = await prepare(file, CALLERS_PER_TENANT)
  const server = await KilledServer.start(bench, file)
  const callers = openCallers(server, records)
  const samples = { alone: new Map(), crowd: new Map() }

  await wait(SETTLE_MS)
  callers.measureInto(samples.alone)
  await wait(Math.max(0, totalMs * PART_ALONE - SETTLE_MS))
  callers.measureInto(undefined)

  const crowd = fork(join(dirname(fileURLToPath(import.meta.url)), 'crowd.mjs'), { stdio: 'inherit' })
  bench.defer(() => crowd.kill('SIGKILL'))
  crowd.send({ url: server.url, records })
  await once(crowd, 'message')
  for (let round = 0; round <= kills; round++) {
    await wait(SETTLE_MS)
    callers.measureInto(samples.crowd)
    await wait(Math.max(0, (totalMs * (1 - PART_ALONE)) / (kills + 1) - SETTLE_MS))
    callers.measureInto(undefined)
    if (round < kills) await server.killAndStart()
  }
  const counted = once(crowd, 'message')
  crowd.send('end')
  const [crowdCounts] = await counted
  await callers.end()
  const peakMib = server.peakMib()
  await server.end()
  judge({ samples, peakMib, crowdCounts, lost: await readBack(file, callers.acknowledged), callers })
}

function judge({ samples, peakMib, crowdCounts, lost, callers }) {
  const p99 = (part, tenant) => quantile(samples[part].get(tenant) ?? [], 0.99)
  const rows = ['north', 'south'].map((tenant) => [
    tenant,
    ...['alone', 'crowd'].flatMap((part) => [
      quantile(samples[part].get(tenant) ?? [], 0.5),
      p99(part, tenant),
    ]),
    p99('crowd', tenant) / p99('alone', tenant),
    (samples.crowd.get(tenant) ?? []).length,
  ])
  printTable(
    ['good callers of', 'alone p50 ms', 'alone p99', 'beside the crowd p50', 'p99', 'factor', 'requests'],
    rows,
  )
  console.log(`the crowd: ${JSON.stringify(crowdCounts)}`)
  console.log(`killed ${kills} times; ${callers.acknowledged.length} events acknowledged, ${lost} lost`)
  console.log(
    `peak of the server's memory: ${peakMib.toFixed(0)} MiB; refused good requests: ${callers.refused}`,
  )
  const problems = [
    ...(rows[0].at(-2) <= P99_FACTOR_MAX
      ? []
      : [`the p99 of north grew by more than ${P99_FACTOR_MAX} times`]),
    ...(peakMib <= RSS_MIB_MAX ? [] : [`the server took more than ${RSS_MIB_MAX} MiB`]),
    ...(lost === 0 ? [] : ['acknowledged events are lost']),
    ...(callers.refused === 0 ? [] : ['good callers were refused']),
  ]
  for (const problem of problems) console.log(`FAILED: ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
