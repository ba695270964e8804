/** The port for log lines: the message says in one sentence what happened, fields hold the details. */

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Plain values; an error goes under `error`. Redacted before anything is written. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * ```ts
 * logger.child({ repository }).warn('the server is overloaded', { retryAfterMs: 2000 })
 * ```
 */
export interface Logger {
  trace(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger
}

/** Discards everything. The default for optional loggers. */
export const silentLogger: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLogger,
}

function ignore(): void {
  // Discarded.
}
