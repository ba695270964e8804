/** A bounded number of slots, given out in the order in which they are requested, mostly to those who are likely to need them. */

import { abortReason } from '../../base/clock.ts'
import { SLOTS_PASSED_OVER_MAX } from '../limits.ts'

export interface Slots {
  readonly limit: number
  readonly taken: number
  /** How many callers wait for one. */
  readonly waiting: number
  /**
   * Resolves with a function that releases the slot; it may be called twice. Rejects when the signal is aborted. Who `maybe`
   * needs none comes after the others, but gets one of five slots for which both wait.
   */
  take(signal: AbortSignal, need?: 'surely' | 'maybe'): Promise<() => void>
}

export function openSlots(limit: number): Slots {
  let taken = 0
  const queues: Record<'surely' | 'maybe', (() => void)[]> = { surely: [], maybe: [] }
  let passedOver = 0
  const takeNext = (): (() => void) | undefined => {
    const { surely, maybe } = queues
    if (maybe.length > 0 && (surely.length === 0 || passedOver === SLOTS_PASSED_OVER_MAX)) {
      passedOver = 0
      return maybe.shift()
    }
    if (maybe.length > 0) passedOver++
    return surely.shift()
  }
  const slot = (): (() => void) => {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const next = takeNext()
      // The slot goes directly to the next one.
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
      return queues.surely.length + queues.maybe.length
    },
    take(signal, need = 'surely') {
      const queue = queues[need]
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
