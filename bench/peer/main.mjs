// Compares our worker, the Python package of the same name (0.6.1), `lakectl local clone` + `commit` and `cp -r` on the same
// servers, in turn, best of the rounds. Every run is verified: bytes, number of commits, reported ref. Servers and clients
// share this machine; a network is not measured.
//
//   npm run bench -- peer [--rounds 3] [--only small,read,…] [--growth 1000,10000,100000] [--profile DIR]
//
// LAKEFS_ENDPOINT, LAKEFS_ACCESS_KEY_ID, LAKEFS_SECRET_ACCESS_KEY, LAKEFS_STORAGE_NAMESPACE name a lakeFS to be used in place
// of the embedded one, PERAGO_PEER_PYTHON an interpreter that has the package, PERAGO_BENCH_LAKECTL the program.
import { parseArgs } from 'node:util'
import { openDatasets } from '../support/datasets.mjs'
import { printTable, round } from '../support/figures.mjs'
import { openBench } from '../support/processes.mjs'
import { startConductor, startLakefs } from '../support/servers.mjs'
import { measureQueueAlone } from '../support/queue-alone.mjs'
import { openConductorRequests } from '../support/workflows.mjs'
import { findLakectl, findPeerPython } from './install.mjs'
import { chainOf, countRow, measureRow, runSmallest } from './rows.mjs'
import { openStable } from './stable.mjs'
import { openCopy, openLakectl } from './tools.mjs'
import { measureGrowth, measureIdle, measureThroughput } from './whole-worker.mjs'
import { canBeWarm, COLD, openOurs, openPeer, WARM } from './workers.mjs'

const KIB = 1024
const MIB = 1024 * KIB
const [BRANCHES, CHAIN, SLOTS] = [20, 5, 4]

const DATASETS = {
  small: { files: 10, sizeBytes: KIB },
  many: { files: 5_000, sizeBytes: 4 * KIB },
  large: { files: 8, sizeBytes: 128 * MIB },
}
const ROWS = [
  {
    id: 'small',
    what: '10 × 1 KiB, one changed',
    dataset: 'small',
    task: 'write',
    change: 'one',
    tools: true,
    warm: true,
  },
  { id: 'read', what: '10 × 1 KiB, read-only', dataset: 'small', task: 'read', change: 'none' },
  { id: 'empty', what: '10 × 1 KiB, nothing changed', dataset: 'small', task: 'write', change: 'none' },
  {
    id: 'many',
    what: '5,000 × 4 KiB, one changed',
    dataset: 'many',
    task: 'write',
    change: 'one',
    tools: true,
    warm: true,
  },
  {
    id: 'all',
    what: '5,000 × 4 KiB, all changed',
    dataset: 'many',
    task: 'write',
    change: 'all',
    tools: true,
    warm: true,
  },
  {
    id: 'large',
    what: '8 × 128 MiB, 1 MiB changed',
    dataset: 'large',
    task: 'write',
    change: 'patch',
    tools: true,
    warm: true,
  },
]

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    growth: { type: 'string', default: '1000,10000,100000' },
    profile: { type: 'string' },
  },
})
const only = values.only?.split(',')
const wants = (id) => only === undefined || only.includes(id)

const bench = openBench('peer')
try {
  await measure()
} finally {
  await bench.close()
}

async function measure() {
  const python = findPeerPython()
  const lakectlPath = findLakectl()
  const lakefs = await startLakefs(bench)
  const conductor = await startConductor(bench)
  const requests = openConductorRequests(conductor.url)
  const datasets = await openDatasets(lakefs)
  bench.defer(() => datasets.close())
  const ours = openOurs(bench, COLD)
  const warm = openOurs(bench, WARM)
  const peer = openPeer(bench, python)
  const sides = [ours, ...(canBeWarm() ? [warm] : []), peer]
  await requests.registerTasks([...(await ours.taskDefs()), ...(await peer.taskDefs({ lakefs, conductor }))])
  for (const side of [ours, peer]) {
    for (const task of ['write', 'read'])
      for (const length of [1, 2, CHAIN])
        await requests.registerChain(chainOf(side, task, length), side.taskOf(task), length)
  }
  const openLakectlAt = (url) => openLakectl(bench, lakectlPath, { ...lakefs, url })
  const world = {
    ...{ bench, lakefs, conductor, requests, datasets, sides, openLakectlAt },
    rounds: Number(values.rounds),
    profile: values.profile,
    lakectl: lakectlPath === undefined ? undefined : openLakectlAt(lakefs.url),
    copy: openCopy(bench),
    smallest: await datasets.create('smallest', DATASETS.small),
  }
  console.log(
    `Over ${lakefs.kind}; best of ${world.rounds}; ${lakectlPath === undefined ? 'no lakectl here' : 'lakectl here'}.\n`,
  )

  // A server that has just started is slow at first.
  await measureQueueAlone({
    ...{ conductor, requests, branches: BRANCHES, chain: CHAIN, slots: SLOTS },
    workflow: chainOf(ours, 'write', CHAIN),
    taskType: ours.taskOf('write'),
  })
  await compareRows(world)
  if (wants('throughput')) await compareThroughput(world)
  if (wants('idle')) await compareIdle(world)
  if (wants('growth')) await showGrowth(world)
}

