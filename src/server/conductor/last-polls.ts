/** When task types were polled last, as Conductor tells it: the last poll of each type and domain. */

import type { Clock } from '../../base/clock.ts'
import { POLLED_QUEUES_REMEMBERED } from '../limits.ts'

interface Poll {
  readonly taskType: string
  readonly domain?: string
  readonly workerId: string
}

/** In the form of Conductor. */
interface PollData {
  readonly queueName: string
  readonly domain: string | null
  readonly workerId: string
  readonly lastPollTime: number
}

export class LastPolls {
  readonly #clock: Clock
  /** The one polled longest ago first. */
  readonly #polls = new Map<string, PollData>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  noted<T extends Poll>(poll: T): T {
    const { taskType, domain = null, workerId } = poll
    const key = JSON.stringify([taskType, domain])
    this.#polls.delete(key)
    this.#polls.set(key, {
      ...{ queueName: taskType, domain, workerId },
      lastPollTime: this.#clock.now().getTime(),
    })
    const [oldest] = this.#polls.keys()
    if (this.#polls.size > POLLED_QUEUES_REMEMBERED && oldest !== undefined) this.#polls.delete(oldest)
    return poll
  }

  all(): readonly PollData[] {
    return [...this.#polls.values()]
  }

  of(taskType: string): readonly PollData[] {
    return [...this.#polls.values()].filter(({ queueName }) => queueName === taskType)
  }
}
