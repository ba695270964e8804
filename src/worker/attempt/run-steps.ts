/**
 * The steps of one run of a task, from its input to its output, with a task queue or without one. The order never varies:
 *
 *   read input → adopt an earlier publication, where the task does → lay out → pre guardrails → body → post guardrails → compare with the input
 *     → read-only: nothing may have changed; no fence, no write
 *     → writable: attempt fence → stage → attempt fence → publish fence → merge or replace (`publication/`)
 *
 * - ATT-1 Input and parameters are read before anything is laid out.
 * - ATT-2 Nothing is published of a run whose signal is aborted, or that its process may no longer act for.
 * - ATT-3 There is an output only after the body, the checks and the publication have confirmed it.
 * - ATT-4 Clean-up comes after the outcome was decided, and never changes it.
 */

import { followSignals } from '../../base/abort-signals.ts'
import { abortReason } from '../../base/clock.ts'
import { InvalidError, isPeragoError, RefusedError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { createStepRecorder } from '../../base/steps.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { BodyFailedError } from '../../tasks/author-errors.ts'
import { readWith, type TaskDefinition, type TaskWorkspaceSpec } from '../../tasks/task-definition.ts'
import { diffWorkspace, type ChangeSet } from '../../workspace/comparing/diff.ts'
import { checkGuardrails } from '../../workspace/comparing/guardrails.ts'
import { describeRefusals } from '../../workspace/refusals.ts'
import { runBody } from '../bodies/run-body.ts'
import { describeFailure, openTaskLog } from '../results/task-log.ts'
import { adoptEarlier } from './adopt-earlier.ts'
import type { AttemptState, RunOutcome, RunRequest, RunSurroundings } from './attempt-state.ts'
import { openAttemptDirectory, type AttemptDirectory, type LeftDirectory } from './attempt-workspace.ts'
import { publishChanges, warnOfShortLease } from './publish-changes.ts'
import { readTaskInput, renderTaskOutput, type TaskInput, type WorkspaceRef } from './task-input.ts'

/** Never throws: every failure is an outcome. */
export async function runSteps(request: RunRequest, surroundings: RunSurroundings): Promise<RunOutcome> {
  const { clock, logger, redactor } = surroundings
  const { signal, observe } = request
  const state: AttemptState = {
    ...surroundings,
    ...request,
    log: openTaskLog(logger, redactor),
    steps: createStepRecorder({ clock, observer: observe, signal }),
    later: [],
    evidence: undefined,
    publication: undefined,
    planned: undefined,
  }
  const outcomeOf = (decided: Pick<RunOutcome, 'output' | 'error'>): RunOutcome => ({
    ...decided,
    logs: state.log.lines(),
    publication: state.publication,
    evidence: state.evidence,
    planned: state.planned,
    cleanUp: () => cleanUp(state),
  })
  try {
    return outcomeOf({ output: await produceOutput(state), error: undefined })
  } catch (error) {
    for (const line of describeFailure(error, redactor)) state.log.add(line)
    return outcomeOf({ output: undefined, error })
  }
}

async function produceOutput(state: AttemptState): Promise<JsonObject> {
  const { task, steps } = state
  const { workspace, params } = await steps.run('read-input', () => readInput(state))
  const output =
    task.workspace === undefined || workspace === undefined
      ? { workspace: undefined, result: await runWithoutWorkspace(state, params) }
      : await runWithWorkspace(state, { spec: task.workspace, at: workspace, params })
  const rendered = renderTaskOutput(output)
  // After a publication nothing may be refused any more, so a writable task has checked it before.
  if (task.workspace === undefined || task.workspace.readOnly === true) state.checkOutput?.(rendered)
  return rendered
}

async function readInput({ task, readInput: read }: AttemptState): Promise<TaskInput> {
  const input = readTaskInput(read(), { workspace: task.workspace !== undefined })
  const params = await readWith(task.params, input.params, { task: task.name, side: 'params' })
  // A function reads its parameters itself, where it runs: what a schema makes of them need not be JSON.
  return task.body.kind === 'command' ? { ...input, params: toJson(params, task) } : input
}

async function runWithoutWorkspace(state: AttemptState, params: Json): Promise<Json> {
  const scratch = await claimScratch(state)
  return state.steps.run('body', () => runTheBody(state, { params, scratch, workspace: undefined }))
}

/** A program needs a directory to run in and a place for its result; a function without a workspace needs none. */
async function claimScratch({ task, root, owner, later }: AttemptState): Promise<string> {
  if (task.body.kind !== 'command') return ''
  const owned = await root.claim(root.place(owner), owner)
  later.push(() => owned.remove())
  return owned.scratch
}

interface WorkspaceRun {
  readonly spec: TaskWorkspaceSpec
  readonly at: WorkspaceRef
  readonly params: Json
}

async function runWithWorkspace(
  state: AttemptState,
  { spec, at, params }: WorkspaceRun,
): Promise<{ readonly workspace: WorkspaceRef; readonly result: Json }> {
  const { signal, steps } = state
  const isReadOnly = spec.readOnly === true
  if (!isReadOnly) warnOfShortLease(state)
  const repo = state.openRepo(at.repository)
  const adopted = isReadOnly ? undefined : await adoptEarlier(state, { at, repo })
  if (adopted !== undefined) return { workspace: { ...at, ref: adopted.outputRef }, result: adopted.result }
  const directory = await steps.run(
    'lay-out',
    () => openDirectory(state, { spec, at }, repo),
    ({ workspace: { manifest }, origin }) => ({
      files: manifest.count,
      bytes: manifest.totalBytes,
      ...origin,
    }),
  )
  const { workspace } = directory
  const { dir, scratch } = workspace
  await steps.run('pre-guardrails', () => checkGuardrails(spec.pre ?? [], { dir, phase: 'pre', signal }))
  const { repository, branch, ref } = at
  const result = await steps.run('body', () =>
    runTheBody(state, { params, scratch, workspace: { dir, repository, branch, ref, isReadOnly } }),
  )
  await steps.run('post-guardrails', () => checkGuardrails(spec.post ?? [], { dir, phase: 'post', signal }))
  const forHandOver = directory.wantsHandOver
  const compare = (): Promise<ChangeSet> => diffWorkspace(workspace, { signal, forHandOver })
  const changes = await steps.run('compare', compare, describeChanges)
  if (isReadOnly) {
    assertUnchanged(state, changes)
    leaveDirectory(state, directory, { ref, changes, stored: new Map() })
    return { workspace: at, result }
  }
  if (changes.leftOut.count > 0)
    state.log.logger.warn(`left out of the publication: ${describeRefusals(changes.leftOut)}`)
  // A commit id is as long as any other: what fits with the input ref fits with the output ref.
  state.checkOutput?.(renderTaskOutput({ workspace: at, result }))
  if (state.isDryRun === true) {
    state.planned = changes
    return { workspace: at, result }
  }
  const beforeUpload = directory.lookBeforeUpload(changes)
  const { outputRef, stored } = await steps.run('publish', () =>
    publishChanges(state, { at, repo, changes, result, workspace, beforeUpload }),
  )
  leaveDirectory(state, directory, { ref: outputRef, changes, stored })
  return { workspace: { ...at, ref: outputRef }, result }
}

async function openDirectory(
  state: AttemptState,
  { spec, at }: Pick<WorkspaceRun, 'spec' | 'at'>,
  repo: VersionedRepo,
): Promise<AttemptDirectory> {
  const opening = followSignals(state.signal, state.whileLayingOut)
  try {
    const directory = await openAttemptDirectory({
      ...{ ...state, attempt: state.owner, repo, ref: at.ref, spec },
      opening: opening.signal,
    })
    state.later.push(() => directory.cleanUp())
    return directory
  } catch (error) {
    // Whatever an abort made of the requests, its reason says why.
    throw opening.signal.aborted ? abortReason(opening.signal) : error
  } finally {
    opening.release()
  }
}

/** The outcome is decided by now: whatever becomes of the directory, the result stands, and need not wait for it. */
function leaveDirectory(
  { later, steps }: AttemptState,
  directory: AttemptDirectory,
  left: LeftDirectory,
): void {
  if (!directory.wantsHandOver) return
  const leave = directory.announce(left)
  later.push(() => steps.runAlways('hand-over', leave, (isLeft) => ({ isLeft })))
}

async function runTheBody(
  state: AttemptState,
  given: Pick<Parameters<typeof runBody>[0], 'params' | 'scratch' | 'workspace'>,
): Promise<Json> {
  const { task, signal, modulePath, shutdown } = state
  let result: unknown
  await state.beforeBody
  try {
    result = await runBody({
      ...{ ...given, task, modulePath, signal, shutdown },
      attempt: state.info,
      log: state.log.logger,
      onProgress: (...told) => state.onProgress?.(...told),
    })
  } catch (error) {
    // A body that was told to stop may fail in any way; why it was told to is what counts.
    if (signal.aborted) throw abortReason(signal)
    throw isPeragoError(error) ? error : new BodyFailedError(error)
  }
  signal.throwIfAborted()
  if (task.body.kind === 'command')
    result = await readWith(task.result, result, { task: task.name, side: 'result' })
  return toJson(result, task)
}

function assertUnchanged({ task }: AttemptState, { uploads, deletes }: ChangeSet): void {
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
      `read the values of task "${task.name}": they cannot be written as JSON`,
      { cause: error, next: 'Use plain JSON values: strings, numbers, booleans, arrays and objects.' },
    )
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

async function cleanUp({ later, logger }: AttemptState): Promise<void> {
  for (let remove = later.pop(); remove !== undefined; remove = later.pop()) {
    try {
      await remove()
    } catch (error) {
      // The result stands; a later sweep of the root, or of the staging branches, tries again.
      logger.warn('could not clean up after an attempt', { error })
    }
  }
}
