import { createLineLogger, type LoggerSettings } from './log-line.ts'
import type { Logger } from './logger.ts'
import { oneLine } from './one-line.ts'

/**
 * A logger for people: time, level, sentence, then the fields. One line each, whatever the fields hold.
 *
 * ```ts
 * createPrettyLogger({ level: 'info', redactor: plainRedactor }).info('listening', { port: 8000 })
 * // 09:15:02.118 info  listening  port=8000
 * ```
 */
export function createPrettyLogger(settings: LoggerSettings): Logger {
  return createLineLogger(settings, ({ level, time, fields, message }) => {
    const shown = Object.entries(fields).map(([key, value]) => `  ${oneLine(key)}=${field(value)}`)
    return `${time.toISOString().slice(11, 23)} ${level.padEnd(5)} ${oneLine(message)}${shown.join('')}`
  })
}

function field(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return oneLine(value)
  // JSON does not escape some control characters (C1, bidirectional marks) that a terminal obeys.
  return value === undefined ? 'undefined' : oneLine(JSON.stringify(value))
}
