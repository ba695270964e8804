/** Keys are ordered by their UTF-8 bytes, as every server orders them; JavaScript orders texts by UTF-16 units. */

import type { KeyStretch } from './backend.ts'

const SURROGATES_FROM = 0xd800
const LAST_CODE_POINT = 0x10ffff

/** Below zero when `left` comes first. The order of code points is that of their UTF-8 bytes. */
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

/** The least text that comes after every text beginning with `prefix`; `undefined` when there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const last = points.pop() ?? LAST_CODE_POINT
    if (last === LAST_CODE_POINT) continue
    // Surrogates are no code points of their own.
    const after = last === SURROGATES_FROM - 1 ? 0xe000 : last + 1
    return String.fromCodePoint(...points, after)
  }
  return undefined
}

/** Of two units from the surrogates on: a surrogate stands for a code point above all that need one unit only. */
function compareHigh(a: number, b: number): number {
  const [aSpells, bSpells] = [a < 0xe000, b < 0xe000]
  return aSpells === bSpells ? a - b : aSpells ? 1 : -1
}
