/** Events and variables of the executions of a queue in memory, and the children that could not be started. */

import type { Json, JsonObject } from '../base/json.ts'
import type { ChildEnd } from '../engine/protocol/execution.ts'
import type { WorkflowId } from '../fences/attempt-snapshot.ts'

export class MemoryScopes {
  readonly #scopes = new Map<WorkflowId, MemoryScope>()
  readonly #refused = new Map<WorkflowId, ChildEnd>()

  of(workflowId: WorkflowId): MemoryScope {
    const known = this.#scopes.get(workflowId)
    if (known !== undefined) return known
    const scope = new MemoryScope()
    this.#scopes.set(workflowId, scope)
    return scope
  }

  forget(workflowId: WorkflowId): void {
    this.#scopes.delete(workflowId)
    this.#refused.delete(workflowId)
  }

  refuse(childId: WorkflowId, reason: string): void {
    this.#refused.set(childId, { status: 'FAILED', reason, output: {} })
  }

  refusalOf(childId: WorkflowId): ChildEnd | undefined {
    return this.#refused.get(childId)
  }
}

class MemoryScope {
  readonly events = new Set<string>()
  readonly variables = new Map<string, Json>()

  readonly has = (eventType: string): boolean => this.events.has(eventType)
  readonly read = (name: string): Json | undefined => this.variables.get(name)

  setShared(set: JsonObject): void {
    for (const [name, value] of Object.entries(set)) this.variables.set(`shared.${name}`, value)
  }
}
