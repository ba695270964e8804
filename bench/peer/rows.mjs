// One row of the comparison: all sides in turn, in several rounds, each run on its own branch and verified.
import { setTimeout as wait } from 'node:timers/promises'
import { quantile } from '../support/figures.mjs'
import { seedOf, taskMs, workflowTimes } from '../support/workflows.mjs'
import { verifyBranch } from './verify.mjs'

/** Work of a worker after its result belongs neither to this run nor to the next. */
const SETTLE_MS = 250
/** Polls have a rhythm: without pauses of different lengths every run would meet it at the same moment. */
const PAUSE_MS = 200

let runs = 0
let pauses = 0

/**
 * `{ samples, untouched, peakRssMib, peakPssMib }` for each side by its name. A sample has `seconds`, and of a worker
 * `endToEndMs`; `untouched` is how many files were published that nobody had changed.
 */
export async function measureRow(world, row) {
  const { lakectl, copy, rounds, runs: many, stable } = world
  const measured = new Map()
  const note = (name, { seconds, endToEndMs, ...found }) => {
    const { samples = [] } = measured.get(name) ?? {}
    measured.set(name, { ...measured.get(name), ...found, samples: [...samples, { seconds, endToEndMs }] })
  }
  const count = row.often ? Math.ceil(many / rounds) : 1
  for (const side of world.sides) await stable.within(side, row.task, (worker) => worker.resetPeakRss())
  for (let round = 0; round < rounds; round++) {
    for (const side of inTurn(world.sides, round)) {
      await stable.within(side, row.task, async (worker) => {
        // A worker that was stopped polls anew first.
        if (row.often) await runTask(world, row, side)
        const stopWatching = worker.watchPss()
        for (let turn = 0; turn < count; turn++) note(side.name, await runTask(world, row, side))
        const [peakPssMib, peakRssMib] = [stopWatching(), worker.peakRssMib()]
        measured.set(side.name, { ...measured.get(side.name), peakPssMib, peakRssMib })
      })
    }
    if (!row.tools) continue
    for (let turn = 0; turn < count; turn++) {
      if (lakectl !== undefined) note(lakectl.name, await runLakectl(world, row, lakectl))
      if (copy !== undefined) note(copy.name, { seconds: copy.copy(row.data), untouched: 0 })
    }
  }
  return measured
}

/** Requests to lakeFS and to Conductor for one run of each side, through counting proxies that slow it. */
export async function countRow(world, row) {
  const { openLakectlAt, stable } = world
  const counters = await stable.openCounters()
  const clear = () => Promise.all(counters.map((counter) => counter.take()))
  const counted = new Map()
  const take = async (name) => {
    const [lakefs, conductor] = await clear()
    counted.set(name, {
      lakefs: sumOf(lakefs, () => true),
      reads: sumOf(lakefs, isRead),
      conductor: sumOf(conductor, (what) => !what.includes('poll')),
    })
  }
  for (const side of world.sides) {
    const run = async () => {
      await clear()
      if (side.isWarm) await runTwice(world, row, side, clear)
      else await runTask(world, row, side)
      await take(side.name)
    }
    await stable.within(side, row.task, run, { isCounted: true })
  }
  if (row.tools && world.lakectl !== undefined) {
    await clear()
    await runLakectl(world, row, openLakectlAt(counters[0].url))
    await take(world.lakectl.name)
  }
  return counted
}

/** Every other round the other way round, so that no side is always the first. */
export function inTurn(sides, round) {
  return round % 2 === 0 ? sides : sides.toReversed()
}

/** A task that is not measured. */
export function runSmallest(world, side, task) {
  if (task === 'noop') return runNoop(world, side)
  return runTask(world, { data: world.smallest, change: task === 'write' ? 'one' : 'none', task }, side)
}

