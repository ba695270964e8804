/** Lines that workers log about their tasks, kept as long as the execution's state. */

import { randomUUID } from 'node:crypto'
import { fromBytes, toBytes } from '../../core/json.ts'
import { executionId } from '../../core/keys.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import { commitGuarded, type WritePace } from '../../core/namespaces/guarded-write.ts'
import { readPages } from '../../core/read-pages.ts'

export class TaskLogs {
  readonly #steps: StepWriter
  readonly #pace: WritePace

  constructor(steps: StepWriter, pace: WritePace) {
    this.#steps = steps
    this.#pace = pace
  }

  async append(workflowId: string, taskId: string, lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    const time = String(this.#pace.clock.now().getTime()).padStart(TIME_DIGITS, '0')
    const key = `${this.#prefix(workflowId, taskId)}${time}-${randomUUID()}`
    const value = toBytes(JSON.stringify(lines))
    await commitGuarded(
      this.#steps.store,
      {
        // Written twice it is the same.
        batch: { operations: [{ do: 'put', key, value }] },
        hasHappened: () => Promise.resolve('open'),
      },
      this.#pace,
    )
  }

  async read(workflowId: string, taskId: string): Promise<readonly string[]> {
    const lines: string[] = []
    for await (const page of readPages(this.#steps.store, { prefix: this.#prefix(workflowId, taskId) }))
      for (const { value } of page) lines.push(...(JSON.parse(fromBytes(value)) as string[]))
    return lines
  }

  #prefix(workflowId: string, taskId: string): string {
    return `${this.#steps.keysOf(executionId(workflowId)).engine}log:${taskId}:`
  }
}

const TIME_DIGITS = 15
