// Decides who goes on next. Everything that waits, waits here, and one seed replays the whole order.
import type { Clock } from '../../src/base/clock.ts'
import { type Random } from '../../src/base/random.ts'
import { randomWhole } from '../support/random-whole.ts'

export interface Waiter {
  readonly actor: string
  readonly what: string
  /** True while what it waits for has not taken effect yet. */
  readonly isPending: boolean
  readonly goOn: () => void
}

export class Scheduler {
  readonly #random: Random
  readonly #waiting: Waiter[] = []
  readonly #dead = new Set<string>()
  steps = 0

  constructor(random: Random) {
    this.#random = random
  }

  get idle(): boolean {
    return this.#waiting.length === 0
  }

  /** Waits for its turn. Whoever has died waits for ever. */
  pause(actor: string, what: string, options: { readonly isPending?: boolean } = {}): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#dead.has(actor))
        this.#waiting.push({ actor, what, isPending: options.isPending ?? false, goOn: resolve })
    })
  }

  /** Ends an actor where it stands. A request it has sent may still take effect; nobody hears the answer. */
  kill(actor: string): void {
    this.#dead.add(actor)
    const keep = this.#waiting.filter(
      (waiter) => waiter.actor !== actor || (waiter.isPending && this.#random.next() < 0.5),
    )
    this.#waiting.splice(0, this.#waiting.length, ...keep)
  }

  isDead(actor: string): boolean {
    return this.#dead.has(actor)
  }

  /** Lets one of those who wait go on, and everything that follows from it happen. */
  async step(): Promise<void> {
    this.steps++
    const index = randomWhole(this.#random, { least: 0, most: this.#waiting.length - 1 })
    const [next] = this.#waiting.splice(index, 1)
    next?.goOn()
    await settle()
  }

  /** Sleeping is waiting like any other: how long does not matter here. */
  clockFor(actor: string): Clock {
    return {
      now: () => new Date(1_700_000_000_000 + this.steps),
      monotonicMs: () => this.steps,
      sleep: () => this.pause(actor, 'sleep'),
    }
  }
}

export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
