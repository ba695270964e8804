import { openTestQueue } from '../../src/testing/open-test-queue.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { taskQueueConformance } from './task-queue.ts'

taskQueueConformance('the in-process queue', {
  open: () => {
    const clock = new ManualClock()
    const queue = openTestQueue({ clock })
    return Promise.resolve({
      queue,
      control: queue,
      pass: (durationMs: number) => clock.advance(durationMs),
      settle: <T>(promise: Promise<T>) => clock.run(promise),
      close: () => Promise.resolve(),
    })
  },
})
