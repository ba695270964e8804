/** What every logger does with a line before it is written: redact, then cut to length. */

import { systemClock, type Clock } from './clock.ts'
import { LOG_TEXT_MAX_CHARS } from './limits.ts'
import { LOG_LEVELS, type LogFields, type Logger, type LogLevel } from './logger.ts'
import { shortened } from './one-line.ts'
import type { Redactor } from './redaction.ts'

export interface LoggerSettings {
  readonly level: LogLevel
  readonly redactor: Redactor
  /** Takes one finished line, line feed included. Default: standard error. */
  readonly write?: (line: string) => void
  readonly clock?: Clock
}

interface Line {
  readonly level: LogLevel
  readonly time: Date
  readonly fields: LogFields
  readonly message: string
}

/** A logger that writes what `format` makes of each line. */
export function createLineLogger(settings: LoggerSettings, format: (line: Line) => string): Logger {
  const { redactor, write = writeToStandardError, clock = systemClock } = settings
  const threshold = LOG_LEVELS.indexOf(settings.level)
  const redacted = (fields: LogFields): LogFields => cut(redactor.value(fields)) as LogFields
  const withFields = (bound: LogFields): Logger => {
    const at =
      (level: LogLevel): Logger['info'] =>
      (message, own = {}) => {
        if (LOG_LEVELS.indexOf(level) < threshold) return
        const fields = { ...bound, ...redacted(own) }
        write(`${format({ level, time: clock.now(), fields, message: cut(redactor.text(message)) })}\n`)
      }
    return {
      trace: at('trace'),
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => withFields({ ...bound, ...redacted(fields) }),
    }
  }
  return withFields({})
}

/** Standard output is for results; log lines go to standard error. */
function writeToStandardError(line: string): void {
  process.stderr.write(line)
}

function cut(text: string): string
function cut(value: unknown): unknown
function cut(value: unknown): unknown {
  if (typeof value === 'string') return shortened(value, LOG_TEXT_MAX_CHARS)
  if (Array.isArray(value)) return value.map((item: unknown) => cut(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item)]))
}
