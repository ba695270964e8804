// A worker as a whole: tasks per second over many branches, resources while idle, and growth with the number of files.
import { setTimeout as wait } from 'node:timers/promises'
import { startCounter } from '../support/servers.mjs'
import { seedOf } from '../support/workflows.mjs'
import { chainOf, inputOf, isRead, runSmallest, runTask, runTwice, sumOf } from './rows.mjs'
import { verifyBranch } from './verify.mjs'
import { startWorker } from './workers.mjs'

const IDLE_SETTLE_MS = 20_000
const IDLE_MS = 60_000

/** Tasks per second, best of the rounds, by the name of the side. */
export async function measureThroughput(world, { data, branches, chain, slots }) {
  const { bench, sides, rounds, requests, datasets } = world
  const best = new Map()
  for (let round = 0; round < rounds; round++) {
    for (const side of sides) {
      const worker = await startWorker(bench, side, { ...world, task: 'write', slots })
      await Promise.all(Array.from({ length: slots }, () => runSmallest(world, side, 'write')))
      const runs = await Promise.all(
        Array.from({ length: branches }, async (_, index) => {
          const name = `throughput-${round}-${side.taskOf('write')}-${side.isWarm ? 'warm' : 'cold'}-${index}`
          return { branch: await datasets.branch(data, name), seed: name }
        }),
      )
      const row = { data, change: 'one' }
      const startMs = performance.now()
      const ids = await Promise.all(
        runs.map((run) =>
          requests.start(chainOf(side, 'write', chain), inputOf(row, { ...run, ref: data.ref }), side),
        ),
      )
      const workflows = await Promise.all(ids.map((id) => requests.ended(id)))
      const seconds = (performance.now() - startMs) / 1_000
      await worker.close()
      for (const [index, { tasks }] of workflows.entries()) {
        const seeds = tasks.map((_, step) => seedOf(runs[index].seed, step))
        const reportedRef = tasks.at(-1).outputData.workspace.ref
        await verifyBranch({ data, branch: runs[index].branch, change: 'one', seeds, reportedRef })
      }
      const before = best.get(side.name)?.tasksPerSecond ?? 0
      best.set(side.name, { tasksPerSecond: Math.max(before, (branches * chain) / seconds) })
    }
  }
  return best
}

/** Share of one core and resident memory of an idle worker. */
export async function measureIdle(world, { slots }) {
  const idle = new Map()
  for (const side of world.sides) {
    const worker = await startWorker(world.bench, side, { ...world, task: 'write', slots })
    await wait(IDLE_SETTLE_MS)
    const before = worker.cpuMs()
    await wait(IDLE_MS)
    const cpuPercent = (100 * (worker.cpuMs() - before)) / IDLE_MS
    idle.set(side.name, {
      cpuPercent,
      rssMib: worker.rssMib(),
      pssMib: worker.pssMib(),
      firstPollSeconds: worker.firstPollSeconds,
    })
    await worker.close()
  }
  return idle
}

/** One changed file among a growing number: time, requests and memory of our worker, cold and warm. */
export async function measureGrowth(world, sizes) {
  const rows = []
  for (const files of sizes) {
    const data = await world.datasets.create(`growth-${files}`, { files, sizeBytes: 256 })
    const found = { files }
    for (const side of world.sides.filter((each) => each.isOurs)) {
      const counter = await startCounter(world.bench, world.lakefs.url)
      const behind = { ...world, lakefs: { ...world.lakefs, url: counter.url } }
      const worker = await startWorker(world.bench, side, { ...behind, task: 'write', slots: 1 })
      await runSmallest(world, side, 'write')
      await counter.take()
      const row = { data, change: 'one', task: 'write' }
      const { seconds } = side.isWarm
        ? await runTwice(world, row, side, () => counter.take())
        : await runTask(world, row, side)
      const counts = await counter.take()
      const reads = sumOf(counts, isRead)
      const all = sumOf(counts, () => true)
      found[side.name] = { seconds, reads, others: all - reads, peakRssMib: worker.peakRssMib() }
      await worker.close()
      await counter.close()
    }
    rows.push(found)
  }
  return rows
}
