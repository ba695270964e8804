import { preparedFields, preparedMessage, writeToStandardError, type LoggerSettings } from './log-line.ts'
import { LOG_LEVELS, type LogFields, type Logger, type LogLevel } from './logger.ts'
import { oneLine } from './one-line.ts'
import { systemClock, type Clock } from './clock.ts'

export interface PrettyLoggerSettings extends LoggerSettings {
  readonly clock?: Clock
}

/**
 * A logger for people: time, level, sentence, then the fields. One line each, whatever the fields hold.
 *
 * ```ts
 * createPrettyLogger({ level: 'info', redactor: plainRedactor }).info('listening', { port: 8000 })
 * // 09:15:02.118 info  listening  port=8000
 * ```
 */
export function createPrettyLogger(settings: PrettyLoggerSettings): Logger {
  return withBindings(settings, {})
}

function withBindings(settings: PrettyLoggerSettings, bindings: LogFields): Logger {
  const { clock = systemClock, redactor, write = writeToStandardError } = settings
  const threshold = LOG_LEVELS.indexOf(settings.level)
  const at =
    (level: LogLevel): Logger['info'] =>
    (message, fields = {}) => {
      if (LOG_LEVELS.indexOf(level) < threshold) return
      const shown = Object.entries({ ...bindings, ...preparedFields(fields, redactor) }).map(
        ([key, value]) => `  ${oneLine(key)}=${field(value)}`,
      )
      const time = clock.now().toISOString().slice(11, 23)
      write(`${time} ${level.padEnd(5)} ${oneLine(preparedMessage(message, redactor))}${shown.join('')}\n`)
    }
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => withBindings(settings, { ...bindings, ...preparedFields(fields, redactor) }),
  }
}

function field(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return oneLine(value)
  // JSON leaves some control characters alone (C1, bidirectional marks): a terminal obeys them all the same.
  return value === undefined ? 'undefined' : oneLine(JSON.stringify(value))
}
