// One row of the comparison: all sides in turn, in several rounds, each run on its own branch and verified.
import { seedOf, taskMs } from '../support/workflows.mjs'
import { verifyBranch } from './verify.mjs'

let runs = 0

/**
 * `{ seconds, untouched, peakRssMib, peakPssMib }` for each side by its name. The seconds are those of the best round, `untouched` is how
 * many files were published that nobody had changed.
 */
export async function measureRow(world, row) {
  const { lakectl, copy, rounds, stable } = world
  const measured = new Map()
  const note = (name, { seconds, ...found }) => {
    const before = measured.get(name)?.seconds ?? Infinity
    measured.set(name, { ...measured.get(name), ...found, seconds: Math.min(before, seconds) })
  }
  const sides = sidesOf(world, row)
  for (const side of sides) await stable.within(side, row.task, (worker) => worker.resetPeakRss())
  for (let round = 0; round < rounds; round++) {
    for (const side of sides) {
      const run = async (worker) => {
        const stopWatching = worker.watchPss()
        const found = await runTask(world, row, side)
        return { ...found, peakPssMib: stopWatching(), peakRssMib: worker.peakRssMib() }
      }
      note(side.name, await stable.within(side, row.task, run))
    }
    if (lakectl !== undefined && row.tools) note(lakectl.name, await runLakectl(world, row, lakectl))
    if (row.tools) note(copy.name, { seconds: copy.copy(row.data), untouched: 0 })
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
  for (const side of sidesOf(world, row)) {
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

/** A task that is not measured. */
export function runSmallest(world, side, task) {
  return runTask(world, { data: world.smallest, change: task === 'write' ? 'one' : 'none', task }, side)
}

/** Whether a counted request fetches the bytes of an object. */
export function isRead(what) {
  return /^GET .*\/refs\/\*\/objects$/.test(what)
}

export function sumOf(counts, matches) {
  return Object.entries(counts).reduce((total, [what, count]) => total + (matches(what) ? count : 0), 0)
}

function sidesOf({ sides }, row) {
  return sides.filter(({ isWarm }) => row.warm || !isWarm)
}

/** Two tasks as two workflows, so that their requests can be told apart; the seconds of the second. */
export async function runTwice(world, row, side, between) {
  const { requests, datasets } = world
  const branch = await datasets.branch(row.data, `run-${++runs}`)
  let { ref } = row.data
  let seconds
  for (let turn = 0; turn < 2; turn++) {
    await between()
    const input = inputOf(row, { branch, ref, seed: `turn ${turn}` })
    const id = await requests.start(chainOf(side, row.task, 1), input, side)
    const [task] = (await requests.ended(id)).tasks
    ref = task.outputData.workspace.ref
    seconds = taskMs(task) / 1_000
    await settle()
  }
  return { seconds }
}

/** One run: from the claim of the task to its completion, by Conductor's clock; for a warm side, the second of two tasks. */
export async function runTask(world, row, side) {
  const { requests, datasets } = world
  const { data, change } = row
  const length = side.isWarm ? 2 : 1
  const branch = await datasets.branch(data, `run-${++runs}`)
  const seed = `run ${runs}`
  const id = await requests.start(
    chainOf(side, row.task, length),
    inputOf(row, { branch, ref: data.ref, seed }),
    side,
  )
  const { tasks } = await requests.ended(id)
  await settle()
  const seeds = tasks.map((_, index) => seedOf(seed, index))
  const reportedRef = tasks.at(-1).outputData.workspace.ref
  const untouched = await verifyBranch({ data, branch, change, seeds, reportedRef })
  return { seconds: taskMs(tasks.at(-1)) / 1_000, untouched }
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
  const { repository, files, sizeBytes } = data
  return {
    workspace: { repository, branch, refType: 'commit', ref },
    params: { change, seed, files, sizeBytes },
  }
}

/** Work of a worker after its result belongs neither to this run nor to the next. */
function settle() {
  return new Promise((resolve) => setTimeout(resolve, 250))
}
