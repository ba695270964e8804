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
  const isForDevelopers = settings.level === 'debug' || settings.level === 'trace'
  return createLineLogger(settings, ({ level, time, fields, message }) => {
    const shown = Object.entries(fields).map(
      ([key, value]) => `  ${oneLine(key)}=${field(isForDevelopers ? value : withoutStack(value))}`,
    )
    return `${time.toISOString().slice(11, 23)} ${level.padEnd(5)} ${oneLine(message)}${shown.join('')}`
  })
}

/** An error as its sentence and code; where it was thrown is for developers. */
function withoutStack(value: unknown): unknown {
  const { name, message, code, stack, cause } = Object(value) as Readonly<Record<string, unknown>>
  if (typeof message !== 'string' || typeof name !== 'string' || typeof stack !== 'string') return value
  const said = typeof code === 'string' ? `${message} [${code}]` : `${name}: ${message}`
  const because = withoutStack(cause)
  return typeof because === 'string' ? `${said}: ${because}` : said
}

function field(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return oneLine(value)
  // JSON does not escape some control characters (C1, bidirectional marks) that a terminal obeys.
  return value === undefined ? 'undefined' : oneLine(JSON.stringify(value))
}
