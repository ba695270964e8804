/** A logger in a thread or a process whose lines are written by its parent. */

import { LOG_LEVELS, type Logger } from '../../base/logger.ts'
import { describeForParent } from './hosted-error.ts'
import type { RelayedLine } from './protocol.ts'

export function relayedLogger(
  send: (line: RelayedLine) => void,
  own: Readonly<Record<string, unknown>> = {},
): Logger {
  const levels = LOG_LEVELS.filter((level) => level !== 'silent')
  const methods = levels.map((level) => [
    level,
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      send({ level, message, fields: asPlain({ ...own, ...fields }) }),
  ])
  return {
    ...(Object.fromEntries(methods) as unknown as Omit<Logger, 'child'>),
    child: (fields) => relayedLogger(send, { ...own, ...fields }),
  }
}

function asPlain(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Error ? describeForParent(value) : asLogged(value),
    ]),
  )
}

function asLogged(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null))
  } catch {
    // A log line must not end a body: what cannot be JSON becomes a string.
    return String(value)
  }
}
