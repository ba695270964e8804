import type { Random } from '../../src/base/random.ts'

/** A whole number from `least` to `most`, both included. */
export function randomWhole(
  random: Random,
  range: { readonly least: number; readonly most: number },
): number {
  return range.least + Math.floor(random.next() * (range.most - range.least + 1))
}
