// What a task costs besides its body: latency of each step, requests, tasks per second, CPU and memory. One worker process,
// the real Conductor, lakeFS (embedded, or the one that LAKEFS_ENDPOINT names), all on this machine. Measures neither a
// network nor a body.
//
//   npm run bench -- worker [--tasks 60] [--branches 20] [--chain 5] [--slots 4] [--cpu-prof DIR] [--beside CHECKOUT]
//
// --beside: the built worker of another checkout does the same work in turn with this one; only latency and throughput.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { declaredTaskDef } from '../../dist/runtime/modules/task-registration.js'
import { loadTasks } from '../../dist/worker/bodies/load-tasks.js'
import { checkoutBeside, HERE } from '../support/checkouts.mjs'
import { openDatasets } from '../support/datasets.mjs'
import { printTable, quantile, round } from '../support/figures.mjs'
import { cpuMs, openBench, peakRssMib, rssMib, startProgram } from '../support/processes.mjs'
import { startConductor, startCounter, startLakefs } from '../support/servers.mjs'
import { measureQueueAlone } from '../support/queue-alone.mjs'
import { openConductorRequests, taskMs } from '../support/workflows.mjs'

const TASKS_PATH = fileURLToPath(new URL('../support/tasks.mjs', import.meta.url))
const SMALL = { files: 10, sizeBytes: 1024 }
const WARM_UP = 10
const COUNTED = 20
/** No content cache, no reused directory. */
const COLD = { cacheBytes: 0, warm: false }

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '60' },
    branches: { type: 'string', default: '20' },
    chain: { type: 'string', default: '5' },
    slots: { type: 'string', default: '4' },
    'cpu-prof': { type: 'string' },
    beside: { type: 'string' },
  },
})
const [tasks, branches, chain, slots] = ['tasks', 'branches', 'chain', 'slots'].map((name) =>
  Number(values[name]),
)
const checkouts =
  values.beside === undefined
    ? [{ label: '', directory: HERE }]
    : [
        { label: ' here', directory: HERE },
        { label: ' beside', directory: checkoutBeside(values.beside) },
      ]

const bench = openBench('worker')
try {
  await measure()
} finally {
  await bench.close()
}

async function measure() {
  const lakefs = await startLakefs(bench)
  const conductor = await startConductor(bench)
  const requests = openConductorRequests(conductor.url)
  const datasets = await openDatasets(lakefs)
  bench.defer(() => datasets.close())
  await requests.registerTasks((await loadTasks(TASKS_PATH)).map(declaredTaskDef))
  await requests.registerChain('bench_one', 'perago_bench_write', 1)
  await requests.registerChain('bench_chain', 'perago_bench_write', chain)
  const world = { lakefs, conductor, requests, data: await datasets.create('small', SMALL), datasets }

  await latency(world)
  if (values.beside === undefined) await requestsPerTask(world)
  await throughput(world)
}

/** Cold and warm in turn, task by task, so that other load slows both. */
async function latency(world) {
  const { lakefs } = world
  const kinds = []
  for (const [kind, kept] of Object.entries({ cold: COLD, warm: {} })) {
    for (const { label, directory } of checkouts) {
      kinds.push(await openChain(world, { name: `${kind}${label}`, directory, kept }))
    }
  }
  for (let turn = 0; turn < WARM_UP + tasks; turn++) {
    for (const kind of kinds) await kind.run(turn)
  }
  for (const { worker } of kinds) await worker.close()

  const pick = (what, of) => [
    what,
    ...kinds.flatMap(({ samples }) => {
      const found = samples.map(of)
      return [quantile(found, 0.5), quantile(found, 0.95)]
    }),
  ]
  const step = (name, nth = 0) => {
    return ({ attempt }) => attempt.steps.filter((each) => each.step === name)[nth]?.durationMs ?? 0
  }
  const claimToCompletion = ({ attempt }) => endOf(attempt, 'deliver') - attempt.startedAtMs
  const startToClaim = ({ before, attempt }) => attempt.startedAtMs - before
  console.log(
    `## One small publication (10 × 1 KiB, one changed), one at a time, ${tasks} times, over ${lakefs.kind}\n`,
  )
  printTable(
    ['ms', ...kinds.flatMap(({ name }) => [`${name}: p50`, 'p95'])],
    [
      pick('**from the claim to the answered completion**', claimToCompletion),
      pick('by the clock of Conductor', ({ task }) => taskMs(task)),
      pick('workflow asked for → claimed by the worker', startToClaim),
      pick('of which Conductor takes to answer the start', ({ before, started }) => started - before),
      pick('lay out', step('lay-out')),
      pick('pre guardrails', step('pre-guardrails')),
      pick('body', step('body')),
      pick('post guardrails', step('post-guardrails')),
      pick('compare', step('compare')),
      pick('publish: attempt fence 1', step('publish/attempt-fence', 0)),
      pick('publish: open staging', step('publish/open-staging')),
      pick('publish: upload', step('publish/upload')),
      pick('publish: commit', step('publish/commit-staging')),
      pick('publish: verify what was staged', step('publish/verify-staging')),
      pick('publish: attempt fence 2', step('publish/attempt-fence', 1)),
      pick('publish: read the branch', step('publish/read-facts')),
      pick('publish: merge', step('publish/merge')),
      pick('publish: verify the branch', step('publish/verify')),
      pick('publish, in all', step('publish')),
      pick('hand the directory over', step('hand-over')),
      pick('release the lease', step('release-lease')),
      pick('complete (outbox, post, read back)', step('deliver')),
      pick('clean up, afterwards', step('clean-up')),
    ],
  )
}

