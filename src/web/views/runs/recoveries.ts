/** Which publications a person may have to decide about. Pure. */

import { isRunOpen, type Run, type Task } from './run-graph.ts'

export interface FailedPublication {
  readonly repository: string
  /** Whose task it was: of the run, or of one that it has run. */
  readonly workflow: string
}

type FailedRun = Pick<Run, 'id' | 'status' | 'repository'> & { readonly tasks: readonly FailedTask[] }
type FailedTask = Pick<Task, 'status' | 'retried' | 'child_id'> & {
  readonly publication?: Pick<NonNullable<Task['publication']>, 'repository'> | undefined
}

/** Those of what failed; where no task did, what the input of the run names. Each repository of a workflow once. */
export function failedPublicationsOf(run: FailedRun): readonly FailedPublication[] {
  if (isRunOpen(run) || run.status === 'COMPLETED') return []
  const found = run.tasks.flatMap((task) => failedPublicationOf(run, task) ?? [])
  if (found.length === 0 && run.repository !== undefined)
    return [{ repository: run.repository, workflow: run.id }]
  const keys = found.map(({ repository, workflow }) => `${repository} ${workflow}`)
  return found.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

/** `undefined`: it has not failed, another try took over, or it works on no branch. */
export function failedPublicationOf(
  run: Pick<Run, 'id'>,
  { status, retried, child_id: child, publication }: FailedTask,
): FailedPublication | undefined {
  if (retried || !/^FAILED|^TIMED_OUT|^CANCELED/.test(status) || publication === undefined) return undefined
  return { repository: publication.repository, workflow: child ?? run.id }
}