/** One task without a workspace; its times in ms. */
export async function runNoop({ requests }, side) {
  const seed = `noop ${++runs}`
  await pause()
  const id = await requests.start(chainOf(side, 'noop', 1), { params: { seed } }, side)
  const workflow = await requests.ended(id)
  const answered = workflow.tasks[0].outputData.result?.seed
  if (answered !== seedOf(seed, 0)) throw new Error(`${side.name}: the task answered ${String(answered)}`)
  return workflowTimes(workflow)
}

/** Whether a counted request fetches the bytes of an object. */
export function isRead(what) {
  return /^GET .*\/refs\/\*\/objects$/.test(what)
}

export function sumOf(counts, matches) {
  return Object.entries(counts).reduce((total, [what, count]) => total + (matches(what) ? count : 0), 0)
}

/** Two tasks as two workflows, so that they can be told apart; the times of the second. */
export async function runTwice(world, row, side, between = () => undefined) {
  const { requests, datasets } = world
  const { data, change } = row
  const branch = await datasets.branch(data, `run-${++runs}`)
  const seed = `run ${runs}`
  let { ref } = data
  let workflow
  for (let turn = 0; turn < 2; turn++) {
    await between()
    await pause()
    const input = inputOf(row, { branch, ref, seed: `${seed} turn ${turn}` })
    const id = await requests.start(chainOf(side, row.task, 1), input, side)
    workflow = await requests.ended(id)
    ref = workflow.tasks[0].outputData.workspace.ref
    await wait(SETTLE_MS)
  }
  const seeds = [0, 1].map((turn) => seedOf(`${seed} turn ${turn}`, 0))
  const untouched = await verifyBranch({ data, branch, change, seeds, reportedRef: ref })
  return { ...timesOf(workflow), untouched }
}

/** One run: from the claim of the task to its completion, by Conductor's clock; for a warm side, the second of two tasks. */
export async function runTask(world, row, side) {
  // Two workflows: of a chain only the first task is requested.
  if (side.isWarm && row.often) return runTwice(world, row, side)
  const { requests, datasets } = world
  const { data, change } = row
  const length = side.isWarm ? 2 : 1
  const branch = await datasets.branch(data, `run-${++runs}`)
  const seed = `run ${runs}`
  await pause()
  const input = inputOf(row, { branch, ref: data.ref, seed })
  const workflow = await requests.ended(await requests.start(chainOf(side, row.task, length), input, side))
  await wait(SETTLE_MS)
  const { tasks } = workflow
  const seeds = tasks.map((_, index) => seedOf(seed, index))
  const reportedRef = tasks.at(-1).outputData.workspace.ref
  const untouched = await verifyBranch({ data, branch, change, seeds, reportedRef })
  return { ...timesOf(workflow), untouched }
}

async function runLakectl({ datasets }, { data, change }, lakectl) {
  const branch = await datasets.branch(data, `run-${++runs}`)
  const seed = `run ${runs}`
  const seconds = lakectl.publish(data, { branch, change, seed })
  const untouched = await verifyBranch({ data, branch, change, seeds: [seed], reportedRef: undefined })
  return { seconds, untouched }
}

export function chainOf(side, task, length) {
  return `bench_${side.taskOf(task)}_${length}`
}

export function inputOf({ data, change }, { branch, ref, seed }) {
  const { repository, files, lastBytes, sizeBytes } = data
  return {
    workspace: { repository, branch, refType: 'commit', ref },
    params: { change, seed, files, sizeBytes: change === 'last' ? lastBytes : sizeBytes },
  }
}

/** Of the samples of one side. */
export function bestOf({ samples }) {
  return Math.min(...samples.map(({ seconds }) => seconds))
}

export function quantileOf({ samples }, share, of) {
  return quantile(samples.map(of), share)
}

function timesOf(workflow) {
  return { seconds: taskMs(workflow.tasks.at(-1)) / 1_000, ...workflowTimes(workflow) }
}

function pause() {
  return wait((++pauses * 37) % PAUSE_MS)
}
