import { createJsonLogger } from '../../base/json-logger.ts'
import { createPrettyLogger } from '../../base/pretty-logger.ts'
import type { LoggerSettings } from '../../base/log-line.ts'
import type { Logger } from '../../base/logger.ts'
import type { LogFormat } from '../configuration/configuration.ts'

export interface OpenLoggerRequest extends LoggerSettings {
  readonly format: LogFormat
  /** Whether the output is a terminal, for the format `auto`. */
  readonly isTerminal: boolean
}

/** The logger a configuration asks for: lines for people on a terminal, JSON where a program collects them. */
export function openLogger(request: OpenLoggerRequest): Logger {
  return formatOf(request) === 'pretty' ? createPrettyLogger(request) : createJsonLogger(request)
}

export function formatOf({
  format,
  isTerminal,
}: Pick<OpenLoggerRequest, 'format' | 'isTerminal'>): 'pretty' | 'json' {
  return format === 'auto' ? (isTerminal ? 'pretty' : 'json') : format
}
