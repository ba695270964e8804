/** One at a time for each branch, in order: for updates that wait for hooks. */

import { EMBEDDED_BRANCH_QUEUE_MAX } from '../../limits.ts'
import { EngineError } from './engine.ts'

export class BranchTurns {
  readonly #queues = new Map<string, { tail: Promise<void>; length: number }>()

  async take<Result>(branch: string, work: () => Promise<Result>): Promise<Result> {
    const queue = this.#queues.get(branch) ?? { tail: Promise.resolve(), length: 0 }
    if (queue.length >= EMBEDDED_BRANCH_QUEUE_MAX) {
      throw new EngineError(
        'too-many-attempts',
        `branch ${branch}: ${queue.length} updates are waiting already`,
      )
    }
    this.#queues.set(branch, queue)
    queue.length += 1
    const turn = queue.tail
    let end: () => void = () => undefined
    queue.tail = new Promise((resolve) => (end = resolve))
    await turn
    try {
      return await work()
    } finally {
      queue.length -= 1
      if (queue.length === 0) this.#queues.delete(branch)
      end()
    }
  }
}
