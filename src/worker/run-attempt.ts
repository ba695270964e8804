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

import type { AdaptiveLimit } from '../base/adaptive-limit.ts'
import type { Clock } from '../base/clock.ts'
import { errorKindOf, InvalidError, isPeragoError, RefusedError } from '../base/errors.ts'
import type { RepositoryName } from '../base/ids.ts'
import { PUBLICATION_CLEANUP_MS } from '../base/limits.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import type { Redactor } from '../base/redaction.ts'
import type { AttemptSnapshot, FreshAttempt } from '../fences/attempt-snapshot.ts'
import type { EvidenceRecord } from '../publication/evidence-record.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import type { PublicationResult } from '../publication/publication.ts'
import { publish } from '../publication/publish.ts'
import { planChanges } from '../publication/repository-source.ts'
import { diffWorkspace, type ChangeSet } from '../workspace/diff.ts'
import { checkGuardrails } from '../workspace/guardrails.ts'
import type { AttemptWorkspace } from '../workspace/lay-out.ts'
import type { WorkspaceRoot } from '../workspace/ownership.ts'
import { describeRefusals } from '../workspace/refusals.ts'
import {
  openAttemptDirectory,
  rememberStored,
  type AttemptDirectory,
  type KeptForLater,
} from './attempt-workspace.ts'
import { BodyFailedError } from './author-errors.ts'
import { runBody } from './bodies/run-body.ts'
import type { AttemptStep, AttemptStepEvent } from './events.ts'
import { mapFailure, type FailureOptions } from './failure-map.ts'
import type { Json, JsonObject, QueueCallOptions, TaskRecord, TaskResult } from './ports.ts'
import { removeFormerStaging } from './remove-former-staging.ts'
import { describeFailure, openTaskLog, type TaskLog } from './task-log.ts'
import { judgeBudget } from './task-controls.ts'
import {
  readParams,
  readResult,
  type AttemptInfo,
  type TaskDefinition,
  type TaskWorkspaceSpec,
} from './task-definition.ts'
import { readTaskInput, renderTaskOutput, type TaskInput, type WorkspaceRef } from './task-input.ts'

/** What all attempts of a worker share. */
export interface AttemptSurroundings extends KeptForLater {
  readonly root: WorkspaceRoot
  readonly openRepo: (repository: RepositoryName) => VersionedRepo
  /** The task and its workflow as they are now; throws when that cannot be known. */
  readonly readFresh: (attempt: AttemptSnapshot, options: QueueCallOptions) => Promise<FreshAttempt>
  readonly clock: Clock
  readonly logger: Logger
  readonly redactor: Redactor
  readonly random?: Random
  /** Throws when the task queue would not take this as a task's output. */
  readonly checkOutput?: (output: JsonObject) => void
  /** What a refused publication becomes; terminal unless set. */
  readonly publishRefused?: FailureOptions['publishRefused']
  /** Of the task code; informative. */
  readonly codeVersion?: string
  /** Shared by all publications of the worker. */
  readonly uploadLimit?: AdaptiveLimit
  /** Asked right before every attempt fence; throws when this process may not act any more. */
  readonly assertMayAct?: () => void
}

export interface AttemptRequest {
  readonly task: TaskDefinition
  /** Of the module that declares the task; needed by bodies outside this thread. */
  readonly modulePath?: string | undefined
  /** The task as it was handed out. */
  readonly record: TaskRecord
  /** Unique for each execution of an attempt. */
  readonly executionId: string
  /** Aborted when the attempt is lost or has to end; its reason is an error that says why. */
  readonly signal: AbortSignal
  /** Aborted when the worker is asked to stop. */
  readonly shutdown: AbortSignal
  readonly observe?: (event: AttemptStepEvent) => void
  readonly onProgress?: (done: number, total?: number, what?: string) => void
}

export interface AttemptOutcome {
  readonly result: TaskResult
  readonly publication: PublicationResult | undefined
  /** What was kept of a refused publication. */
  readonly evidence: EvidenceRecord | undefined
  /** Why the attempt failed, or undefined. */
  readonly error: unknown
  /** Removes the directory and the staging branch. Never throws. */
  readonly cleanUp: () => Promise<void>
}

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

