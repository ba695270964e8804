/** A bounded number of places, given out in the order in which they are asked for. */

import { abortReason } from '../../base/clock.ts'

export interface Slots {
  readonly limit: number
  readonly taken: number
  /** How many wait for one. */
  readonly waiting: number
  /** Resolves with what gives the place back; may be called twice. Rejects when the signal is aborted. */
  take(signal: AbortSignal): Promise<() => void>
}

export function openSlots(limit: number): Slots {
  let taken = 0
  const queue: (() => void)[] = []
  const place = (): (() => void) => {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const next = queue.shift()
      // The place goes straight to whoever waits longest.
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
          resolve(place())
          return
        }
        const onAbort = (): void => {
          queue.splice(queue.indexOf(turn), 1)
          reject(abortReason(signal))
        }
        const turn = (): void => {
          signal.removeEventListener('abort', onAbort)
          resolve(place())
        }
        signal.addEventListener('abort', onAbort, { once: true })
        queue.push(turn)
      })
    },
  }
}
