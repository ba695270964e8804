/**
 * Finds steps of a workflow that may write a branch at the same time. The publish fence would refuse the later one; this
 * check reports it before anything runs.
 *
 * - Steps in different branches of a fork are parallel. The steps after the fork are parallel to every branch that its JOIN
 *   does not wait for.
 * - A step writes when its task has a workspace that is not read-only. An unknown task
 *   counts as a writer if it is given a workspace.
 * - Two steps write the same branch if their workspaces, traced back through earlier steps, come from the same text. Branches
 *   that turn out to be the same only at run time are left to the fence.
 */

import type { Json } from '../base/json.ts'
import type { TaskDefinition } from './task-definition.ts'
import { rowsInside, walkSteps, wholeExpression, type WorkflowStep } from './workflow-steps.ts'

/** One sentence per pair. */
export function findParallelWriters(
  steps: readonly WorkflowStep[],
  tasks: ReadonlyMap<string, TaskDefinition>,
): readonly string[] {
  const pairs = new Map<string, string>()
  const targets = traceWorkspaces(walkSteps(steps))
  const judge = (some: readonly WorkflowStep[], others: readonly WorkflowStep[]): void => {
    for (const one of some.filter((step) => mayWrite(step, tasks))) {
      for (const other of others.filter((step) => mayWrite(step, tasks))) {
        const target = targets.get(one.taskReferenceName)
        if (target === undefined || target !== targets.get(other.taskReferenceName)) continue
        const names = [one.taskReferenceName, other.taskReferenceName]
        pairs.set(
          names.join('\n'),
          `${names.join(' and ')} may write one branch at the same time (${target}): run one after the other, or use a different branch for each`,
        )
      }
    }
  }
  const visit = (row: readonly WorkflowStep[], outer: readonly WorkflowStep[]): void => {
    for (const [index, step] of row.entries()) {
      const following = [...row.slice(index + 1), ...outer]
      const branches = step.forkTasks ?? []
      for (const [at, branch] of branches.entries()) {
        for (const later of branches.slice(at + 1)) judge(walkSteps(branch), walkSteps(later))
        judge(walkSteps(branch), walkSteps(rowBesides(branch, following)))
      }
      for (const inner of rowsInside(step)) visit(inner, following)
    }
  }
  visit(steps, [])
  return [...pairs.values()]
}

/** The steps that may run in parallel to this branch: all up to the JOIN that waits for its last step. */
function rowBesides(
  branch: readonly WorkflowStep[],
  following: readonly WorkflowStep[],
): readonly WorkflowStep[] {
  const last = branch.at(-1)?.taskReferenceName
  const joined = following.findIndex(
    ({ type, joinOn }) => type === 'JOIN' && last !== undefined && joinOn?.includes(last) === true,
  )
  return joined === -1 ? following : following.slice(0, joined)
}

/** An unknown task counts as a writer if it is given a workspace. */
export function mayWrite(step: WorkflowStep, tasks: ReadonlyMap<string, TaskDefinition>): boolean {
  const task = tasks.get(step.name)
  if (task === undefined) return step.inputParameters?.['workspace'] !== undefined
  return task.workspace !== undefined && task.workspace.readOnly !== true
}

/**
 * The origin of each step's workspace, as a text that is equal for equal branches. Each step comes after those that it
 * refers to, so one pass follows every chain.
 */
export function traceWorkspaces(
  steps: readonly Pick<WorkflowStep, 'taskReferenceName' | 'inputParameters'>[],
): ReadonlyMap<string, string> {
  const targets = new Map<string, string>()
  for (const { taskReferenceName, inputParameters } of steps) {
    const target = targetOf(inputParameters?.['workspace'], targets)
    if (target !== undefined) targets.set(taskReferenceName, target)
  }
  return targets
}

function targetOf(workspace: Json | undefined, known: ReadonlyMap<string, string>): string | undefined {
  const whole = wholeExpression(workspace)
  if (whole !== undefined) return workspaceOf(whole, known)
  if (typeof workspace !== 'object' || workspace === null || Array.isArray(workspace)) return undefined
  const { repository, branch } = workspace as Readonly<Record<string, Json>>
  const inRepository = sourceOf(repository, 'repository', known)
  const onBranch = sourceOf(branch, 'branch', known)
  if (inRepository === undefined || onBranch === undefined) return undefined
  // Both from the same workspace: it is that workspace.
  return inRepository.is === 'from' && onBranch.is === 'from' && inRepository.of === onBranch.of
    ? inRepository.of
    : `${show(inRepository, 'repository')}, ${show(onBranch, 'branch')}`
}

type Source = { readonly is: 'from'; readonly of: string } | { readonly is: 'text'; readonly text: string }

function sourceOf(
  value: Json | undefined,
  field: string,
  known: ReadonlyMap<string, string>,
): Source | undefined {
  if (typeof value !== 'string') return undefined
  const path = wholeExpression(value)
  if (path?.endsWith(`.${field}`) !== true) return { is: 'text', text: value }
  return { is: 'from', of: workspaceOf(path.slice(0, -field.length - 1), known) }
}

/** A step returns the workspace it was given, at another commit. */
function workspaceOf(path: string, known: ReadonlyMap<string, string>): string {
  const [, step] = /^([^.[\]]+)\.(?:output|input)\.workspace$/.exec(path) ?? []
  return (step === undefined ? undefined : known.get(step)) ?? path
}

function show(source: Source, field: string): string {
  return source.is === 'text' ? source.text : `${source.of}.${field}`
}
