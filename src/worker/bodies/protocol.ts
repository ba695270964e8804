/** The messages between a worker and the host of a body. Plain data, because it crosses threads and processes. */

import type { ErrorDescription } from '../../base/error-description.ts'
import type { AttemptInfo, BodyContext } from '../../tasks/task-definition.ts'
import type { Json } from '../../base/json.ts'
import type { LogLevel } from '../../base/logger.ts'

/** A workspace as plain data; the host makes it a `BodyWorkspace` again. */
export interface WorkspaceFacts {
  readonly dir: string
  readonly repository: string
  readonly branch: string
  readonly ref: string
  readonly isReadOnly: boolean
}

export interface FunctionOrder {
  readonly kind: 'function'
  /** Absolute path of the module that declares the task. */
  readonly modulePath: string
  readonly taskName: string
}

export interface CommandOrder {
  readonly kind: 'command'
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly resultFrom: 'file' | 'stdout'
  readonly scratch: string
}

export interface RunOrder {
  readonly type: 'run'
  readonly what: FunctionOrder | CommandOrder
  readonly params: Json
  readonly attempt: AttemptInfo
  readonly workspace: WorkspaceFacts | undefined
}

export type ToHost =
  RunOrder | { readonly type: 'abort'; readonly reason: string } | { readonly type: 'shutdown' }

/** A log line that the parent writes. */
export interface RelayedLine {
  readonly level: Exclude<LogLevel, 'silent'>
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export type FromHost =
  | { readonly type: 'ready' }
  | ({ readonly type: 'log' } & RelayedLine)
  | { readonly type: 'progress'; readonly told: Parameters<BodyContext<unknown>['progress']> }
  | { readonly type: 'done'; readonly result: Json }
  | { readonly type: 'failed'; readonly error: HostedFailure }

/** An error as plain data. */
export interface HostedFailure extends ErrorDescription {
  readonly stack?: string | undefined
}
