// Compares our worker, the Python package of the same name (0.6.1), `lakectl local clone` + `commit` and `cp -r` on the same
// servers, in turn. Every run is verified: bytes, number of commits, reported ref. Servers and clients share this machine; a
// network is not measured. The last table shows all rows.
//
//   npm run bench -- peer [--rounds 3] [--only small,read,…] [--sides peer,ours,warm,before,before-warm,lakectl,cp]
//     [--beside CHECKOUT] [--runs 30] [--noops 60] [--starts 5] [--processes 1,2,4] [--process-slots 1] [--fleet 20,100]
//     [--growth 1000,10000,100000] [--no-requests] [--profile DIR]
//
// --beside: another built checkout of ours is measured in the same rounds. --no-requests: no second run that counts requests.
// LAKEFS_ENDPOINT, LAKEFS_ACCESS_KEY_ID, LAKEFS_SECRET_ACCESS_KEY, LAKEFS_STORAGE_NAMESPACE name a lakeFS to be used in place
// of the embedded one, PERAGO_PEER_PYTHON an interpreter that has the package, PERAGO_BENCH_LAKECTL the program.
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { checkoutBeside } from '../support/checkouts.mjs'
import { openDatasets } from '../support/datasets.mjs'
import { round } from '../support/figures.mjs'
import { openBench } from '../support/processes.mjs'
import { measureQueueAlone } from '../support/queue-alone.mjs'
import { startConductor, startLakefs } from '../support/servers.mjs'
import { openConductorRequests } from '../support/workflows.mjs'
import { compareIdle, compareMemory, compareStarts } from './alone.mjs'
import { showBounds } from './bounds.mjs'
import { DATASETS, ROWS } from './catalog.mjs'
import { compareRows } from './compare-rows.mjs'
import { compareFirstRun } from './first-run.mjs'
import { compareFleets } from './fleet.mjs'
import { showGrowth } from './growth.mjs'
import { findLakectl, findPeerPython } from './install.mjs'
import { compareNoop } from './noop.mjs'
import { chainOf, runSmallest } from './rows.mjs'
import { openStable } from './stable.mjs'
import { openSummary } from './summary.mjs'
import { compareScale, compareThroughput } from './throughput.mjs'
import { openCopy, openLakectl } from './tools.mjs'
import { openAllOurs, openPeer } from './workers.mjs'

const [BRANCHES, CHAIN, SLOTS] = [20, 5, 4]
const WITH_WORKSPACE = ['write', 'read']
const OTHERS = [
  'bounds',
  'noop',
  'throughput',
  'scale',
  'starts',
  'idle',
  'memory',
  'first',
  'fleet',
  'growth',
]
const IDS = [...ROWS.map(({ id }) => id), ...OTHERS]
const SIDES = ['peer', 'ours', 'warm', 'before', 'before-warm', 'lakectl', 'cp']

