/** What this door serves: a task queue, its control, and the definitions as they were registered. */

import type { JsonObject } from '../../base/json.ts'
import type { ExecutionReader } from '../../engine/host/execution-list.ts'
import type { QueueControl } from '../../engine/protocol/control.ts'
import type { TaskQueue } from '../../worker/ports.ts'

export interface ServedQueue {
  readonly queue: TaskQueue
  readonly control: QueueControl
  readonly definitions: DefinitionShelf
  /** Finds ended workflows too. Without it only open ones are searched. */
  readonly reader?: Pick<ExecutionReader, 'list'> | undefined
}

/** Throws where a definition cannot be run. */
export interface DefinitionShelf {
  readTask(name: string): Promise<JsonObject | undefined>
  writeTask(document: JsonObject): Promise<void>
  /** The latest unless a version is given. */
  readWorkflow(name: string, version?: number): Promise<JsonObject | undefined>
  writeWorkflow(document: JsonObject): Promise<void>
}
