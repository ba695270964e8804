// Alternates between two sides, so that other load slows both; only the ratio within each round counts.
import { quantile } from '../support/figures.mjs'

/**
 * `run(side, until)` works until that moment and returns the milliseconds of each operation, or their number.
 */
export async function compareSides({ sides, rounds, roundMs, run }) {
  const found = new Map(sides.map((side) => [side, { rates: [], samples: [] }]))
  for (let round = -1; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const startMs = performance.now()
      // The first round only warms up.
      const done = await run(side, startMs + (round < 0 ? roundMs / 2 : roundMs))
      const seconds = (performance.now() - startMs) / 1_000
      if (round < 0) continue
      const count = typeof done === 'number' ? done : done.length
      const kept = found.get(side)
      kept.rates.push(count / seconds)
      if (typeof done !== 'number') kept.samples = kept.samples.concat(done)
    }
  }
  return sides.map((side) => {
    const { rates, samples } = found.get(side)
    return { rates, rate: quantile(rates, 0.5), p50: quantile(samples, 0.5), p99: quantile(samples, 0.99) }
  })
}

/** How many times as long the first side takes as the second: the median over the rounds. */
export function timesAsLong([first, second]) {
  return quantile(
    first.rates.map((rate, round) => second.rates[round] / rate),
    0.5,
  )
}

/** Parallel workers, each running one operation after another until the time is over. */
export async function work(workers, until, act) {
  const samples = []
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let n = 0, before = performance.now(); before < until; n += 1) {
        await act(worker, n)
        samples.push(performance.now() - before)
        // Drivers that resolve at once would block timers and sockets.
        if (n % YIELD_EVERY === 0) await new Promise((resolve) => setImmediate(resolve))
        before = performance.now()
      }
    }),
  )
  return samples
}

const YIELD_EVERY = 64
