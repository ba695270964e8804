/** Where log lines go, as a port. Whoever logs says what happened in one sentence and puts the particulars in fields. */

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Plain values; an error goes under `error`. Redacted before anything is written. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * ```ts
 * logger.child({ repository }).warn('the server asked us to slow down', { retryAfterMs: 2000 })
 * ```
 */
export interface Logger {
  trace(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger whose every line carries these fields too. */
  child(fields: LogFields): Logger
}

/** Says nothing. The default wherever a logger may be given. */
export const silentLogger: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLogger,
}

function ignore(): void {
  // Nobody listens.
}
