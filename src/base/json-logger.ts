import { createLineLogger, type LoggerSettings } from './log-line.ts'
import { printableJson } from './one-line.ts'
import type { Logger } from './logger.ts'

/**
 * A logger that writes one JSON object per line.
 *
 * ```ts
 * createJsonLogger({ level: 'info', redactor: plainRedactor }).info('listening', { port: 8000 })
 * // {"level":"info","time":"2026-01-01T09:15:02.118Z","port":8000,"message":"listening"}
 * ```
 */
export function createJsonLogger(settings: LoggerSettings): Logger {
  return createLineLogger(settings, ({ level, time, fields, message }) =>
    printableJson({ level, time: time.toISOString(), ...fields, message }),
  )
}
