/** Randomness as a port, so that a seed can reproduce a run. */

import { randomInt } from 'node:crypto'

export interface Random {
  /** At least 0, below 1. */
  next(): number
}

const RESOLUTION = 2 ** 47

/** Randomness of the operating system. */
export const systemRandom: Random = {
  next: () => randomInt(RESOLUTION) / RESOLUTION,
}

/**
 * The same seed gives the same sequence on every machine. Not for secrets.
 *
 * ```ts
 * const random = seededRandom(8841)
 * ```
 */
export function seededRandom(seed: number): Random {
  // mulberry32: 32 bits of state, each step mixed by two multiplications. Good enough for schedules and faults.
  let state = seed >>> 0
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    },
  }
}
