/** Advice about a plan: dependence inside an order, data in too many keys, a plan that nobody releases. */

import { PLAN_LINT_KEYS_MAX } from '../limits.ts'
import type { ControlledPlan } from './control-surface.ts'
import type { Plan } from './plan.ts'
import { partsOf } from './surface-parts.ts'
import type { TaskDeclaration } from './plan-task.ts'

export type PlanFindingRule = 'same-order-dependence' | 'unproduced-key' | 'scattered-keys' | 'not-released'

export interface PlanFinding {
  readonly rule: PlanFindingRule
  readonly message: string
  readonly tasks: readonly string[]
  readonly keys: readonly string[]
  readonly next: string
}

export interface LintOptions {
  /** More keys than this are too many. Default: 50. */
  readonly maxKeys?: number
}

/** Judges the tasks' declarations, the keys that are there now, and the status. Before a run, and after it. */
export function lintPlan(plan: Plan | ControlledPlan, options: LintOptions = {}): readonly PlanFinding[] {
  const { core } = partsOf(plan)
  const present = core.space.Keys()
  const { status } = core
  const isOver = status === 'completed' || status === 'failed' || status === 'destroyed'
  return [
    ...findOrderProblems(core.tasks, new Set(present)),
    ...findScatteredKeys(core.tasks, present, options.maxKeys ?? PLAN_LINT_KEYS_MAX),
    ...(isOver && !core.isReleased ? [notReleased(core.id)] : []),
  ]
}

interface Declared {
  readonly id: string
  readonly order: number
  readonly declaration: TaskDeclaration
}

/** A key that a task needs, and only tasks of its own order or of later ones produce. */
export function findOrderProblems(
  tasks: readonly Declared[],
  present: ReadonlySet<string>,
): readonly PlanFinding[] {
  return tasks.flatMap((task) =>
    (task.declaration.needs ?? []).flatMap((key) => {
      const producers = tasks.filter(
        (other) => other !== task && other.declaration.produces?.includes(key) === true,
      )
      if (present.has(key) || producers.some(({ order }) => order < task.order)) return []
      const same = producers.filter(({ order }) => order === task.order)
      return [same.length > 0 ? sameOrder(task, same, key) : unproduced(task, key)]
    }),
  )
}

function sameOrder(task: Declared, producers: readonly Declared[], key: string): PlanFinding {
  const [first] = producers
  return {
    rule: 'same-order-dependence',
    message: `the task "${task.id}" needs "${key}", which "${first?.id ?? ''}" of the same order ${task.order} sets`,
    tasks: [task.id, ...producers.map(({ id }) => id)],
    keys: [key],
    next: `Give "${task.id}" a later order, or wait for "${key}" with waitFor.`,
  }
}

function unproduced(task: Declared, key: string): PlanFinding {
  return {
    rule: 'unproduced-key',
    message: `the task "${task.id}" needs "${key}", which no task of an earlier order sets`,
    tasks: [task.id],
    keys: [key],
    next: `Set "${key}" before the run, or add a task of an earlier order that declares it.`,
  }
}

function findScatteredKeys(
  tasks: readonly Declared[],
  present: readonly string[],
  maxKeys: number,
): readonly PlanFinding[] {
  const keys = new Set([...present, ...tasks.flatMap(({ declaration }) => declaration.produces ?? [])])
  if (keys.size <= maxKeys) return []
  return [
    {
      rule: 'scattered-keys',
      message: `the shared space has ${keys.size} keys, more than ${maxKeys}`,
      tasks: [],
      keys: [...keys],
      next: 'Keep what belongs together as one structured value, such as a list, under one key.',
    },
  ]
}

function notReleased(planId: string): PlanFinding {
  return {
    rule: 'not-released',
    message: `the plan "${planId}" has ended and is not released: its data stays in memory`,
    tasks: [],
    keys: [],
    next: 'Call Release() in a finally block.',
  }
}
