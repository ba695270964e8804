/** Patterns of event types: `*` matches exactly one segment, `**` any number of them, also none. */

import { InvalidError } from '../../base/errors.ts'
import { EVENT_TYPE_MAX_CHARS, EVENT_TYPE_SEGMENTS_MAX } from '../limits.ts'
import { show } from '../namespaces/names.ts'

const SEGMENT = /^(?:[A-Za-z0-9_-]+|\*\*?)$/

/**
 * ```ts
 * const isMeant = compileTypePattern('*.completed')
 * isMeant('extract.completed') // true
 * isMeant('extract.task.completed') // false
 * ```
 */
export function compileTypePattern(pattern: string): (type: string) => boolean {
  const parts = typeof pattern === 'string' ? pattern.split('.') : []
  if (
    parts.length === 0 ||
    parts.length > EVENT_TYPE_SEGMENTS_MAX ||
    pattern.length > EVENT_TYPE_MAX_CHARS ||
    !parts.every((part) => SEGMENT.test(part))
  ) {
    throw new InvalidError(
      'core/bad-type-pattern',
      `read ${show(pattern)} as a pattern of event types: its segments must be words, "*" or "**", joined by dots`,
      { next: 'Correct the pattern, as in "*.completed" or "extract.**".' },
    )
  }
  if (!pattern.includes('*')) return (type) => type === pattern
  return (type) => matches(parts, type.split('.'))
}

/** Keeps every position in the pattern that is possible so far, so the time is at most parts × segments. */
function matches(parts: readonly string[], segments: readonly string[]): boolean {
  let places = skipRest(parts, new Set([0]))
  for (const segment of segments) {
    const next = new Set<number>()
    for (const place of places) {
      const part = parts[place]
      if (part === '**') next.add(place)
      else if (part === '*' || part === segment) next.add(place + 1)
    }
    places = skipRest(parts, next)
  }
  return places.has(parts.length)
}

/** `**` may match nothing. */
function skipRest(parts: readonly string[], places: ReadonlySet<number>): ReadonlySet<number> {
  const all = new Set(places)
  for (const place of all) if (parts[place] === '**') all.add(place + 1)
  return all
}
