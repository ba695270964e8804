/** The control surface: plans that are paused, resumed and stopped from outside, with tasks that get signals. */

import type { PlanCore, PlanOptions, PlanStatuses, TaskTimes } from './plan-core.ts'
import { placeOf, type PlanPlace } from './plan-registry.ts'
import type { PlanSpace } from './plan-space.ts'
import type { PlanStatus } from './plan-status.ts'
import { noteParts } from './surface-parts.ts'
import type { PlanTaskView, TaskDeclaration, TaskFunction } from './plan-task.ts'

export interface TaskRequest extends TaskDeclaration {
  readonly id: string
  readonly order: number
  /** Gets its context, the shared space and its signal channel. It fails by throwing, or by returning an `Error`. */
  readonly function: TaskFunction
}

/**
 * ```ts
 * const plan = NewPlan('report')
 * plan.AddTask({ id: 'collect', order: 1, function: (context, space) => space.Set('rows', 3) })
 * await plan.Start()
 * plan.Release()
 * ```
 */
export function NewPlan(id: string, options: PlanOptions & PlanPlace = {}): ControlledPlan {
  const { namespace, registry, ...own } = options
  const place = placeOf({
    ...(namespace === undefined ? {} : { namespace }),
    ...(registry === undefined ? {} : { registry }),
  })
  const core = place.registry.open(id, own, place.namespace)
  const plan = new ControlledPlan(core)
  noteParts(plan, { core, registry: place.registry })
  return plan
}

export class ControlledPlan {
  readonly #core: PlanCore

  /** @internal Use `NewPlan`. */
  constructor(core: PlanCore) {
    this.#core = core
  }

  get id(): string {
    return this.#core.id
  }

  get status(): PlanStatus {
    return this.#core.status
  }

  get sharedSpace(): PlanSpace {
    return this.#core.space
  }

  /** The parent of every task's context. */
  get context(): AbortSignal {
    return this.#core.context
  }

  get tasks(): readonly PlanTaskView[] {
    return this.#core.tasks.map((task) => ({
      id: task.id,
      order: task.order,
      function: task.function,
      context: task.call?.context,
      signals: task.call?.signals,
      status: this.#core.taskStatus(task.id),
      data: task.data,
    }))
  }

  AddTask({ id, order, function: run, ...declaration }: TaskRequest): void {
    this.#core.addTask({
      id,
      order,
      declaration,
      function: async (context, space, signals) => {
        const returned = await run(context, space, signals)
        if (returned instanceof Error) throw returned
        return returned
      },
    })
  }

  /** Only before it starts. */
  RemoveTask(task_id: string): void {
    this.#core.removeTask(task_id)
  }

  /** Resolves when the plan is completed; rejects with why it is not. The other calls are allowed meanwhile. */
  Start(): Promise<void> {
    return this.#core.start()
  }

  /** Tells running tasks and begins no others. Resolves when it has taken effect. */
  Pause(): Promise<void> {
    return this.#core.pause()
  }

  Resume(): Promise<void> {
    return this.#core.resume()
  }

  /** Takes effect at once; `Start` rejects when the running tasks have ended. */
  Stop(): void {
    this.#core.stop()
  }

  /** Cancels the plan's context: unlike a stopped plan it is `failed`. */
  Cancel(reason: unknown): void {
    this.#core.cancel(reason)
  }

  Release(): void {
    this.#core.release()
  }

  GetStatus(): PlanStatuses {
    return this.#core.statuses
  }

  GetTaskStatus(task_id: string): PlanStatus {
    return this.#core.taskStatus(task_id)
  }

  GetTaskData(task_id: string): unknown {
    return this.#core.task(task_id).data
  }

  /** When a task began and ended; `undefined` before it began. */
  GetTaskTimes(task_id: string): TaskTimes | undefined {
    return this.#core.taskTimes(task_id)
  }

  /** Calls the key's subscribers and stores nothing. */
  Trigger(key: string, value?: unknown): void {
    this.#core.space.Trigger(key, value)
  }
}