/** A worker and a branch; each task reads what the task before published. */
async function openChain({ lakefs, conductor, requests, data, datasets }, { name, directory, kept }) {
  const domain = name.replace(' ', '-')
  const worker = await openWorker({ name: domain, directory, lakefs, conductor, slots: 1, kept })
  const branch = await datasets.branch(data, domain)
  const samples = []
  let { ref } = data
  return {
    name,
    worker,
    samples,
    async run(turn) {
      const before = now()
      const input = inputOf(data, { branch, ref, change: 'one', seed: `turn ${turn}` })
      const id = await requests.start('bench_one', input, { domain })
      const started = now()
      const [task] = (await requests.ended(id)).tasks
      ref = task.outputData.workspace.ref
      const attempt = await worker.attemptOf(task.taskId)
      if (turn >= WARM_UP) samples.push({ before, started, attempt, task })
    },
  }
}

async function requestsPerTask({ lakefs, conductor, requests, data, datasets }) {
  const counted = {
    lakefs: await startCounter(bench, lakefs.url),
    conductor: await startCounter(bench, conductor.url),
  }
  const worker = await openWorker({
    name: 'requests',
    lakefs: { ...lakefs, url: counted.lakefs.url },
    conductor: { ...conductor, url: counted.conductor.url },
    slots: 1,
    kept: COLD,
    directory: HERE,
  })
  const branch = await datasets.branch(data, 'requests')
  let { ref } = data
  const rows = new Map()
  for (let turn = 0; turn < 1 + COUNTED; turn++) {
    const input = inputOf(data, { branch, ref, change: 'one', seed: `turn ${turn}` })
    const id = await requests.start('bench_one', input, { domain: 'requests' })
    const { tasks: done } = await requests.ended(id)
    ref = done[0].outputData.workspace.ref
    await worker.attemptOf(done[0].taskId)
    for (const side of ['lakefs', 'conductor']) {
      // The first task also makes the requests that a worker makes once.
      for (const [what, count] of Object.entries(await counted[side].take())) {
        const key = `${side} | ${what}`
        if (turn > 0) rows.set(key, (rows.get(key) ?? 0) + count / COUNTED)
      }
    }
  }
  await worker.close()
  const sum = (side) =>
    [...rows].reduce((total, [key, count]) => total + (key.startsWith(side) ? count : 0), 0)
  console.log(`## Requests for each such publication\n`)
  printTable(
    ['to', 'request', 'each task'],
    [
      ...[...rows].map(([key, count]) => [...key.split(' | '), round(count)]),
      ['lakefs', '**in all**', round(sum('lakefs'))],
      ['lakefs', '**without reading the ten files**', round(sum('lakefs') - SMALL.files)],
      ['conductor', '**in all**, waiting polls included', round(sum('conductor'))],
    ],
  )
}