interface Life extends AttemptSurroundings, AttemptRequest {
  readonly log: TaskLog
  /** What is left to be cleaned up, last in first out. */
  readonly later: (() => Promise<void>)[]
  evidence: EvidenceRecord | undefined
  publication: PublicationResult | undefined
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
    await leaveDirectory(life, directory, { ref, changes, stored })
    return { workspace: at, result }
  }
  if (changes.leftOut.count > 0)
    life.log.logger.warn(`left out of the publication: ${describeRefusals(changes.leftOut)}`)
  // A commit id is as long as any other: what fits with the input ref fits with the output ref.
  life.checkOutput?.(renderTaskOutput({ workspace: at, result }))
  const publication = await step(life, 'publish', () =>
    publishChanges(life, { spec, at, repo, changes, workspace }),
  )
  const { outputRef } = publication
  await leaveDirectory(life, directory, { ref: outputRef, changes, stored })
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

/** The attempt is decided by now: whatever becomes of the directory, the result stands. */
async function leaveDirectory(
  life: Life,
  directory: AttemptDirectory,
  left: Parameters<AttemptDirectory['leave']>[0],
): Promise<void> {
  if (!directory.wantsHandOver) return
  const startMs = life.clock.monotonicMs()
  const isLeft = await directory.leave(left)
  const durationMs = life.clock.monotonicMs() - startMs
  life.observe?.({ step: 'hand-over', durationMs, outcome: 'done', details: { isLeft } })
}

async function runTheBody(
  life: Life,
  given: Pick<Parameters<typeof runBody>[0], 'params' | 'scratch' | 'workspace'>,
): Promise<Json> {
  const { task, signal } = life
  let result: unknown
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

async function publishChanges(
  life: Life,
  given: {
    readonly spec: TaskWorkspaceSpec
    readonly at: WorkspaceRef
    readonly repo: VersionedRepo
    readonly changes: ChangeSet
    readonly workspace: AttemptWorkspace
  },
): Promise<PublicationResult> {
  const { record, task, clock, signal, log } = life
  const { at, repo, changes, workspace } = given
  const { referenceTaskName, seq, iteration } = record
  const startMs = clock.monotonicMs()
  const publication = await publish({
    repo,
    target: { branch: at.branch, inputRef: at.ref, prefix: workspace.view.prefix },
    changes: planChanges(changes),
    guard: {
      attempt: record,
      readFresh: (options) => {
        life.assertMayAct?.()
        return life.readFresh(record, options)
      },
      policy: { whilePaused: task.controls.whilePaused },
    },
    task: { referenceTaskName, seq, iteration, executionId: life.executionId, codeVersion: life.codeVersion },
    replace: task.controls.replace,
    ...(life.uploadLimit === undefined ? {} : { uploadLimit: life.uploadLimit }),
    ...(life.random === undefined ? {} : { random: life.random }),
    observer: (event) => life.observe?.({ ...event, step: `publish/${event.step}` }),
    keepRecord: (kept) => {
      life.evidence = kept
      log.add(`kept: staging branch "${kept.stagingBranch}" at ${kept.stagedRef ?? '(nothing staged)'}`)
      return Promise.resolve()
    },
    cleanUpLater: (remove) => life.later.push(remove),
    clock,
    signal,
  })
  life.publication = publication
  life.later.push(async () => {
    const readFresh = (attempt: AttemptSnapshot): Promise<FreshAttempt> =>
      life.readFresh(attempt, { signal: AbortSignal.timeout(PUBLICATION_CLEANUP_MS) })
    await removeFormerStaging({ repo, record, readFresh })
  })
  tellPublication(life, publication, clock.monotonicMs() - startMs)
  return publication
}

/** The start has held the budget against the definition that is registered; a workflow keeps the one it began with. */
function warnOfShortLease({ record, task, log }: Life): void {
  if (record.responseTimeoutSeconds <= 0) return
  for (const problem of judgeBudget(task.controls.publishBudget, record.responseTimeoutSeconds))
    log.logger.warn(`the lease of this attempt may end while it is published: publishBudget: ${problem}`)
}

/** A replaced commit is never silently gone: the task's log names it, and the tag that keeps it. */
function tellPublication({ log, task }: Life, publication: PublicationResult, durationMs: number): void {
  const { action, outputRef, strength } = publication
  log.add(`published: ${action} at ${outputRef}, ${strength} fence`)
  if (publication.action === 'replaced' || publication.action === 'relocated') {
    const { supersededRef, evidenceTag } = publication
    log.logger.warn(`superseded ${supersededRef}, which stays reachable as tag "${evidenceTag}"`)
  }
  const { publishSeconds } = task.controls.publishBudget
  if (durationMs > publishSeconds * 1_000) {
    log.logger.warn(
      `the publication took ${Math.round(durationMs / 1_000)} s, more than its budget of ${publishSeconds} s`,
    )
  }
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
