/** Whether work that goes on all the time does go on: noted by who works, asked by who tells the health. */

import type { Clock } from './clock.ts'

export class Progress {
  readonly #parts: { readonly what: string; readonly stillMs: number; readonly clock: Clock }
  #notedMs: number

  /** `stillMs`: how long nothing may be noted. */
  constructor(parts: { readonly what: string; readonly stillMs: number; readonly clock: Clock }) {
    this.#parts = parts
    this.#notedMs = parts.clock.monotonicMs()
  }

  note(): void {
    this.#notedMs = this.#parts.clock.monotonicMs()
  }

  /** One sentence, if it stands still. */
  problem(): string | undefined {
    const { what, stillMs, clock } = this.#parts
    const forMs = clock.monotonicMs() - this.#notedMs
    return forMs < stillMs ? undefined : `${what} has stood still for ${Math.floor(forMs / 1000)} s`
  }
}