async function throughput(world) {
  const { conductor, requests } = world
  const alone = await measureQueueAlone({
    ...{ conductor, requests, branches, chain, slots },
    workflow: 'bench_chain',
    taskType: 'perago_bench_write',
  })
  const rounds = []
  // There and back, so that neither is always the second one.
  for (const { label, directory } of values.beside === undefined
    ? checkouts
    : [...checkouts, ...checkouts.toReversed()]) {
    rounds.push({ label, ...(await throughputOf(world, directory, `throughput-${rounds.length}`)) })
  }
  const ofEach = (of) => rounds.map(of)
  console.log(`## ${branches} branches × ${chain} tasks in a row, ${slots} slots in one process\n`)
  printTable(
    ['what', ...ofEach(({ label }) => `value${label}`), 'Conductor alone', ...ofEach(() => 'ratio')],
    [
      [
        'tasks a second',
        ...ofEach(({ tasksPerSecond }) => tasksPerSecond),
        alone.tasksPerSecond,
        ...ofEach(({ tasksPerSecond }) => tasksPerSecond / alone.tasksPerSecond),
      ],
      ...[0.5, 0.95].map((share) => [
        `from claim to completion, p${share * 100} ms`,
        ...ofEach(({ each }) => quantile(each, share)),
        quantile(alone.taskMs, share),
        ...ofEach(() => '–'),
      ]),
      ...[
        ['processor time of the worker, ms a task', 'cpuMs'],
        ['… as a share of one core', 'core'],
        ['memory of the worker before, MiB', 'idleRss'],
        ['memory of the worker after, MiB', 'rss'],
        ['memory of the worker at most, MiB', 'peak'],
      ].map(([what, name]) => [what, ...ofEach((round) => round[name]), '–', ...ofEach(() => '–')]),
    ],
  )
}

async function throughputOf({ lakefs, conductor, requests, data, datasets }, directory, name) {
  const worker = await openWorker({ name, directory, lakefs, conductor, slots, kept: COLD })
  const names = await Promise.all(
    Array.from({ length: branches }, (_, index) => datasets.branch(data, `${name}-${index}`)),
  )
  const idleRss = rssMib(worker.pid)
  const cpuBefore = cpuMs(worker.pid)
  const startMs = now()
  const ids = await Promise.all(
    names.map((branch) => {
      const input = inputOf(data, { branch, ref: data.ref, change: 'one', seed: branch })
      return requests.start('bench_chain', input, { domain: name })
    }),
  )
  const workflows = await Promise.all(ids.map((id) => requests.ended(id)))
  const seconds = (now() - startMs) / 1_000
  const count = branches * chain
  const cpu = cpuMs(worker.pid) - cpuBefore
  const [rss, peak] = [rssMib(worker.pid), peakRssMib(worker.pid)]
  const each = workflows.flatMap((workflow) => workflow.tasks.map(taskMs))
  await worker.close()
  return {
    tasksPerSecond: count / seconds,
    each,
    cpuMs: cpu / count,
    core: cpu / 1_000 / seconds,
    ...{ idleRss, rss, peak },
  }
}

function inputOf(data, { branch, ref, change, seed }) {
  const { repository, files, sizeBytes } = data
  return {
    workspace: { repository, branch, refType: 'commit', ref },
    params: { change, seed, files, sizeBytes },
  }
}

async function openWorker({ name, directory, lakefs, conductor, slots: count, kept }) {
  const profile = values['cpu-prof']
  const args =
    profile === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${name}.cpuprofile`]
  const program = startProgram(
    process.execPath,
    [...args, join(directory, 'bench/worker/worker-process.mjs')],
    { ipc: true },
  )
  bench.defer(() => program.close())
  const attempts = new Map()
  let becomeReady
  const ready = new Promise((resolve, reject) => {
    becomeReady = resolve
    program.child.once('exit', () => reject(new Error(`the worker ended: ${program.said()}`)))
  })
  program.child.on('message', (message) => {
    if (message.ready) becomeReady()
    if (message.attempt) attempts.set(message.attempt.taskId, message.attempt)
  })
  program.child.send({
    modulePath: join(directory, 'bench/support/tasks.mjs'),
    configuration: {
      lakefs: { endpoint: lakefs.url, credentials: lakefs.keys, connections: 32 },
      conductor: { serverUrl: conductor.url, auth: undefined },
      log: { level: 'silent', format: 'json' },
    },
    options: { root: join(bench.directory, 'roots', name), domain: name, slots: count, ...kept },
  })
  await ready
  return {
    pid: program.pid,
    /** Once it has ended, clean-up included. */
    async attemptOf(taskId) {
      while (!attempts.has(taskId)) await new Promise((resolve) => setTimeout(resolve, 2))
      return attempts.get(taskId)
    },
    async close() {
      const gone = new Promise((resolve) => program.child.once('exit', resolve))
      program.child.send('stop')
      await gone
    },
  }
}

function endOf(attempt, name) {
  return attempt.steps.find(({ step }) => step === name).endedAtMs
}

function now() {
  return performance.timeOrigin + performance.now()
}
