/** A bounded number of slots, given out in the order in which they are requested. */

import { abortReason } from '../../base/clock.ts'

export interface Slots {
  readonly limit: number
  readonly taken: number
  /** How many callers wait for one. */
  readonly waiting: number
  /** Resolves with a function that releases the slot; it may be called twice. Rejects when the signal is aborted. */
  take(signal: AbortSignal): Promise<() => void>
}

export function openSlots(limit: number): Slots {
  let taken = 0
  const queue: (() => void)[] = []
  const slot = (): (() => void) => {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const next = queue.shift()
      // The slot goes directly to the one who has waited longest.
      if (next === undefined) taken--
      else next()
    }
  }
  return {
    limit,
    get taken() {
      return taken
    },
    get waiting() {
      return queue.length
    },
    take(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(abortReason(signal))
          return
        }
        if (taken < limit) {
          taken++
          resolve(slot())
          return
        }
        const onAbort = (): void => {
          queue.splice(queue.indexOf(turn), 1)
          reject(abortReason(signal))
        }
        const turn = (): void => {
          signal.removeEventListener('abort', onAbort)
          resolve(slot())
        }
        signal.addEventListener('abort', onAbort, { once: true })
        queue.push(turn)
      })
    },
  }
}
