/** Which publications a person may have to decide about. Pure. */

import { hasRunFailed, type Run, type Task } from './run-state.ts'

export interface FailedPublication {
  readonly repository: string
  /** Whose task it was: of the run, or of one that it has run. */
  readonly workflow: string
  readonly branch?: string
}

type FailedRun = Pick<Run, 'id' | 'status' | 'repository' | 'branch'> & {
  readonly tasks: readonly FailedTask[]
}
type FailedTask = Pick<Task, 'status' | 'retried' | 'child_id'> & {
  readonly publication?: Pick<NonNullable<Task['publication']>, 'repository' | 'branch'> | undefined
}

/** Those of what failed; where no task did, what the input of the run names. Each branch of a workflow once. */
export function failedPublicationsOf(run: FailedRun): readonly FailedPublication[] {
  if (!hasRunFailed(run)) return []
  const found = run.tasks.flatMap((task) => failedPublicationOf(run, task) ?? [])
  if (found.length === 0 && run.repository !== undefined)
    return [{ ...placeOf(run.repository, run.branch), workflow: run.id }]
  const keys = found.map(({ repository, workflow, branch = '' }) => `${repository} ${workflow} ${branch}`)
  return found.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

/** `undefined`: it has not failed, another try took over, or it works on no branch. */
export function failedPublicationOf(
  run: Pick<Run, 'id'>,
  { status, retried, child_id: child, publication }: FailedTask,
): FailedPublication | undefined {
  if (retried || !/^FAILED|^TIMED_OUT|^CANCELED/.test(status) || publication === undefined) return undefined
  return { ...placeOf(publication.repository, publication.branch), workflow: child ?? run.id }
}

function placeOf(repository: string, branch: string | undefined) {
  return { repository, ...(branch !== undefined && { branch }) }
}
