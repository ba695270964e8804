import type { Logger as Pino } from 'pino'
import { preparedFields, preparedMessage, writeToStandardError, type LoggerSettings } from './log-line.ts'
import type { Logger } from './logger.ts'
import type { Redactor } from './redaction.ts'

/**
 * A logger that writes one JSON object per line through pino.
 *
 * ```ts
 * const logger = await openPinoLogger({ level: 'info', redactor: createRedactor([secret]) })
 * ```
 */
export async function openPinoLogger(settings: LoggerSettings): Promise<Logger> {
  // Loaded when somebody wants JSON lines: most commands of the CLI never do.
  const { pino, stdTimeFunctions } = await import('pino')
  const root = pino(
    {
      level: settings.level,
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      // Errors are made plain by the redactor already; pino's own serializer would take them for errors once more and
      // write the whole chain of causes into one stack.
      serializers: { err: (value: unknown) => value, error: (value: unknown) => value },
    },
    { write: settings.write ?? writeToStandardError },
  )
  return adapt(root, settings.redactor)
}

function adapt(pino: Pino, redactor: Redactor): Logger {
  const at =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error'): Logger['info'] =>
    (message, fields = {}) => {
      if (pino.isLevelEnabled(level)) {
        pino[level](preparedFields(fields, redactor), preparedMessage(message, redactor))
      }
    }
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => adapt(pino.child(preparedFields(fields, redactor)), redactor),
  }
}
