/** Keeps secrets in inputs out of what is shown and logged: the texts that workers send beside their outputs. Pure. */

import type { Json } from '../../base/json.ts'
import { createRedactor, type Redactor } from '../../base/redaction.ts'
import { isSensitiveKey } from '../../base/secret-spans.ts'
import type { AttemptRow, Execution } from './execution.ts'

/**
 * Hides the values of `password`, `apiKey` and the like, wherever such a key is in the input of the execution or of the attempt; and,
 * as everywhere, forms that always contain a secret.
 */
export function inputRedactor({ input }: Execution, row: AttemptRow | undefined): Redactor {
  return createRedactor([...secretsIn(input), ...(row === undefined ? [] : secretsIn(row.record.input))])
}

/** Inputs are large and stay the same, lines of a log are many. */
const KNOWN = new WeakMap<object, readonly string[]>()

function secretsIn(input: object): readonly string[] {
  const known = KNOWN.get(input) ?? [...walk(input as Json, false)]
  KNOWN.set(input, known)
  return known
}

function* walk(value: Json, isHidden: boolean): Generator<string> {
  if (value === null || typeof value === 'boolean') return
  if (typeof value !== 'object') {
    if (isHidden) yield String(value)
  } else if (Array.isArray(value)) for (const item of value as readonly Json[]) yield* walk(item, isHidden)
  else for (const [key, item] of Object.entries(value)) yield* walk(item, isHidden || isSensitiveKey(key))
}
