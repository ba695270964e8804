// Tasks per second over many branches: one worker, and more and more processes on the same servers.
import { setTimeout as wait } from 'node:timers/promises'
import { printTable, quantile, round } from '../support/figures.mjs'
import { seedOf } from '../support/workflows.mjs'
import { chainOf, inputOf, inTurn, runSmallest } from './rows.mjs'
import { cellsOf, inBrackets } from './summary.mjs'
import { verifyBranch } from './verify.mjs'
import { startWorker } from './workers.mjs'

/** A request for each workflow as often as for a single one would keep Conductor busy. */
const LOOK_MS = 250
const STARTED_MS = 60_000
const SETTLE_MS = 2_000

let turns = 0

export async function compareThroughput(world, { branches, chain, slots }) {
  const rates = await measureRates(world, world.sides, { branches, chain, slots })
  const names = [...rates.keys()]
  const median = (name) => (rates.has(name) ? quantile(rates.get(name), 0.5) : Number.NaN)
  const what = `${branches} branches × ${chain} tasks, ${slots} slots`
  console.log(
    `${what}, each task 10 × 1 KiB with one changed; from the first request to the last completion.\n`,
  )
  printTable(
    ['tasks a second', ...names, 'cold to peer', 'warm to peer'],
    [
      [
        'median',
        ...names.map(median),
        `${round(median('ours, cold') / median('peer'))} ×`,
        `${round(median('ours, warm') / median('peer'))} ×`,
      ],
      ['best', ...names.map((name) => Math.max(...rates.get(name))), '', ''],
    ],
  )
  world.summary.add(
    `${what}, tasks/s, median (best)`,
    cellsOf(rates, (each) => inBrackets(quantile(each, 0.5), Math.max(...each))),
  )
}

/** Several processes of `slots` tasks each. */
export async function compareScale(world, { branches, chain, slots, counts }) {
  const sides = world.sides.filter(({ isOurs, isWarm }) => !isOurs || isWarm)
  const found = []
  for (const processes of counts) {
    const rates = await measureRates(world, sides, { branches, chain, slots, processes })
    found.push({ processes, rates })
    const plural = processes === 1 ? 'process' : 'processes'
    world.summary.add(
      `${processes} worker ${plural} × ${slots} slot${slots === 1 ? '' : 's'}, tasks/s`,
      cellsOf(rates, (each) => round(quantile(each, 0.5))),
    )
  }
  const names = sides.map(({ name }) => name)
  const rateOf = ({ rates }, name) => quantile(rates.get(name), 0.5)
  console.log(`Tasks a second with so many worker processes, each with ${slots} tasks at the same time.\n`)
  printTable(
    ['processes', ...names.flatMap((name) => [name, 'to the first'])],
    found.map((each) => [
      String(each.processes),
      ...names.flatMap((name) => [
        rateOf(each, name),
        `${round(rateOf(each, name) / rateOf(found[0], name))} ×`,
      ]),
    ]),
  )
}

async function measureRates(world, sides, work) {
  const rates = new Map(sides.map(({ name }) => [name, []]))
  for (let round = 0; round < world.rounds; round++) {
    for (const side of inTurn(sides, round)) rates.get(side.name).push(await rateOf(world, side, work))
  }
  return rates
}

/** Tasks per second of one worker, by the clock of Conductor. */
async function rateOf(world, side, { branches, chain, slots, processes = 1 }) {
  const { bench, requests, datasets, smallest: data } = world
  const worker = await startWorker(bench, side, { ...world, task: 'write', slots, processes })
  await worker.allStarted({ withinMs: STARTED_MS })
  // More at once than there are slots, so that each of them has worked.
  for (let turn = 0; turn < 2; turn++)
    await Promise.all(Array.from({ length: slots * processes }, () => runSmallest(world, side, 'write')))
  await wait(SETTLE_MS)
  const turn = ++turns
  const runs = await Promise.all(
    Array.from({ length: branches }, async (_, index) => {
      const seed = `throughput-${turn}-${index}`
      return { branch: await datasets.branch(data, seed), seed }
    }),
  )
  const row = { data, change: 'one' }
  const ids = await Promise.all(
    runs.map((run) =>
      requests.start(chainOf(side, 'write', chain), inputOf(row, { ...run, ref: data.ref }), side),
    ),
  )
  const workflows = await Promise.all(ids.map((id) => requests.ended(id, { lookMs: LOOK_MS })))
  await worker.close()
  for (const [index, { tasks }] of workflows.entries()) {
    const seeds = tasks.map((_, step) => seedOf(runs[index].seed, step))
    const reportedRef = tasks.at(-1).outputData.workspace.ref
    await verifyBranch({ data, branch: runs[index].branch, change: 'one', seeds, reportedRef })
  }
  const startMs = Math.min(...workflows.map(({ startTime }) => startTime))
  const endMs = Math.max(...workflows.map(({ endTime }) => endTime))
  return (branches * chain * 1_000) / (endMs - startMs)
}
