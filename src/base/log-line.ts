/** What every logger does with a line before it is written: redact, then cut to length. */

import { LOG_TEXT_MAX_CHARS } from './limits.ts'
import type { LogFields, LogLevel } from './logger.ts'
import { shortened } from './one-line.ts'
import type { Redactor } from './redaction.ts'

export interface LoggerSettings {
  readonly level: LogLevel
  readonly redactor: Redactor
  /** Takes one finished line, line feed included; standard error unless told. */
  readonly write?: (line: string) => void
}

/** Standard output is for answers; what we say about our work goes to standard error. */
export function writeToStandardError(line: string): void {
  process.stderr.write(line)
}

export function preparedMessage(message: string, redactor: Redactor): string {
  return shortened(redactor.text(message), LOG_TEXT_MAX_CHARS)
}

export function preparedFields(fields: LogFields, redactor: Redactor): LogFields {
  return cut(redactor.value(fields)) as LogFields
}

function cut(value: unknown): unknown {
  if (typeof value === 'string') return shortened(value, LOG_TEXT_MAX_CHARS)
  if (Array.isArray(value)) return value.map(cut)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item)]))
}
