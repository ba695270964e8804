/**
 * The life of one attempt, from its input to what the task queue is told. The order never varies:
 *
 *   read input → lay out → pre guardrails → body → post guardrails → compare with the input
 *     → read-only: nothing may have changed; no fence, no write
 *     → writable: attempt fence → stage → attempt fence → publish fence → merge or replace (`publication/`)
 *
 * - ATT-1 Input and parameters are read before anything is laid out.
 * - ATT-2 Nothing is published of an attempt whose signal is aborted, or that its process may not act for any more.
 * - ATT-3 `COMPLETED` is only ever said after the body, the checks and the publication have confirmed it.
 * - ATT-4 Every failure becomes a status in `failure-map.ts`, and nowhere else.
 * - ATT-5 Clean-up comes after the result was decided, and never changes it.
 */

import { errorKindOf, InvalidError, isPeragoError, RefusedError } from '../../base/errors.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { diffWorkspace, type ChangeSet } from '../../workspace/comparing/diff.ts'
import { checkGuardrails } from '../../workspace/comparing/guardrails.ts'
import { describeRefusals } from '../../workspace/refusals.ts'
import type { AttemptOutcome, AttemptRequest, AttemptSurroundings, Life } from './attempt-life.ts'
import {
  openAttemptDirectory,
  rememberStored,
  type AttemptDirectory,
  type LeftDirectory,
} from './attempt-workspace.ts'
import { BodyFailedError } from '../../tasks/author-errors.ts'
import { runBody } from '../bodies/run-body.ts'
import type { AttemptStep, AttemptStepEvent } from '../events.ts'
import { mapFailure } from '../results/failure-map.ts'
import type { TaskRecord, TaskResult } from '../ports.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { beginStagingEarly, publishChanges, warnOfShortLease } from './publish-attempt.ts'
import { describeFailure, openTaskLog } from '../results/task-log.ts'
import {
  readParams,
  readResult,
  type AttemptInfo,
  type TaskDefinition,
  type TaskWorkspaceSpec,
} from '../../tasks/task-definition.ts'
import { readTaskInput, renderTaskOutput, type TaskInput, type WorkspaceRef } from './task-input.ts'

/** Never throws: whatever happens is an outcome. */
export async function runAttempt(
  request: AttemptRequest,
  surroundings: AttemptSurroundings,
): Promise<AttemptOutcome> {
  const { redactor } = surroundings
  const log = openTaskLog(surroundings.logger, redactor)
  const life: Life = {
    ...surroundings,
    ...request,
    log,
    later: [],
    evidence: undefined,
    publication: undefined,
    currentAtMs: undefined,
    beganAtMs: surroundings.clock.monotonicMs(),
  }
  let decided: Pick<AttemptOutcome, 'result' | 'error'>
  try {
    decided = {
      result: { ...identityOf(life), status: 'COMPLETED', output: await live(life) },
      error: undefined,
    }
  } catch (thrown) {
    const { status, reason } = mapFailure(thrown, surroundings)
    for (const line of describeFailure(thrown, redactor)) log.add(line)
    const said = status === 'IN_PROGRESS' ? { callbackAfterSeconds: 0 } : { reasonForIncompletion: reason }
    decided = { result: { ...identityOf(life), status, output: {}, ...said }, error: thrown }
  }
  return {
    ...decided,
    result: { ...decided.result, logs: log.lines() },
    publication: life.publication,
    evidence: life.evidence,
    // A fence that did not pass says nothing in favour of a result.
    currentAtMs: decided.error === undefined ? life.currentAtMs : undefined,
    cleanUp: () => cleanUp(life),
  }
}

/** Which attempt this is, for people. */
export function attemptInfoOf(record: TaskRecord): AttemptInfo {
  return {
    taskId: record.taskId,
    workflowId: record.workflowId,
    taskName: record.taskType,
    referenceName: record.referenceTaskName,
    retryCount: record.retryCount,
    iteration: record.iteration,
  }
}

function identityOf({ record }: Life): Pick<TaskResult, 'taskId' | 'workflowId' | 'workerId'> {
  return { taskId: record.taskId, workflowId: record.workflowId, workerId: record.workerId }
}

