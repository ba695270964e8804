/** A shared space in the memory of this process. Values are kept as they are: an object is shared, not copied. */

import { MissingError } from '../../base/errors.ts'
import type { ChangeKind, PlanBacking, SpaceCallback } from './shared-space.ts'
import { Subscribers, type SubscriberOptions } from './subscribers.ts'

/**
 * ```ts
 * const space = new MemorySharedSpace()
 * space.Subscribe('rows', (key, value) => console.log(key, value))
 * space.Set('rows', 3)
 * ```
 *
 * Data and subscribers are two stores: while callbacks run, every key can be read and written.
 */
export class MemorySharedSpace implements PlanBacking {
  readonly #data = new Map<string, unknown>()
  readonly #subscribers: Subscribers

  constructor(options: SubscriberOptions = {}) {
    this.#subscribers = new Subscribers(options)
  }

  Set(key: string, value: unknown): void {
    this.#data.set(key, value)
    this.#subscribers.notify(key, value)
  }

  Get(key: string): unknown {
    if (this.#data.has(key)) return this.#data.get(key)
    throw keyNotFound(key)
  }

  Delete(key: string): void {
    if (this.#data.delete(key)) this.#notifyGone(key, 'deleted')
  }

  Clear(): void {
    this.#data.clear()
  }

  ClearNotify(): void {
    const keys = this.Keys()
    this.#data.clear()
    for (const key of keys) this.#notifyGone(key, 'cleared')
    this.#notifyGone('Released', 'cleared')
  }

  Subscribe(key: string, callback: SpaceCallback): void {
    this.#subscribers.add(key, callback)
  }

  Unsubscribe(key: string): void {
    this.#subscribers.remove(key)
  }

  Trigger(key: string, value: unknown): void {
    this.#subscribers.notify(key, value)
  }

  Has(key: string): boolean {
    return this.#data.has(key)
  }

  Keys(): readonly string[] {
    return [...this.#data.keys()]
  }

  UnsubscribeAll(): void {
    this.#subscribers.removeAll()
  }

  #notifyGone(key: string, change: ChangeKind): void {
    this.#subscribers.notify(key, undefined, change)
  }
}

function keyNotFound(key: string): MissingError {
  return new MissingError('plan/not-found', `get "${key}" from the shared space: not found`, {
    details: { key },
    next: 'Set it in an earlier order, or wait for it with waitFor.',
  })
}
