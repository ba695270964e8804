/** Whether the tasks are registered as they are declared, and whether their publications fit their leases. */

import type { DefinitionRegistry, TaskDefPlan } from '../../conductor/definitions.ts'
import { isSchemaChange, type TaskDef } from '../../conductor/definition-diff.ts'
import { RefusedError } from '../../base/errors.ts'
import { buildTaskDef } from '../../tasks/build-taskdef.ts'
import { judgeBudget } from '../../tasks/task-controls.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'

/** The definition of a task without its schemas, which `perago extract` writes apart. */
export function declaredTaskDef(task: TaskDefinition): TaskDef {
  const fields = Object.entries(buildTaskDef(task)).filter(([name]) => !name.endsWith('Schema'))
  return Object.fromEntries(fields) as TaskDef
}

export interface TaskRegistration {
  readonly task: TaskDefinition
  readonly plan: TaskDefPlan
  /** What keeps it from starting in any case. */
  readonly problems: readonly string[]
  /** What differs between the declaration and the server; may be allowed. */
  readonly drift: readonly string[]
}

/** Asks the server for each task; changes nothing. */
export async function examineRegistration(
  registry: Pick<DefinitionRegistry, 'planTaskDef'>,
  tasks: readonly TaskDefinition[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<readonly TaskRegistration[]> {
  return Promise.all(
    tasks.map(async (task) => {
      const plan = await registry.planTaskDef(buildTaskDef(task) as TaskDef, options)
      return { task, plan, problems: problemsOf(task, plan), drift: driftOf(plan) }
    }),
  )
}

/** Throws `runtime/not-registered` or `runtime/task-drift` with everything that keeps the tasks from starting. */
export function assertMayStart(
  registrations: readonly TaskRegistration[],
  options: { readonly allowDrift?: boolean } = {},
): void {
  const collect = (pick: (registration: TaskRegistration) => readonly string[]): readonly string[] =>
    registrations.flatMap((registration) =>
      pick(registration).map((text) => `${registration.task.name}: ${text}`),
    )
  const problems = collect(({ problems: own }) => own)
  if (problems.length > 0) {
    throw new RefusedError('runtime/not-registered', `start the tasks: ${problems.join('; ')}`, {
      details: { problems },
      next: 'Register the tasks with "perago register MODULE", or correct their controls.',
    })
  }
  const drift = options.allowDrift === true ? [] : collect(({ drift: own }) => own)
  if (drift.length > 0) {
    throw new RefusedError(
      'runtime/task-drift',
      `start the tasks: the server has other definitions: ${drift.join('; ')}`,
      {
        details: { drift },
        next: 'Register the tasks with "perago register MODULE", or start with --allow-drift.',
      },
    )
  }
}

function problemsOf(task: TaskDefinition, plan: TaskDefPlan): readonly string[] {
  if (plan.action === 'create') {
    return [
      'it is not registered; the server would give it a lease of an hour and time out its whole workflow',
    ]
  }
  const registered = plan.action === 'update' ? plan.registered : plan.declared
  if (task.workspace === undefined || task.workspace.readOnly === true) return []
  return judgeBudget(task.controls.publishBudget, registered.responseTimeoutSeconds ?? 0).map(
    (problem) => `publishBudget: ${problem}`,
  )
}

function driftOf(plan: TaskDefPlan): readonly string[] {
  if (plan.action !== 'update') return []
  const changes = plan.changes.filter((change) => !isSchemaChange(change))
  return changes.map(
    ({ field, registered, declared }) =>
      `${field} is ${JSON.stringify(registered)} there and ${JSON.stringify(declared)} here`,
  )
}