const text = (value) => ({ type: 'string', default: value })
const { values } = parseArgs({
  options: {
    ...{ rounds: text('3'), runs: text('30'), noops: text('60'), starts: text('5') },
    ...{ only: text(IDS.join(',')), sides: text(SIDES.join(',')), beside: { type: 'string' } },
    ...{ processes: text('1,2,4'), 'process-slots': text('1'), fleet: text('20,100') },
    growth: text('1000,10000,100000'),
    'no-requests': { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})
const chosen = (name, known) => {
  const named = values[name].split(',')
  const unknown = named.find((each) => !known.includes(each))
  if (unknown !== undefined) throw new Error(`--${name} ${unknown}: there are ${known.join(', ')}`)
  return (id) => named.includes(id)
}
const numbers = (name) => values[name].split(',').map(Number)
const [wants, hasSide] = [chosen('only', IDS), chosen('sides', SIDES)]

const bench = openBench('peer')
try {
  await measure()
} finally {
  await bench.close()
}

async function measure() {
  const beside = values.beside === undefined ? undefined : checkoutBeside(values.beside)
  const world = await openWorld(beside)
  const { lakectl, lakefs, rounds, summary } = world
  const load = () => loadavg().map(round).join(' ')
  console.log(
    `Over ${lakefs.kind}; ${rounds} rounds; ${lakectl === undefined ? 'no lakectl' : 'lakectl'} here.`,
  )
  console.log(`Load average before: ${load()}.\n`)

  try {
    await compare(world)
  } finally {
    // Also of the rows before one that failed.
    summary.print()
    console.log(`Load average after: ${load()}.`)
  }
}

async function compare(world) {
  const work = { branches: BRANCHES, chain: CHAIN, slots: SLOTS }
  const { ours } = world
  if (wants('bounds'))
    await showBounds(world, { work, workflow: chainOf(ours, 'write', CHAIN), taskType: ours.taskOf('write') })

  const stable = openStable(world, { warmUp: (side, task) => runSmallest(world, side, task) })
  if (wants('noop')) await compareNoop(world, stable)
  const rows = ROWS.filter(({ id }) => wants(id))
  await compareRows({ ...world, stable }, rows)
  await stable.close()

  if (wants('throughput')) await compareThroughput(world, work)
  const processSlots = numbers('process-slots')[0]
  if (wants('scale'))
    await compareScale(world, { ...work, slots: processSlots, counts: numbers('processes') })
  if (wants('starts')) await compareStarts(world, { starts: numbers('starts')[0], slots: SLOTS })
  if (wants('idle')) await compareIdle(world, { slots: SLOTS })
  if (wants('memory')) await compareMemory(world)
  if (wants('first')) await compareFirstRun(world)
  if (wants('fleet')) await compareFleets(world, { sizes: numbers('fleet'), slots: SLOTS })
  if (wants('growth')) await showGrowth(world, numbers('growth'))
}

async function openWorld(beside) {
  const ours = openAllOurs(bench, beside)
  const lakefs = await startLakefs(bench)
  const conductor = await startConductor(bench)
  const requests = openConductorRequests(conductor.url)
  const datasets = await openDatasets(lakefs)
  bench.defer(() => datasets.close())
  const peer = hasSide('peer') ? openPeer(bench, findPeerPython()) : undefined
  const sides = [...(peer === undefined ? [] : [peer]), ...ours.filter(({ id }) => hasSide(id))]
  await register(requests, { lakefs, conductor }, [ours[0], ...(peer === undefined ? [] : [peer])])
  const lakectlPath = hasSide('lakectl') ? findLakectl() : undefined
  const openLakectlAt = (url) => openLakectl(bench, lakectlPath, { ...lakefs, url })
  const lakectl = lakectlPath === undefined ? undefined : openLakectlAt(lakefs.url)
  const copy = hasSide('cp') ? openCopy(bench) : undefined
  // A server that has just started is slow at first.
  await measureQueueAlone({
    ...{ conductor, requests, branches: BRANCHES, chain: CHAIN, slots: SLOTS },
    workflow: chainOf(ours[0], 'write', CHAIN),
    taskType: ours[0].taskOf('write'),
  })
  const isBefore = ({ id }) => id?.startsWith('before') === true
  const isPeer = ({ id }) => id === 'peer'
  const inOrder = [
    ...sides.filter(isPeer),
    ...[lakectl, copy].filter((tool) => tool !== undefined),
    ...sides.filter(isBefore),
    ...sides.filter((side) => !isPeer(side) && !isBefore(side)),
  ]
  const sideNames = inOrder.map(({ name }) => name)
  return {
    ...{ bench, lakefs, conductor, requests, datasets, sides, sideNames, openLakectlAt, lakectl, copy },
    ...{ rounds: numbers('rounds')[0], runs: numbers('runs')[0], noops: numbers('noops')[0] },
    ...{ isCounting: !values['no-requests'], profile: values.profile },
    ...{ summary: openSummary(sideNames), ours: ours[0] },
    smallest: await datasets.create('smallest', DATASETS.small),
  }
}

async function register(requests, servers, sides) {
  for (const side of sides) {
    await requests.registerTasks(await side.taskDefs(servers))
    for (const task of WITH_WORKSPACE)
      for (const length of [1, 2, CHAIN])
        await requests.registerChain(chainOf(side, task, length), side.taskOf(task), length)
    await requests.registerChain(chainOf(side, 'noop', 1), side.taskOf('noop'), 1, { hasWorkspace: false })
  }
}
