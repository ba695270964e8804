/** Which executions execute, and which wait for a place, the one that waits longest first. */

import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { Execution } from '../protocol/execution.ts'
import { isWorkflowOpen } from '../protocol/state.ts'

export class Rooms {
  readonly #max: number
  readonly #wake: (workflowId: WorkflowId) => void
  readonly #executing = new Set<WorkflowId>()
  readonly #waiting = new Set<WorkflowId>()

  constructor(max: number, wake: (workflowId: WorkflowId) => void) {
    this.#max = max
    this.#wake = wake
  }

  /** Whether it may execute. A place is kept for it until `note` tells what became of it. */
  take(execution: Execution): boolean {
    const { workflowId } = execution
    // A child has the place of its parent, which waits for it.
    if (this.#executing.has(workflowId) || execution.parentId !== undefined) return true
    if (!isWaiting(execution)) return true
    const isNext = !this.#waiting.has(workflowId) || this.#isAmongFirst(workflowId)
    if (this.#executing.size >= this.#max || !isNext) return false
    this.#executing.add(workflowId)
    return true
  }

  /** Notes what became of it. */
  note(execution: Execution): void {
    const { workflowId, parentId } = execution
    if (parentId !== undefined) return
    if (!isWorkflowOpen(execution.status)) this.leave(workflowId)
    else if (isWaiting(execution)) {
      this.#executing.delete(workflowId)
      this.#waiting.add(workflowId)
    } else {
      this.#waiting.delete(workflowId)
      this.#executing.add(workflowId)
    }
  }

  leave(workflowId: WorkflowId): void {
    this.#waiting.delete(workflowId)
    if (!this.#executing.delete(workflowId)) return
    const free = this.#max - this.#executing.size
    for (const next of [...this.#firstWaiting(free)]) this.#wake(next)
  }

  clear(): void {
    this.#executing.clear()
    this.#waiting.clear()
  }

  #isAmongFirst(workflowId: WorkflowId): boolean {
    for (const first of this.#firstWaiting(this.#max - this.#executing.size))
      if (first === workflowId) return true
    return false
  }

  *#firstWaiting(count: number): Iterable<WorkflowId> {
    let left = count
    for (const workflowId of this.#waiting) {
      if (left <= 0) return
      left -= 1
      yield workflowId
    }
  }
}

function isWaiting({ stage }: Execution): boolean {
  return stage === 'PENDING' || stage === 'SCHEDULING'
}