async function live(life: Life): Promise<JsonObject> {
  const { task } = life
  const input = await step(life, 'read-input', () => readInput(life))
  const { workspace } = input
  const output =
    task.workspace === undefined || workspace === undefined
      ? { workspace: undefined, result: await runWithoutWorkspace(life, input.params) }
      : await runWithWorkspace(life, { spec: task.workspace, at: workspace, params: input.params })
  const rendered = renderTaskOutput(output)
  // After a publication nothing may be refused any more, so a writable task has checked it before.
  if (task.workspace === undefined || task.workspace.readOnly === true) life.checkOutput?.(rendered)
  return rendered
}

async function readInput({ task, record }: Life): Promise<TaskInput> {
  if (record.externalInputPath !== undefined) {
    throw new InvalidError(
      'worker/external-input',
      `read the task's input: it was too large for the task queue, which put it aside`,
      {
        details: { externalInputPath: record.externalInputPath },
        next: 'Pass a reference instead of the data: publish it in the workspace, or store it elsewhere.',
      },
    )
  }
  const input = readTaskInput(record.input, { workspace: task.workspace !== undefined })
  const params = await readParams(task.params, input.params, task.name)
  // A function reads its parameters itself, where it runs: what a schema makes of them need not be JSON.
  return task.body.kind === 'command' ? { ...input, params: toJson(params, task) } : input
}

async function runWithoutWorkspace(life: Life, params: Json): Promise<Json> {
  const scratch = await claimScratch(life)
  return step(life, 'body', () => runTheBody(life, { params, scratch, workspace: undefined }))
}

/** A program needs a directory to run in and a place for its result; a function without a workspace needs none. */
async function claimScratch(life: Life): Promise<string> {
  if (life.task.body.kind !== 'command') return ''
  const owned = await life.root.claim(life.root.place(life.record), life.record)
  life.later.push(() => owned.remove())
  return owned.scratch
}

interface WorkspaceOrder {
  readonly spec: TaskWorkspaceSpec
  readonly at: WorkspaceRef
  readonly params: Json
}

async function runWithWorkspace(
  life: Life,
  { spec, at, params }: WorkspaceOrder,
): Promise<{ readonly workspace: WorkspaceRef; readonly result: Json }> {
  const { signal } = life
  const isReadOnly = spec.readOnly === true
  if (!isReadOnly) warnOfShortLease(life)
  const { repo, stored } = rememberStored(life.openRepo(at.repository))
  const early = isReadOnly ? undefined : beginStagingEarly(life, at, repo)
  const directory = await step(
    life,
    'lay-out',
    () => openDirectory(life, { spec, at }, repo),
    ({ workspace: { manifest }, origin }) => ({
      files: manifest.count,
      bytes: manifest.totalBytes,
      ...origin,
    }),
  )
  const { workspace } = directory
  const { dir, scratch } = workspace
  await step(life, 'pre-guardrails', () => checkGuardrails(spec.pre ?? [], { dir, phase: 'pre', signal }))
  const { repository, branch, ref } = at
  const result = await step(life, 'body', () =>
    runTheBody(life, { params, scratch, workspace: { dir, repository, branch, ref, isReadOnly } }),
  )
  await step(life, 'post-guardrails', () => checkGuardrails(spec.post ?? [], { dir, phase: 'post', signal }))
  const forHandOver = directory.wantsHandOver
  const compare = (): Promise<ChangeSet> => diffWorkspace(workspace, { signal, forHandOver })
  const changes = await step(life, 'compare', compare, describeChanges)
  if (isReadOnly) {
    assertUnchanged(life, changes)
    leaveDirectory(life, directory, { ref, changes, stored })
    return { workspace: at, result }
  }
  if (changes.leftOut.count > 0)
    life.log.logger.warn(`left out of the publication: ${describeRefusals(changes.leftOut)}`)
  // A commit id is as long as any other: what fits with the input ref fits with the output ref.
  life.checkOutput?.(renderTaskOutput({ workspace: at, result }))
  const publication = await step(life, 'publish', () =>
    publishChanges(life, { at, repo, changes, workspace, early }),
  )
  const { outputRef } = publication
  leaveDirectory(life, directory, { ref: outputRef, changes, stored })
  return { workspace: { ...at, ref: outputRef }, result }
}

