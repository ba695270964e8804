/**
 * The time that decides what is due: retries, time limits, waits, schedules.
 *
 * - ET-1 It never goes back, also not from one instance to the next: the instance that runs the executions stores it now and then,
 *   and the next one goes on from there. So a deadline is never as far away again as it has been.
 * - ET-2 While it is ahead of the wall clock, because that was set back, it goes slower until the clock has caught up: late rather
 *   than early, and for good only where the clock goes on being set back.
 * - ET-3 The time when no instance ran does not count where the clock was set back by more than that.
 * - ET-4 A stored time more than two days ahead of the clock is not followed: schedules would start at wrong times for weeks.
 */

import { isAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { errorKindOf } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { SteadyTime } from '../../base/steady-time.ts'
import { fromBytes, toBytes } from '../../core/json.ts'
import { engineDefinitionPrefix, type TenantId } from '../../core/keys.ts'
import type { Store } from '../../core/ports.ts'
import {
  ENGINE_TIME_AHEAD_MAX_MS,
  ENGINE_TIME_SAVE_MS,
  ENGINE_TIME_SPEED,
  ENGINE_TIME_TOLD_MS,
} from '../limits.ts'

interface EngineTimeParts {
  readonly store: Store
  readonly tenant: TenantId | undefined
  readonly clock: Clock
  readonly logger: Logger
}

export class EngineTime {
  readonly #parts: EngineTimeParts
  readonly #time: SteadyTime
  #isTold = false

  constructor(parts: EngineTimeParts) {
    this.#parts = parts
    this.#time = new SteadyTime(parts.clock, { speed: ENGINE_TIME_SPEED })
  }

  nowMs(): number {
    return this.#time.nowMs()
  }

  /** Goes on from what was stored last. */
  async load(): Promise<void> {
    const { store, logger } = this.#parts
    try {
      const entry = await store.get(this.#key())
      const storedMs = entry === undefined ? NaN : Number(fromBytes(entry.value))
      const aheadMs = storedMs - this.#parts.clock.now().getTime()
      if (aheadMs > ENGINE_TIME_AHEAD_MAX_MS)
        logger.error('the clock has shown a time far ahead; the engine goes on from what it shows now', {
          aheadMs,
        })
      else if (Number.isSafeInteger(storedMs)) this.#time.setForward(storedMs)
    } catch (error) {
      // One that is damaged keeps nobody from working.
      if (errorKindOf(error) !== 'defect') throw error
      logger.error('the time of the engine could not be read', { error })
    }
    this.#tell()
  }

  /** Ends with the signal. */
  async run(isOwner: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isAborted(signal)) {
      if (isOwner()) await this.save()
      await this.#parts.clock.sleep(ENGINE_TIME_SAVE_MS, signal).catch(() => undefined)
    }
  }

  async save(): Promise<void> {
    const { store, logger } = this.#parts
    this.#tell()
    try {
      const value = toBytes(String(this.nowMs()))
      // A late write of an instance that is gone makes it somewhat earlier, until the next one.
      await store.commit({ operations: [{ do: 'put', key: this.#key(), value }] })
    } catch (error) {
      logger.warn('the time of the engine could not be stored', { error })
    }
  }

  #tell(): void {
    const aheadMs = this.#time.aheadMs()
    const isAhead = aheadMs >= ENGINE_TIME_TOLD_MS
    if (isAhead && !this.#isTold)
      this.#parts.logger.warn(
        'the clock was set back: what is due goes on from the time that it showed before, until the clock has caught up',
        { aheadMs },
      )
    this.#isTold = isAhead
  }

  #key(): string {
    return `${engineDefinitionPrefix('time', this.#parts.tenant)}now`
  }
}
