/** The shared space as a plan and its tasks use it: names of built-in events are kept free, and it ends with its plan. */

import type { Clock } from '../../base/clock.ts'
import { InvalidError, RefusedError } from '../../base/errors.ts'
import {
  BUILT_IN_EVENTS,
  type BuiltInEvent,
  type PlanBacking,
  type SharedSpace,
  type SpaceCallback,
} from './shared-space.ts'
import { waitFor, type WaitForOptions } from './wait-for.ts'

const RESERVED: ReadonlySet<string> = new Set<BuiltInEvent>([...BUILT_IN_EVENTS, 'TaskBegan'])

export class PlanSpace implements SharedSpace {
  readonly #planId: string
  readonly #backing: PlanBacking
  readonly #clock: Clock
  #isReleased = false

  constructor(planId: string, backing: PlanBacking, clock: Clock) {
    this.#planId = planId
    this.#backing = backing
    this.#clock = clock
  }

  Set(key: string, value: unknown): void {
    this.#requireOpen(`set "${key}"`)
    requireFree(key, 'set')
    this.#backing.Set(key, value)
  }

  Get(key: string): unknown {
    return this.#backing.Get(key)
  }

  Delete(key: string): void {
    this.#requireOpen(`delete "${key}"`)
    this.#backing.Delete(key)
  }

  Clear(): void {
    this.#backing.Clear()
  }

  ClearNotify(): void {
    this.#backing.ClearNotify()
  }

  Subscribe(key: string, callback: SpaceCallback): void {
    this.#requireOpen(`subscribe to "${key}"`)
    this.#backing.Subscribe(key, callback)
  }

  Unsubscribe(key: string): void {
    this.#backing.Unsubscribe(key)
  }

  /** Like `Get`, with `fallback` for a key without a value. */
  TryGet(key: string, fallback?: unknown): unknown {
    return this.Has(key) ? this.#backing.Get(key) : fallback
  }

  Has(key: string): boolean {
    return this.#backing.Has(key)
  }

  Keys(): readonly string[] {
    return this.#backing.Keys()
  }

  /** Changes one value by what it is now; nobody can write between. */
  Update<T>(key: string, change: (current: T | undefined) => T): T {
    const next = change(this.TryGet(key) as T | undefined)
    if (next instanceof Promise)
      throw new InvalidError('plan/async-update', `update "${key}": the function must not be asynchronous`, {
        next: 'Do what takes time before, and only compute the new value in the function.',
      })
    this.Set(key, next)
    return next
  }

  /** Calls the key's subscribers and stores nothing. */
  Trigger(key: string, value?: unknown): void {
    this.#requireOpen(`trigger "${key}"`)
    requireFree(key, 'trigger')
    this.#backing.Trigger(key, value)
  }

  /** Waits until the key has a value. */
  waitFor(key: string, options: WaitForOptions = {}): Promise<unknown> {
    return waitFor(this, key, { clock: this.#clock, ...options })
  }

  /** @internal */
  announce(event: BuiltInEvent, data: unknown): void {
    if (!this.#isReleased) this.#backing.Trigger(event, data)
  }

  /** @internal */
  release(): void {
    this.#backing.ClearNotify()
    this.#backing.UnsubscribeAll()
    // A subscriber of Released may have set something.
    this.#backing.Clear()
    this.#isReleased = true
  }

  #requireOpen(what: string): void {
    if (this.#isReleased)
      throw new RefusedError('plan/released', `${what} in the plan "${this.#planId}": it was released`, {
        next: 'Open a new plan with this id.',
      })
  }
}

function requireFree(key: string, what: string): void {
  if (RESERVED.has(key))
    throw new InvalidError('plan/reserved-key', `${what} "${key}": this is the name of a built-in event`, {
      next: 'Choose another key.',
    })
}