async function openDirectory(
  life: Life,
  { spec, at }: Pick<WorkspaceOrder, 'spec' | 'at'>,
  repo: VersionedRepo,
): Promise<AttemptDirectory> {
  const directory = await openAttemptDirectory({ ...life, attempt: life.record, repo, ref: at.ref, spec })
  life.later.push(() => directory.cleanUp())
  return directory
}

/** The attempt is decided by now: whatever becomes of the directory, the result stands, and need not wait for it. */
function leaveDirectory(life: Life, directory: AttemptDirectory, left: LeftDirectory): void {
  if (!directory.wantsHandOver) return
  const leave = directory.announce(left)
  life.later.push(async () => {
    const startMs = life.clock.monotonicMs()
    const isLeft = await leave()
    const durationMs = life.clock.monotonicMs() - startMs
    life.observe?.({ step: 'hand-over', durationMs, outcome: 'done', details: { isLeft } })
  })
}

async function runTheBody(
  life: Life,
  given: Pick<Parameters<typeof runBody>[0], 'params' | 'scratch' | 'workspace'>,
): Promise<Json> {
  const { task, signal } = life
  let result: unknown
  await life.beforeBody
  try {
    result = await runBody({
      ...given,
      task,
      modulePath: life.modulePath,
      attempt: attemptInfoOf(life.record),
      signal,
      shutdown: life.shutdown,
      log: life.log.logger,
      onProgress: (...told) => life.onProgress?.(...told),
    })
  } catch (error) {
    // A body that was told to stop may say so in whatever way; why it was told is what counts.
    if (signal.aborted) throw reasonOf(signal)
    throw isPeragoError(error) ? error : new BodyFailedError(error)
  }
  signal.throwIfAborted()
  const read = task.body.kind === 'command' ? await readResult(task.result, result, task.name) : result
  return toJson(read, task)
}

function assertUnchanged({ task }: Life, { uploads, deletes }: ChangeSet): void {
  const changed = [...uploads.map(({ key }) => key), ...deletes]
  if (changed.length === 0) return
  throw new RefusedError(
    'worker/read-only-changed',
    `finish read-only task "${task.name}": it changed ${changed.length} files, such as ${JSON.stringify(changed[0])}`,
    {
      details: { changed: changed.slice(0, 10), count: changed.length },
      next: 'Write temporary files elsewhere, or declare the workspace without readOnly.',
    },
  )
}

function toJson(value: unknown, task: TaskDefinition): Json {
  try {
    return JSON.parse(JSON.stringify(value ?? null)) as Json
  } catch (error) {
    throw new InvalidError(
      'worker/invalid-result',
      `read the values of task "${task.name}": they are no JSON`,
      {
        cause: error,
        next: 'Use plain JSON values: text, numbers, booleans, lists and objects.',
      },
    )
  }
}

async function step<T>(
  life: Life,
  name: AttemptStep,
  work: () => T | Promise<T>,
  describe?: (value: T) => Readonly<Record<string, unknown>>,
): Promise<T> {
  const { clock, signal } = life
  signal.throwIfAborted()
  const startMs = clock.monotonicMs()
  const tell = (event: Pick<AttemptStepEvent, 'outcome' | 'details' | 'error'>): void =>
    life.observe?.({ step: name, durationMs: clock.monotonicMs() - startMs, ...event })
  try {
    const value = await work()
    tell({ outcome: 'done', details: describe?.(value) ?? {} })
    return value
  } catch (error) {
    const kind = errorKindOf(error)
    tell({
      outcome: kind === 'refused' ? 'refused' : kind === 'uncertain' ? 'lost' : 'failed',
      details: {},
      error,
    })
    throw error
  }
}

function describeChanges(changes: ChangeSet): Readonly<Record<string, unknown>> {
  return {
    uploads: changes.uploads.length,
    uploadBytes: changes.uploadBytes,
    deletes: changes.deletes.length,
    unchanged: changes.unchangedCount,
    hashed: changes.hashedCount,
  }
}

async function cleanUp({ later, logger }: Life): Promise<void> {
  for (let remove = later.pop(); remove !== undefined; remove = later.pop()) {
    try {
      await remove()
    } catch (error) {
      // The result stands; a later sweep of the root, or of the staging branches, tries again.
      logger.warn('could not clean up after an attempt', { error })
    }
  }
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason))
}
