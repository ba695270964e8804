/** The shared space of a plan: what every implementation offers, and what is built in. */

/** The events that a plan fires by itself. `TaskBegan` marks the real start; `TaskStarted` fires when a task is added. */
export const BUILT_IN_EVENTS = ['TaskStarted', 'TaskCompleted', 'TaskError', 'Released'] as const
export type BuiltInEvent = (typeof BUILT_IN_EVENTS)[number] | 'TaskBegan'

/** Given to subscribers beside `undefined` when a key has lost its value. */
export type ChangeKind = 'deleted' | 'cleared'

export type SpaceCallback = (key: string, value: unknown, change?: ChangeKind) => void

/**
 * Values that the tasks of a plan share. Every call is done when it returns, its callbacks included. An implementation passes
 * the suite `test/conformance/shared-space.ts`.
 */
export interface SharedSpace {
  /** Stores, then calls the key's subscribers in the order in which they subscribed. */
  Set(key: string, value: unknown): void
  /** Throws a `MissingError` (`plan/not-found`) when the key has no value. */
  Get(key: string): unknown
  /** Calls the subscribers with `undefined` and `'deleted'`; without a value it does nothing. */
  Delete(key: string): void
  /** Removes all data and calls nobody. */
  Clear(): void
  /** Removes all data, then calls the subscribers of every key that had a value, then those of `Released`. */
  ClearNotify(): void
  /** The callback gets key and value on every change of this key. */
  Subscribe(key: string, callback: SpaceCallback): void
  /** Removes all callbacks of this key. */
  Unsubscribe(key: string): void
}

/** What a plan needs of its space beyond the seven members. */
export interface SharedSpaceExtras {
  /** Calls the key's subscribers and stores nothing. */
  Trigger(key: string, value: unknown): void
  Has(key: string): boolean
  Keys(): readonly string[]
  /** Removes every callback. */
  UnsubscribeAll(): void
}

export type PlanBacking = SharedSpace & SharedSpaceExtras
