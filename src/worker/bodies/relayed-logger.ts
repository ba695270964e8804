/** A logger in a thread or a process whose lines are written by whoever started it. */

import { LOG_LEVELS, type LogLevel, type Logger } from '../../base/logger.ts'
import { describeForParent } from './hosted-error.ts'

export interface RelayedLine {
  readonly level: Exclude<LogLevel, 'silent'>
  readonly message: string
  /** Plain data. */
  readonly fields: Readonly<Record<string, unknown>>
}

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
    // A log line must not end a body: what is no JSON is shown as text.
    return String(value)
  }
}
