import type { Schemas } from '../api.ts'

export type Task = Schemas['WorkflowTask']
export type Run = Schemas['WorkflowDetails']

export function isRunOpen({ status }: Pick<Run, 'status'>): boolean {
  return status === 'RUNNING' || status === 'PAUSED'
}

/** Terminated ones as well. */
export function hasRunFailed(run: Pick<Run, 'status'>): boolean {
  return !isRunOpen(run) && run.status !== 'COMPLETED'
}
