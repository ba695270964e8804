/** Keys that a declaration does not know: in a module without types a misspelt one would be left out, and what it asks for with it. */

import { suggest } from '../base/suggestion.ts'

/** The problem with each key of `value` that is not known. `at`: the path to the value. */
export function unknownKeys(value: unknown, known: readonly string[], at = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => unknownKey(key, known, at))
}

export function unknownKey(key: string, known: readonly string[], at = ''): string {
  const near = suggest(key, known)
  const path = at === '' ? key : `${at}.${key}`
  return `${path} is not known${near === undefined ? '' : `; did you mean "${near}"?`}`
}
