/** Builds a plan task by task from what each needs: pipeline, synchronised, or independent of the plan. */

import { InvalidError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { PLAN_SYNC_INTERVAL_MS, PLAN_SYNC_TIMEOUT_MS } from '../limits.ts'
import { SharedSpaceDecisionMaker, type SharingDecision, type SharingRequirements } from './decisions.ts'
import type { Handler } from './handler-registry.ts'
import { findOrderProblems } from './lint-plan.ts'
import { Plan } from './plan.ts'
import type { PlanOptions } from './plan-core.ts'
import type { PlanPlace } from './plan-registry.ts'
import type { TaskDeclaration } from './plan-task.ts'
import { partsOf, type SurfaceParts } from './surface-parts.ts'
import { findHandler } from './task-handler.ts'

/** Every further property becomes an argument of the handler, in this order. */
export interface BuilderTaskConfig {
  readonly taskId: string
  readonly order?: number
  readonly handler: string | Handler
  readonly [argument: string]: unknown
}

export interface BuiltTask {
  readonly taskId: string
  readonly order: number
  readonly type: 'pipeline' | 'synced'
}

/** How an independent task ended. */
export type IndependentOutcome =
  | { readonly taskId: string; readonly status: 'completed'; readonly result: unknown }
  | { readonly taskId: string; readonly status: 'failed'; readonly error: unknown }

/** Looks every 50 ms, and returns the first truthy value of the key. */
export type SyncWait = (signalKey: string, timeout?: number) => Promise<unknown>

export interface PlanBuilderOptions extends PlanOptions, PlanPlace {
  /** Gets a line for each added task and each failed independent one. Default: the logger of the registry. */
  readonly logger?: Logger
  /** Default: `SharedSpaceDecisionMaker`. */
  readonly decide?: (requirements: SharingRequirements) => Pick<SharingDecision, 'recommendation'>
}

/**
 * ```ts
 * const builder = new PlanBuilder('auto-etl')
 * builder
 *   .addPipelineTask({ taskId: 'extract', order: 1, handler: extract, source: 'users_db' })
 *   .addPipelineTask({ taskId: 'load', order: 2, handler: load })
 * await builder.build()
 * ```
 */
export class PlanBuilder {
  readonly planId: string
  readonly sharedSpace: Plan
  readonly tasks: BuiltTask[] = []
  readonly #parts: SurfaceParts
  readonly #logger: Logger
  readonly #decide: (requirements: SharingRequirements) => Pick<SharingDecision, 'recommendation'>
  readonly #independent: Promise<IndependentOutcome>[] = []

  constructor(planId: string, options: PlanBuilderOptions = {}) {
    const { logger, decide, ...where } = options
    this.planId = planId
    this.sharedSpace = new Plan(planId, where)
    this.#parts = partsOf(this.sharedSpace)
    this.#logger = logger ?? this.#parts.registry.logger
    this.#decide = decide ?? SharedSpaceDecisionMaker
  }

  addTaskFromDecision(requirements: SharingRequirements, taskConfig: BuilderTaskConfig): this {
    const { recommendation } = this.#decide(requirements)
    switch (recommendation) {
      case 'CROSS_ORDER_PIPELINE':
        return this.addPipelineTask(taskConfig)
      case 'SAME_ORDER_WITH_SYNC':
        return this.addSyncedTask(taskConfig)
      case 'AVOID_SHARED_SPACE':
        return this.addIndependentTask(taskConfig)
      default:
        throw new InvalidError(
          'plan/unknown-recommendation',
          `add the task "${taskConfig.taskId}": there is no recommendation "${String(recommendation)}"`,
        )
    }
  }

  /** The handler gets (plan id, task id, plan, …values). Declared dependencies must be in earlier orders. */
  addPipelineTask(taskConfig: BuilderTaskConfig, declared: TaskDeclaration = {}): this {
    const { taskId } = taskConfig
    const order = this.#add(taskConfig, 'pipeline', [this.sharedSpace], declared)
    this.#logger.info(`the pipeline task "${taskId}" was added in order ${order}`, { plan: this.planId })
    return this
  }

  /** The handler gets (plan id, task id, plan, syncWait, …values). */
  addSyncedTask(taskConfig: BuilderTaskConfig, declared: TaskDeclaration = {}): this {
    const { taskId } = taskConfig
    const order = this.#add(taskConfig, 'synced', [this.sharedSpace, this.#syncWait], declared)
    this.#logger.info(
      `the synced task "${taskId}" was added in order ${order}: it needs synchronisation with the others`,
      { plan: this.planId },
    )
    return this
  }

  /** Calls the handler soon, with (null, task id, …values); the plan gets no task. */
  addIndependentTask(taskConfig: BuilderTaskConfig): this {
    const { taskId, handler } = taskConfig
    const { handler: call } = findHandler(this.#parts.registry.handlers, handler)
    this.#independent.push(runIndependent(taskId, () => call(null, taskId, ...valuesOf(taskConfig))))
    return this
  }

  /** How the independent tasks ended, when all of them have. */
  independentOutcomes(): Promise<readonly IndependentOutcome[]> {
    return Promise.all(this.#independent)
  }

  /** Runs the plan, waits for the independent tasks too, and releases the plan. Its last status stays readable. */
  async build(): Promise<Plan> {
    this.#logger.info(`the plan "${this.planId}" is run with ${this.tasks.length} tasks`)
    for (const { taskId, type, order } of this.tasks)
      this.#logger.info(`task "${taskId}": ${type}, order ${order}`, { plan: this.planId })
    try {
      await this.sharedSpace.Run()
    } finally {
      for (const outcome of await this.independentOutcomes())
        if (outcome.status === 'failed')
          this.#logger.error(`the independent task "${outcome.taskId}" failed`, { error: outcome.error })
      this.sharedSpace.Release()
    }
    return this.sharedSpace
  }

  readonly #syncWait: SyncWait = async (signalKey, timeout = PLAN_SYNC_TIMEOUT_MS) =>
    this.sharedSpace.waitFor(signalKey, { timeout, interval: PLAN_SYNC_INTERVAL_MS, until: Boolean })

  #add(
    taskConfig: BuilderTaskConfig,
    type: BuiltTask['type'],
    first: readonly unknown[],
    declared: TaskDeclaration,
  ): number {
    const { taskId, order } = taskConfig
    if (order === undefined)
      throw new InvalidError('plan/no-order', `add the ${type} task "${taskId}": it has no order`)
    const { handler, declaration } = findHandler(this.#parts.registry.handlers, taskConfig.handler)
    const { core } = this.#parts
    const added = { id: taskId, order, declaration: { ...declaration, ...declared } }
    if (type === 'pipeline') requireEarlierProducers([...core.tasks, added])
    const values = valuesOf(taskConfig)
    core.addTask({
      ...added,
      function: () => handler(this.planId, taskId, ...first, ...values),
    })
    this.tasks.push({ taskId, order, type })
    return order
  }
}

/** `taskId`, `order` and `handler` are not for the handler. */
function valuesOf(taskConfig: BuilderTaskConfig): readonly unknown[] {
  const known = new Set(['taskId', 'order', 'handler'])
  return Object.entries(taskConfig).flatMap(([name, value]) => (known.has(name) ? [] : [value]))
}

async function runIndependent(taskId: string, call: () => unknown): Promise<IndependentOutcome> {
  await new Promise((resolve) => setImmediate(resolve))
  try {
    return { taskId, status: 'completed', result: await call() }
  } catch (error) {
    return { taskId, status: 'failed', error }
  }
}

function requireEarlierProducers(tasks: Parameters<typeof findOrderProblems>[0]): void {
  const [found] = findOrderProblems(tasks, new Set()).filter(({ rule }) => rule === 'same-order-dependence')
  if (found !== undefined)
    throw new InvalidError('plan/same-order-dependence', `add a pipeline task: ${found.message}`, {
      next: 'Give the task that needs the key a later order, or add it as a synced task.',
    })
}
