/** The script surface: a small class whose tasks and subscribers are named functions. */

import { InvalidError } from '../../base/errors.ts'
import type { Handler, RegisteredHandler } from './handler-registry.ts'
import type { PlanCore, PlanOptions, PlanStatuses, TaskTimes } from './plan-core.ts'
import { placeOf, timeOf, type PlanPlace, type PlanRegistry } from './plan-registry.ts'
import type { PlanStatus } from './plan-status.ts'
import { noteParts } from './surface-parts.ts'
import { findHandler } from './task-handler.ts'
import type { WaitForOptions } from './wait-for.ts'

/**
 * ```ts
 * const plan = new Plan('report')
 * plan.Add('collect', 1, 'reports.collect', 'sales')
 * plan.Add('render', 2, 'reports.render')
 * await plan.Run()
 * plan.Release()
 * ```
 *
 * `new Plan(id)` opens the plan of this id, or creates it: tasks reach their plan in this way.
 */
export class Plan {
  readonly #core: PlanCore
  readonly #registry: PlanRegistry

  constructor(plan_id: string, options: PlanOptions & PlanPlace = {}) {
    const { namespace, registry, ...own } = options
    const place = placeOf({
      ...(namespace === undefined ? {} : { namespace }),
      ...(registry === undefined ? {} : { registry }),
    })
    this.#registry = place.registry
    this.#core = place.registry.open(plan_id, own, place.namespace)
    noteParts(this, { core: this.#core, registry: this.#registry })
  }

  /** `task_process` is called with plan id, task id and these arguments; what it returns is the task's data. */
  Add(task_id: string, order: number, task_process: string | Handler, ...task_args: unknown[]): void {
    const { handler, declaration } = this.#find(task_process, `add the task "${task_id}"`)
    this.#core.addTask({
      id: task_id,
      order,
      declaration,
      function: () => handler(this.#core.id, task_id, ...task_args),
    })
  }

  /** Resolves when everything has ended; rejects with a `PlanFailedError` whose cause is what the task threw. */
  Run(): Promise<void> {
    return this.#core.start()
  }

  /** Removes all data and forgets the plan; the last status stays readable here. A running plan is stopped. */
  Release(): void {
    this.#core.release()
  }

  Status(): PlanStatuses {
    return this.#core.statuses
  }

  TaskStatus(task_id: string): PlanStatus {
    return this.#core.taskStatus(task_id)
  }

  /** What the task has stored, otherwise what it returned. With `data`, stores it and returns what was there. */
  TaskData(task_id: string, ...data: [data?: unknown]): unknown {
    const task = this.#core.task(task_id)
    const before = task.data
    if (data.length > 0) task.setData(data[0])
    return before
  }

  /** `subscribe_fn` is called with plan id, key, data and these arguments. */
  Subscribe(key: string, subscribe_fn: string | Handler, ...subscribe_args: unknown[]): void {
    const { handler } = this.#find(subscribe_fn, `subscribe to "${key}"`)
    this.#core.space.Subscribe(key, (changed, value) => {
      const returned: unknown = handler(this.#core.id, changed, value, ...subscribe_args)
      // Nobody awaits a subscriber.
      if (returned instanceof Promise)
        returned.catch((error: unknown) => this.#registry.logger.warn('a subscriber failed', { key, error }))
    })
  }

  Get(key: string, ...fallback: [fallback?: unknown]): unknown {
    const mayMiss = fallback.length > 0 || this.#core.options.missingKeys === 'undefined'
    return mayMiss ? this.#core.space.TryGet(key, fallback[0]) : this.#core.space.Get(key)
  }

  Set(key: string, value: unknown): void {
    this.#core.space.Set(key, value)
  }

  Del(key: string): void {
    this.#core.space.Delete(key)
  }

  Clear(): void {
    this.#core.space.Clear()
  }

  // Extras, beside the eleven members above: PLAN_EXTRAS.

  get id(): string {
    return this.#core.id
  }

  /** The same as `Del`. */
  Delete(key: string): void {
    this.Del(key)
  }

  /** `undefined` for a key without a value, whatever the plan's options say. */
  TryGet(key: string): unknown {
    return this.#core.space.TryGet(key)
  }

  Has(key: string): boolean {
    return this.#core.space.Has(key)
  }

  /** Changes one value by what it is now; nobody can write between. */
  Update<T>(key: string, change: (current: T | undefined) => T): T {
    return this.#core.space.Update(key, change)
  }

  /** When a task began and ended; `undefined` before it began. */
  TaskTimes(task_id: string): TaskTimes | undefined {
    return this.#core.taskTimes(task_id)
  }

  /** Waits until the key has a value. In a task it ends early, with the reason, when the task is cancelled. */
  waitFor(key: string, options: WaitForOptions = {}): Promise<unknown> {
    const { signal } = timeOf()
    return this.#core.space.waitFor(key, signal === undefined ? options : { signal, ...options })
  }

  #find(process: string | Handler, what: string): RegisteredHandler {
    if (typeof process === 'string' || this.#core.options.strict !== true)
      return findHandler(this.#registry.handlers, process)
    throw new InvalidError(
      'plan/names-only',
      `${what} of the plan "${this.#core.id}": it accepts names of registered handlers only`,
      { next: 'Register the function with handlers.register, and give its name.' },
    )
  }
}

/** The members of `Plan` that are not part of the small surface. */
export const PLAN_EXTRAS = ['id', 'Delete', 'TryGet', 'Has', 'Update', 'TaskTimes', 'waitFor'] as const
