/**
 * Configured secrets in what a task gives back. A result is kept by the task queue, shown to everybody who may see the workflow, and
 * passed on to other tasks, so a secret is either no part of it, or there is no result.
 */

import { InvalidError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { shortened } from '../../base/one-line.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { SECRET_FIELDS_SHOWN, SECRET_FIELD_MAX_CHARS } from '../limits.ts'
import type { TaskLog } from '../results/task-log.ts'

export const SECRET_RESULTS = ['refuse', 'redact'] as const
export type SecretResults = (typeof SECRET_RESULTS)[number]

export interface WithholdOptions {
  readonly redactor: Redactor
  /** `refuse` unless set. */
  readonly secretResults?: SecretResults | undefined
  /** Whose result it is, for the message: `task "orders.clean"`. */
  readonly of: string
  /** Told what was redacted. */
  readonly warn: (message: string) => void
}

/** The result, where it holds no configured secret in any encoding, or without them. No message says the secret. */
export function withholdSecrets<Result extends Json>(result: Result, options: WithholdOptions): Result {
  const { redactor, secretResults = 'refuse', of, warn } = options
  const found: string[] = []
  const clean = copyWithout({ value: result, path: 'result' }, redactor, found)
  if (found.length === 0) return result
  const all = [...new Set(found)]
  // The paths are redacted already, so they may be cut.
  const fields = all.slice(0, SECRET_FIELDS_SHOWN).map((path) => shortened(path, SECRET_FIELD_MAX_CHARS))
  const more = all.length > fields.length ? ` and ${all.length - fields.length} more` : ''
  const where = `${fields.join(', ')}${more}`
  if (secretResults === 'refuse') {
    throw new InvalidError(
      'worker/secret-in-result',
      `read the result of ${of}: a configured secret is in ${where}`,
      {
        details: { fields, count: all.length },
        next: 'Leave it out of the result: who needs it has it configured. With results.secrets set to redact, it is replaced.',
      },
    )
  }
  warn(`a configured secret was redacted in ${where}`)
  // A text stays a text, and an object an object; only a number that is a secret becomes a text.
  return clean as Result
}

/** The same for an attempt, whatever its body is. */
export function withholdFrom(
  {
    task,
    log,
    ...options
  }: Pick<WithholdOptions, 'redactor' | 'secretResults'> & {
    readonly task: Pick<TaskDefinition, 'name'>
    readonly log: Pick<TaskLog, 'logger'>
  },
  result: Json,
): Json {
  const { redactor, secretResults } = options
  const warn = (message: string): void => log.logger.warn(message)
  return withholdSecrets(result, { redactor, secretResults, of: `task "${task.name}"`, warn })
}

interface Place {
  readonly value: Json
  readonly path: string
}

function copyWithout({ value, path }: Place, redactor: Redactor, found: string[]): Json {
  const show = (text: string): string => {
    const shown = redactor.known(text)
    if (shown !== text) found.push(path)
    return shown
  }
  if (typeof value === 'string') return show(value)
  if (typeof value === 'number') {
    const text = String(value)
    const shown = show(text)
    return shown === text ? value : shown
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value as readonly Json[]
    return items.map((item, index) =>
      copyWithout({ value: item, path: `${path}[${index}]` }, redactor, found),
    )
  }
  // Not by assignment: a key may be called `__proto__`.
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => {
      const shown = show(key)
      return [shown, copyWithout({ value: item, path: `${path}.${shown}` }, redactor, found)]
    }),
  )
}
