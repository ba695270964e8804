/** Time for tasks. */

import { timeOf } from './plan-registry.ts'

export const time = {
  /**
   * Waits at least this long; other tasks run meanwhile. In a task it ends early, with the reason, when the task is cancelled.
   *
   * ```ts
   * await time.Sleep(50)
   * ```
   */
  async Sleep(milliseconds: number): Promise<void> {
    const { clock, signal } = timeOf()
    await clock.sleep(milliseconds, signal)
  },
}
