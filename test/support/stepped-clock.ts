// A manual clock whose wall time can be set, as by an operator or a time server, while its monotonic time goes on.
import { ManualClock } from '../../src/testing/manual-clock.ts'

export class SteppedClock extends ManualClock {
  #setByMs = 0

  override now(): Date {
    return new Date(super.now().getTime() + this.#setByMs)
  }

  /** Back where it is negative. */
  set(byMs: number): void {
    this.#setByMs += byMs
  }
}
