/** The log of a task at the task queue: the last lines of its body, and why it failed. */

import { describeError } from '../../base/error-description.ts'
import { TASK_LOG_LINE_MAX_CHARS, TASK_LOG_LINES_MAX } from '../limits.ts'
import type { LogFields, Logger } from '../../base/logger.ts'
import type { Redactor } from '../../base/redaction.ts'
import { BodyFailedError } from '../../tasks/author-errors.ts'
import { HostedError } from '../bodies/hosted-error.ts'
import { quoteOurs } from './publication-lines.ts'

export interface TaskLog {
  /** Logs to the given logger, and keeps the lines. */
  readonly logger: Logger
  add(line: string): void
  /** Redacted and bounded; the first line says how many were left out. */
  lines(): readonly string[]
  /** The same, and they are not given again. */
  take(): readonly string[]
  /** Puts lines that were taken and may not have arrived before all others again. */
  giveBack(lines: readonly string[]): void
  readonly isEmpty: boolean
  /** Called at each line. */
  onLine: (() => void) | undefined
}

export function openTaskLog(logger: Logger, redactor: Redactor): TaskLog {
  const kept: string[] = []
  let dropped = 0
  const bound = (): void => {
    const tooMany = Math.max(0, kept.length - TASK_LOG_LINES_MAX)
    kept.splice(0, tooMany)
    dropped += tooMany
  }
  const add = (line: string): void => {
    kept.push(redactor.text(line).slice(0, TASK_LOG_LINE_MAX_CHARS))
    bound()
    log.onLine?.()
  }
  const lines = (): readonly string[] =>
    dropped === 0 ? [...kept] : [`(${dropped} earlier lines left out)`, ...kept]
  const keeping = (to: Logger): Logger => {
    const say =
      (level: 'info' | 'warn' | 'error') =>
      (message: string, fields?: LogFields): void => {
        const text = quoteOurs(message)
        add(level === 'info' ? text : `${level}: ${text}`)
        to[level](message, fields)
      }
    return {
      // Only for developers, not for everybody who may see the workflow.
      trace: (message, fields) => to.trace(message, fields),
      debug: (message, fields) => to.debug(message, fields),
      info: say('info'),
      warn: say('warn'),
      error: say('error'),
      child: (fields) => keeping(to.child(fields)),
    }
  }
  const log: TaskLog = {
    logger: keeping(logger),
    onLine: undefined,
    get isEmpty() {
      return kept.length === 0
    },
    add,
    lines,
    take() {
      const taken = lines()
      kept.length = 0
      dropped = 0
      return taken
    },
    giveBack(again) {
      kept.unshift(...again)
      bound()
    },
  }
  return log
}

/** A failure, one line each: the message, its causes, the details, and the stack of the body. */
export function describeFailure(error: unknown, redactor: Redactor): readonly string[] {
  const { code, message, next, read, details, causes = [] } = describeError(error, redactor)
  const stack = bodyStackOf(error)
  return [
    `failed: ${message} [${code}]`,
    ...causes.map((cause) => `caused by: ${cause.message}`),
    ...(details === undefined ? [] : [`details: ${JSON.stringify(details)}`]),
    ...(read === undefined ? [] : [`read: ${read}`]),
    ...(next === undefined ? [] : [`next: ${next}`]),
    ...(stack === undefined ? [] : [redactor.text(stack)]),
  ]
}

/** The stack in the author's code; our own errors need none. */
function bodyStackOf(error: unknown): string | undefined {
  if (error instanceof HostedError) return error.code === 'task/failed' ? error.hostStack : undefined
  if (error instanceof BodyFailedError && error.cause instanceof Error) return error.cause.stack
  return undefined
}
