/** Keys are ordered by their UTF-8 bytes, as servers order them; JavaScript orders strings by UTF-16 units. */

import type { KeyStretch } from './backend.ts'

const SURROGATES_FROM = 0xd800
const LAST_CODE_POINT = 0x10ffff

/** Negative if `left` comes first. Code points sort as their UTF-8 bytes do. */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at += 1) {
    const a = left.charCodeAt(at)
    const b = right.charCodeAt(at)
    if (a !== b) return a >= SURROGATES_FROM && b >= SURROGATES_FROM ? compareHigh(a, b) : a - b
  }
  return left.length - right.length
}

export function isWithin({ from, to }: KeyStretch, key: string): boolean {
  return compareKeys(key, from) >= 0 && (to === undefined || compareKeys(key, to) < 0)
}

/** The first string after all that begin with `prefix`; `undefined` if there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const last = points.pop() ?? LAST_CODE_POINT
    if (last === LAST_CODE_POINT) continue
    // Surrogates are not code points.
    const after = last === SURROGATES_FROM - 1 ? 0xe000 : last + 1
    return String.fromCodePoint(...points, after)
  }
  return undefined
}

/** Compares two units from the surrogates on: a surrogate pair sorts after every single unit. */
function compareHigh(a: number, b: number): number {
  const [aSpells, bSpells] = [a < 0xe000, b < 0xe000]
  return aSpells === bSpells ? a - b : aSpells ? 1 : -1
}
