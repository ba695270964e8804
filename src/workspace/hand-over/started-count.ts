/**
 * How many processes and threads have been started on this machine since it started. Where two readings are equal, none was
 * started between them, in no container and under no other number.
 */

import { readFileSync } from 'node:fs'

export class StartedCount {
  readonly #readStat: () => string
  #first: number | undefined
  #isMoving = false

  constructor(readStat: () => string = () => readFileSync('/proc/stat', 'utf8')) {
    this.#readStat = readStat
  }

  /** `undefined` where it cannot be told; also until it was seen to move, because some systems show a number that never does. */
  read(): number | undefined {
    const count = this.#readNow()
    if (count === undefined) return undefined
    this.#first ??= count
    this.#isMoving ||= count > this.#first
    return this.#isMoving ? count : undefined
  }

  #readNow(): number | undefined {
    try {
      const [, digits] = /^processes (\d+)$/m.exec(this.#readStat()) ?? []
      return digits === undefined ? undefined : Number(digits)
    } catch {
      // A system without it, or a /proc that shows processes only.
      return undefined
    }
  }
}
