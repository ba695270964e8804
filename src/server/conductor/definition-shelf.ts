/**
 * Definitions as they were registered, in the store. What can be run of them is registered with the engine first: a definition
 * that it refuses is not kept.
 */

import { createHash } from 'node:crypto'
import type { JsonObject } from '../../base/json.ts'
import type { Store } from '../../core/ports.ts'
import { openRecordStore } from '../../core/records/record-store.ts'
import type { QueueControl } from '../../engine/protocol/control.ts'
import { versionOf } from './definition-routes.ts'
import type { DefinitionShelf } from './served-queue.ts'

export function openDefinitionShelf(
  store: Store,
  control: Pick<QueueControl, 'registerTask' | 'registerWorkflow'>,
  tenant?: string,
): DefinitionShelf {
  const own = tenant === undefined ? '' : `-${idOf(tenant)}`
  const tasks = openRecordStore<JsonObject>(store, `taskdefs${own}`)
  const workflows = openRecordStore<JsonObject>(store, `workflowdefs${own}`)
  const latest = async (name: string): Promise<JsonObject | undefined> =>
    (await workflows.list())
      .filter((document) => document['name'] === name)
      .sort((one, other) => versionOf(one) - versionOf(other))
      .at(-1)
  return {
    readTask: (name) => tasks.get(idOf(name)),
    writeTask: async (document) => {
      await control.registerTask(withoutNotes(document))
      await tasks.put(idOf(document['name']), document)
    },
    readWorkflow: (name, version) =>
      version === undefined ? latest(name) : workflows.get(idOf([name, version])),
    writeWorkflow: async (document) => {
      await control.registerWorkflow(document)
      await workflows.put(idOf([document['name'], versionOf(document)]), document)
    },
  }
}

/** Fields that tell people and tools something, and change nothing about a run. */
const TASK_NOTES: ReadonlySet<string> = new Set([
  ...['createTime', 'updateTime', 'createdBy', 'updatedBy', 'ownerApp', 'accessPolicy'],
  ...['inputKeys', 'outputKeys', 'inputSchema', 'outputSchema', 'enforceSchema'],
  ...['taskStatusListenerEnabled', 'runtimeMetadata'],
])
/** For these 0 says that there is none. */
const NONE_BY_ZERO: ReadonlySet<string> = new Set([
  ...['totalTimeoutSeconds', 'pollTimeoutSeconds', 'backoffJitterMs'],
  ...['rateLimitPerFrequency', 'concurrentExecLimit'],
])

/** Also without fields that clients send although they are not set. */
function withoutNotes(document: JsonObject): JsonObject {
  const says = ([name, value]: [string, unknown]): boolean =>
    value !== null && value !== '' && !TASK_NOTES.has(name) && !(value === 0 && NONE_BY_ZERO.has(name))
  return Object.fromEntries(Object.entries(document).filter(says))
}

/** Names may have any character, keys may not. */
function idOf(name: unknown): string {
  return createHash('sha256').update(JSON.stringify(name)).digest('hex')
}
