/**
 * One unit on one executor, by the rules of every attempt: under a lease, posted after the task was read, and read back. The executor
 * only answers; what its answer means is decided here.
 */

import { aborted, followSignals, isAborted } from '../../base/abort-signals.ts'
import { abortReason, type Clock } from '../../base/clock.ts'
import { InvalidError, isPeragoError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { Logger } from '../../base/logger.ts'
import type { Redactor } from '../../base/redaction.ts'
import { BodyFailedError } from '../../tasks/author-errors.ts'
import { attemptInfoOf, inputOf } from '../attempt/run-attempt.ts'
import { withholdSecrets } from '../attempt/withhold-secrets.ts'
import type { LeaseKeeper } from '../leases/lease.ts'
import { EXECUTOR_ABORT_GRACE_MS, EXECUTOR_LEASE_SECONDS } from '../limits.ts'
import { requirePayloadFits } from '../payload-limits.ts'
import type { TaskRecord, TaskResult } from '../ports.ts'
import { mapFailure } from '../results/failure-map.ts'
import { finishAttempt, type DeliverySurroundings } from '../results/finish-attempt.ts'
import { openTaskLog, type TaskLog } from '../results/task-log.ts'
import type { Executor } from './executor-port.ts'

export interface UnitRunParts extends DeliverySurroundings {
  readonly leases: LeaseKeeper
  readonly redactor: Redactor
}

export interface UnitRun {
  readonly record: TaskRecord
  readonly executor: Executor
  /** Aborted when the executor is gone or has to stop; the reason decides what becomes of the unit. */
  readonly stop: AbortSignal
}

export interface UnitEnd {
  readonly is: 'completed' | 'failed' | 'givenBack' | 'superseded'
  /** It waits in the outbox. */
  readonly isKept: boolean
  readonly error: unknown
}

type Answer =
  | { readonly output: JsonObject; readonly error?: undefined }
  | { readonly output?: undefined; readonly error: unknown }

/** Never throws. */
export async function runUnit(run: UnitRun, parts: UnitRunParts): Promise<UnitEnd> {
  const { record, stop } = run
  const { leases, redactor, logger } = parts
  const lease = leases.hold({
    attempt: record,
    responseTimeoutSeconds: record.responseTimeoutSeconds || EXECUTOR_LEASE_SECONDS,
    // It publishes nothing that a pause should prevent.
    policy: { whilePaused: 'go-on' },
  })
  const followed = followSignals(lease.lost, stop)
  const log = openTaskLog(logger, redactor)
  const answer = await ask(run, { ...parts, log, signal: followed.signal })
  followed.release()
  const result = resultOf(record, answer, { log, redactor })
  const outcome = { result, error: answer.error, publication: undefined, evidence: undefined }
  const delivery = await finishAttempt(
    { attempt: record, outcome: { ...outcome, cleanUp: () => Promise.resolve() }, lease },
    parts,
  )
  const is = delivery === 'superseded' ? 'superseded' : END_OF_STATUS[result.status]
  return { is, isKept: delivery === 'kept', error: answer.error }
}

/** For a unit that was claimed and not begun. `true`: the result waits in the outbox. */
export async function giveBack(record: TaskRecord, parts: DeliverySurroundings): Promise<boolean> {
  const { taskId, workflowId, workerId } = record
  const result = { taskId, workflowId, workerId, status: 'IN_PROGRESS', output: {} } as const
  const outcome = {
    ...{ error: undefined, publication: undefined, evidence: undefined },
    result: { ...result, callbackAfterSeconds: 0 },
    cleanUp: () => Promise.resolve(),
  }
  return (await finishAttempt({ attempt: record, outcome, lease: undefined }, parts)) === 'kept'
}

const END_OF_STATUS = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  FAILED_WITH_TERMINAL_ERROR: 'failed',
  IN_PROGRESS: 'givenBack',
} as const satisfies Readonly<Record<TaskResult['status'], UnitEnd['is']>>

interface AskParts {
  readonly log: TaskLog
  readonly redactor: Redactor
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly logger: Logger
}

async function ask({ record, executor }: UnitRun, parts: AskParts): Promise<Answer> {
  const { log, signal, redactor } = parts
  try {
    // The executor may have gone down since the unit was claimed for it.
    if (isAborted(signal)) throw abortReason(signal)
    const unit = { type: record.taskType, input: inputOf(record), attempt: attemptInfoOf(record) }
    const call = { signal, log: (line: string) => log.add(line) }
    // A call that throws is an answer like one that rejects.
    const running = Promise.resolve().then(() => executor.run(unit, call))
    const output = readOutput(await unlessHung(running, parts), executor)
    const warn = (message: string): void => log.logger.warn(message)
    return { output: withholdSecrets(output, { redactor, of: `executor "${executor.name}"`, warn }) }
  } catch (error) {
    // Whatever an executor says when it was told to stop, why it was told is the reason.
    if (isAborted(signal)) return { error: abortReason(signal) }
    return { error: isPeragoError(error) ? error : new BodyFailedError(error) }
  }
}

/** An answer that comes within the time to stop is taken: whether it counts is decided when it is posted. */
async function unlessHung(running: Promise<JsonObject>, parts: AskParts): Promise<JsonObject> {
  const { signal, clock, logger } = parts
  const over = new AbortController()
  const hung = aborted(signal).then(async (): Promise<never> => {
    await clock.sleep(EXECUTOR_ABORT_GRACE_MS, over.signal)
    logger.warn('an executor did not end a unit that was aborted; its answer will not count')
    throw abortReason(signal)
  })
  hung.catch(() => undefined)
  try {
    return await Promise.race([running, hung])
  } finally {
    over.abort()
  }
}

function readOutput(output: unknown, { name }: Executor): JsonObject {
  const read = toJson(output, name)
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw invalidOutput(name, undefined)
  const object = read as JsonObject
  requirePayloadFits('task output', object)
  return object
}

function toJson(value: unknown, name: string): Json {
  try {
    return JSON.parse(JSON.stringify(value ?? null)) as Json
  } catch (error) {
    throw invalidOutput(name, error)
  }
}

function invalidOutput(name: string, cause: unknown): InvalidError {
  return new InvalidError(
    'worker/invalid-result',
    `read the answer of executor "${name}": it must be an object that can be written as JSON`,
    { cause, next: 'Let `run` resolve with a plain object.' },
  )
}

function resultOf(
  { taskId, workflowId, workerId }: TaskRecord,
  { output, error }: Answer,
  { log, redactor }: { readonly log: TaskLog; readonly redactor: Redactor },
): TaskResult {
  const attempt = { taskId, workflowId, workerId }
  if (output !== undefined) return { ...attempt, status: 'COMPLETED', output, logs: log.lines() }
  const { status, reason } = mapFailure(error, { redactor })
  const told = status === 'IN_PROGRESS' ? { callbackAfterSeconds: 0 } : { reasonForIncompletion: reason }
  return { ...attempt, status, output: {}, logs: log.lines(), ...told }
}
