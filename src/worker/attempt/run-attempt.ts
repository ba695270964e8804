/**
 * One attempt as the task queue handed it out: its record gives the run its input and its authority, and the outcome of
 * the run becomes what the task queue is told. Every failure becomes a status in `failure-map.ts`, and nowhere else.
 */

import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { snapshotOf, type AttemptSnapshot, type FreshAttempt } from '../../fences/attempt-snapshot.ts'
import type { AttemptAuthority } from '../../publication/authority.ts'
import { PUBLICATION_CLEANUP_MS } from '../../publication/limits.ts'
import type { AttemptInfo } from '../../tasks/task-definition.ts'
import type { QueueCallOptions, TaskRecord, TaskResult } from '../ports.ts'
import { OUTAGE_HAND_BACK_SECONDS } from '../limits.ts'
import { blameOutage, type BlameOptions } from '../outages/blame.ts'
import { OutageError } from '../outages/outage.ts'
import { mapFailure, type FailureOptions } from '../results/failure-map.ts'
import type { RunOptions, RunOutcome, RunSurroundings } from './attempt-state.ts'
import { removeFormerStaging } from './remove-former-staging.ts'
import { runSteps } from './run-steps.ts'

/** What all attempts of a worker share. */
export interface AttemptSurroundings extends RunSurroundings, FailureOptions, BlameOptions {
  /** The task and its workflow as they are now; throws when they cannot be read. */
  readonly readFresh: (attempt: AttemptSnapshot, options: QueueCallOptions) => Promise<FreshAttempt>
  /** Of the task code; informative. */
  readonly codeVersion?: string
  /** Asked right before every attempt fence; throws when this process may no longer act. */
  readonly assertMayAct?: () => void
}

export interface AttemptRequest extends RunOptions {
  /** The task as it was claimed. */
  readonly record: TaskRecord
  /** When the poll was sent that claimed it, on the clock's monotonic scale: its answer is a reading of the task. */
  readonly sinceMs?: number | undefined
  /** Unique for each execution of an attempt. */
  readonly executionId: string
}

export interface AttemptOutcome extends Pick<
  RunOutcome,
  'publication' | 'changed' | 'evidence' | 'error' | 'cleanUp'
> {
  readonly result: TaskResult
  /** Of a success: when the last reading began that showed this claim, on the clock's monotonic scale. */
  readonly currentAtMs?: number | undefined
}

/** Never throws: every failure is an outcome. */
export async function runAttempt(
  request: AttemptRequest,
  surroundings: AttemptSurroundings,
): Promise<AttemptOutcome> {
  const { record } = request
  const { taskId, workflowId, workerId, responseTimeoutSeconds } = record
  const { clock, readFresh, assertMayAct } = surroundings
  const sinceMs = clock.monotonicMs()
  let currentAtMs = request.sinceMs
  const readCurrent: AttemptAuthority['readFresh'] = async (options) => {
    assertMayAct?.()
    const askedAtMs = clock.monotonicMs()
    const fresh = await readFresh(record, options)
    currentAtMs = askedAtMs
    return fresh
  }
  const readLater = (attempt: AttemptSnapshot): Promise<FreshAttempt> =>
    readFresh(attempt, { signal: AbortSignal.timeout(PUBLICATION_CLEANUP_MS) })
  const { output, logs, ...outcome } = await runSteps(
    {
      ...request,
      info: attemptInfoOf(record),
      owner: record,
      authority: { ...authorityOf(request, surroundings), readFresh: readCurrent },
      readInput: () => inputOf(record),
      responseTimeoutSeconds,
      cleanUpPublished: (repo) => removeFormerStaging({ repo, record, readFresh: readLater }),
    },
    surroundings,
  )
  const result = { taskId, workflowId, workerId, logs }
  // A fence that did not pass says nothing in favour of a result.
  if (output !== undefined)
    return { ...outcome, result: { ...result, status: 'COMPLETED', output }, currentAtMs }
  const error = await findFault(outcome.error, { record, sinceMs, ...surroundings })
  const { status, reason } = mapFailure(error, surroundings)
  // Others that would meet the same outage need not have it at once.
  const callbackAfterSeconds = error instanceof OutageError ? OUTAGE_HAND_BACK_SECONDS : 0
  const told = status === 'IN_PROGRESS' ? { callbackAfterSeconds } : { reasonForIncompletion: reason }
  return { ...outcome, error, result: { ...result, status, output: {}, ...told } }
}

/** The outage that is behind a failure, where it would use up a retry. Asked before the directory is removed, which may end it. */
function findFault(error: unknown, of: Parameters<typeof blameOutage>[1] & FailureOptions): Promise<unknown> {
  const isOfTask = mapFailure(error, of).status !== 'FAILED' && !(error instanceof OutageError)
  return isOfTask ? Promise.resolve(error) : blameOutage(error, of)
}

/** Which attempt this is, for people. */
export function attemptInfoOf(record: TaskRecord): AttemptInfo {
  const { taskId, workflowId, taskType, referenceTaskName, retryCount, iteration } = record
  return { taskId, workflowId, taskName: taskType, referenceName: referenceTaskName, retryCount, iteration }
}

function authorityOf(
  { record, task, executionId }: AttemptRequest,
  { codeVersion }: AttemptSurroundings,
): Omit<AttemptAuthority, 'readFresh'> {
  const { referenceTaskName, seq, iteration } = record
  const { whilePaused, replace } = task.controls
  return {
    kind: 'attempt',
    attempt: snapshotOf(record),
    policy: { whilePaused },
    ...{ replace, referenceTaskName, seq, iteration, executionId, codeVersion },
    ...{ taskName: record.taskType, workflowName: record.workflowType },
  }
}

/** Throws where the queue holds it elsewhere. */
export function inputOf({
  input,
  externalInputPath,
}: Pick<TaskRecord, 'input' | 'externalInputPath'>): JsonObject {
  if (externalInputPath === undefined) return input
  throw new InvalidError(
    'worker/external-input',
    `read the task's input: it was too large for the task queue, which stored it elsewhere`,
    {
      details: { externalInputPath },
      next: 'Pass a reference instead of the data: publish it in the workspace, or store it elsewhere.',
    },
  )
}