async function compareRows(world) {
  const found = []
  const at = {
    ...world,
    stable: openStable(world, { warmUp: (side, task) => runSmallest(world, side, task) }),
  }
  const filled = new Map()
  for (const row of ROWS.filter(({ id }) => wants(id))) {
    const { dataset } = row
    if (!filled.has(dataset)) filled.set(dataset, await world.datasets.create(dataset, DATASETS[dataset]))
    const whole = { ...row, data: filled.get(dataset) }
    found.push({ ...row, measured: await measureRow(at, whole), counted: await countRow(at, whole) })
    const seconds = [...found.at(-1).measured].map(([name, { seconds }]) => `${name} ${round(seconds)} s`)
    console.error(`${row.what}: ${seconds.join(', ')}`)
  }
  await at.stable.close()
  if (found.length === 0) return
  const tools = [...(world.lakectl === undefined ? [] : [world.lakectl.name]), world.copy.name]
  const names = [...world.sides.map(({ name }) => name), ...tools]
  const cell = (value) => (value === undefined ? '–' : round(value))
  const ratio = (a, b) => (a === undefined || b === undefined ? '–' : `${round(a / b)} ×`)

  console.log(
    'Seconds from the claim of a task to its completion, by the clock of Conductor; of the others, wall time.\n',
  )
  printTable(
    ['seconds', ...names, 'peer to ours', 'peer to warm', 'lakectl to ours'],
    found.map(({ what, measured }) => {
      const seconds = (name) => measured.get(name)?.seconds
      return [
        what,
        ...names.map((name) => cell(seconds(name))),
        ratio(seconds('peer'), seconds('ours')),
        ratio(seconds('peer'), seconds('ours, warm')),
        ratio(seconds('lakectl local'), seconds('ours')),
      ]
    }),
  )
  console.log('Requests to lakeFS, of those that read an object, and to Conductor without polls.\n')
  printTable(
    ['lakeFS (reads) + Conductor', ...names.slice(0, -1)],
    found.map(({ what, counted }) => [
      what,
      ...names.slice(0, -1).map((name) => {
        const counts = counted.get(name)
        return counts === undefined ? '–' : `${counts.lakefs} (${counts.reads}) + ${counts.conductor}`
      }),
    ]),
  )
  console.log('Files that were published although nobody had changed them.\n')
  printTable(
    ['files', ...names.slice(0, -1)],
    found.map(({ what, measured }) => [
      what,
      ...names.slice(0, -1).map((name) => String(measured.get(name)?.untouched ?? '–')),
    ]),
  )
  console.log(
    'Memory of the worker and all its processes at most: what they share counted once (looked at now and then), and counted for each of them (RSS).\n',
  )
  const workers = world.sides.map(({ name }) => name)
  printTable(
    ['MiB', ...workers.flatMap((name) => [name, `${name}: RSS`])],
    found.map(({ what, measured }) => [
      what,
      ...workers.flatMap((name) => [
        cell(measured.get(name)?.peakPssMib),
        cell(measured.get(name)?.peakRssMib),
      ]),
    ]),
  )
}

async function compareThroughput(world) {
  const best = await measureThroughput(world, {
    data: world.smallest,
    branches: BRANCHES,
    chain: CHAIN,
    slots: SLOTS,
  })
  const of = (name) => best.get(name)?.tasksPerSecond
  console.log(
    `${BRANCHES} branches × ${CHAIN} tasks in a row, ${SLOTS} slots, each task 10 × 1 KiB with one changed.\n`,
  )
  printTable(
    ['', ...best.keys(), 'ours to peer'],
    [['tasks a second', ...[...best.keys()].map((name) => of(name)), `${round(of('ours') / of('peer'))} ×`]],
  )
}

async function compareIdle(world) {
  const idle = await measureIdle(world, { slots: SLOTS })
  const names = [...idle.keys()]
  console.log(`A worker with ${SLOTS} slots and nothing to do.\n`)
  printTable(
    ['', ...names],
    [
      ['processor, % of one core', ...names.map((name) => idle.get(name).cpuPercent)],
      ['memory, MiB, shared counted once', ...names.map((name) => idle.get(name).pssMib)],
      ['memory, MiB, RSS of all processes', ...names.map((name) => idle.get(name).rssMib)],
      ['from its start to its first poll, s', ...names.map((name) => idle.get(name).firstPollSeconds)],
    ],
  )
}

async function showGrowth(world) {
  const rows = await measureGrowth(world, values.growth.split(',').map(Number))
  const names = world.sides.filter(({ isOurs }) => isOurs).map(({ name }) => name)
  console.log('Our worker, one changed file among ever more, counted in between, which slows it.\n')
  printTable(
    ['files', ...names.flatMap((name) => [`${name}: s`, 'objects read', 'other requests', 'MiB at most'])],
    rows.map((row) => [
      String(row.files),
      ...names.flatMap((name) => {
        const { seconds, reads, others, peakRssMib } = row[name]
        return [seconds, String(reads), String(others), peakRssMib]
      }),
    ]),
  )
}
