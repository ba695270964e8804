/** What it takes to run a body, wherever it runs. */

import type { Logger } from '../../base/logger.ts'
import type { Json } from '../../base/json.ts'
import type { AttemptInfo, TaskDefinition } from '../../tasks/task-definition.ts'
import type { WorkspaceFacts } from './protocol.ts'

export interface RunBodyOptions {
  readonly task: TaskDefinition
  /** Absolute path of the module that declares the task: bodies outside this thread load it again. */
  readonly modulePath: string | undefined
  readonly params: Json
  readonly attempt: AttemptInfo
  readonly workspace: WorkspaceFacts | undefined
  /** A directory for what is not to be published. */
  readonly scratch: string
  readonly signal: AbortSignal
  readonly shutdown: AbortSignal
  readonly log: Logger
  readonly onProgress: (done: number, total?: number, what?: string) => void
}
