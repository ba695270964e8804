// A task without a workspace: what Conductor and a worker take by themselves.
import { printTable, quantile } from '../support/figures.mjs'
import { inTurn, runNoop } from './rows.mjs'
import { cellsOf, inBrackets } from './summary.mjs'

const WARM_UPS = 3

/** One run after another, in blocks of each side in turn; p50 and p95. */
export async function compareNoop(world, stable) {
  const { rounds, summary, noops } = world
  // Neither a cache nor a directory matters here.
  const sides = world.sides.filter(({ isOurs, isWarm }) => !isOurs || isWarm)
  const found = new Map(sides.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const side of inTurn(sides, round)) {
      await stable.within(side, 'noop', async () => {
        for (let turn = 0; turn < WARM_UPS; turn++) await runNoop(world, side)
        for (let turn = 0; turn < Math.ceil(noops / rounds); turn++)
          found.get(side.name).push(await runNoop(world, side))
      })
    }
  }
  const of = (name, what, share) =>
    quantile(
      found.get(name).map((each) => each[what]),
      share,
    )
  const names = [...found.keys()]
  console.log(`A task without a workspace, ${noops} runs one after the other, by the clock of Conductor.\n`)
  printTable(
    ['ms', ...names.flatMap((name) => [`${name}: p50`, 'p95'])],
    [
      ['workflow requested → completed', 'endToEndMs'],
      ['execution: claimed → completed', 'executionMs'],
      ['queue: scheduled → claimed', 'queueMs'],
    ].map(([what, key]) => [what, ...names.flatMap((name) => [of(name, key, 0.5), of(name, key, 0.95)])]),
  )
  for (const [label, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
  ]) {
    summary.add(
      `task without a workspace, ${label} ms end to end (execution; queue wait)`,
      cellsOf(new Map(names.map((name) => [name, name])), (name) =>
        inBrackets(of(name, 'endToEndMs', share), of(name, 'executionMs', share), of(name, 'queueMs', share)),
      ),
    )
  }
}
