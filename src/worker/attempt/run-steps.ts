/**
 * The steps of one run of a task, from its input to its output, with a task queue or without one. The order never varies:
 *
 *   read input → adopt an earlier publication, where the task does → lay out, and beside it look at the branch → pre guardrails
 *     → body → post guardrails → compare with the input
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
import { isPeragoError, RefusedError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { createStepRecorder } from '../../base/steps.ts'
import { BodyFailedError } from '../../tasks/author-errors.ts'
import { readWith, type TaskWorkspaceSpec } from '../../tasks/task-definition.ts'
import { diffWorkspace, type ChangeSet } from '../../workspace/comparing/diff.ts'
import { checkGuardrails } from '../../workspace/comparing/guardrails.ts'
import { describeRefusals } from '../../workspace/refusals.ts'
import { runBody } from '../bodies/run-body.ts'
import { sendTaskLog } from '../results/send-task-log.ts'
import { tellSteps } from '../results/steps-line.ts'
import { describeFailure, openTaskLog } from '../results/task-log.ts'
import { adoptEarlier } from './adopt-earlier.ts'
import type { AttemptState, RunOutcome, RunRequest, RunSurroundings } from './attempt-state.ts'
import { authoredCommit } from './authored-commit.ts'
import type { AttemptDirectory, LeftDirectory } from './attempt-workspace.ts'
import { collectSteps } from './collect-steps.ts'
import { prepareWorkspace } from './prepare-workspace.ts'
import { publishChanges, warnOfShortLease } from './publish-changes.ts'
import { readInput } from './read-input.ts'
import { renderTaskOutput, type WorkspaceRef } from './task-input.ts'
import { toJson } from './to-json.ts'
import { withholdFrom } from './withhold-secrets.ts'

/** Never throws: every failure is an outcome. */
export async function runSteps(request: RunRequest, surroundings: RunSurroundings): Promise<RunOutcome> {
  const { clock, logger, redactor } = surroundings
  const { sendLog: send, onProgress } = request
  const followed = followSignals(request.signal)
  const { signal } = followed
  let isDecided = false
  const log = openTaskLog(logger, redactor)
  const sender = sendTaskLog({ log, send, clock, logger })
  const { observe, told: toldSteps } = collectSteps({ clock, observer: request.observe })
  const state: AttemptState = {
    ...surroundings,
    ...{ ...request, observe },
    signal,
    onStray: (error) => {
      if (isDecided) logger.warn('a body that had ended left an error that nobody caught', { error })
      else followed.abort(error)
    },
    onProgress: (...told) => {
      if (isDecided) return
      sender.note(told)
      onProgress?.(...told)
    },
    log,
    steps: createStepRecorder({ clock, observer: observe, signal }),
    later: [],
    seen: undefined,
    changed: undefined,
    evidence: undefined,
    publication: undefined,
    planned: undefined,
  }
  const outcomeOf = (decided: Pick<RunOutcome, 'output' | 'error'>): RunOutcome => ({
    ...decided,
    logs: state.log.lines(),
    publication: state.publication,
    evidence: state.evidence,
    changed: state.changed,
    planned: state.planned,
    cleanUp: () => cleanUp(state),
  })
  // For whoever looks at the task at its queue, with what the log has to tell there anyway.
  const logSteps = (): void => {
    const steps = toldSteps()
    if (state.authority.kind === 'attempt' && steps.length > 0) log.add(tellSteps(steps))
  }
  try {
    const output = await produceOutput(state)
    sender.end('succeeded')
    if (state.publication !== undefined) logSteps()
    return outcomeOf({ output, error: undefined })
  } catch (error) {
    sender.end('failed')
    for (const line of describeFailure(error, redactor)) log.add(line)
    logSteps()
    return outcomeOf({ output: undefined, error })
  } finally {
    isDecided = true
    followed.release()
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
  const directory = await prepareWorkspace(state, { spec, at, repo })
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
  state.changed = { written: changes.uploads.length, deleted: changes.deletes.length }
  if (isReadOnly) {
    assertUnchanged(state, changes)
    leaveDirectory(state, directory, { ref, changes, stored: new Map() })
    return { workspace: at, result }
  }
  if (changes.leftOut.count > 0)
    state.log.logger.warn(`left out of the publication: ${describeRefusals(changes.leftOut)}`)
  // A commit id is as long as any other: what fits with the input ref fits with the output ref.
  state.checkOutput?.(renderTaskOutput({ workspace: at, result }))
  const commit = await authoredCommit(state, { params, result })
  if (state.isDryRun === true) {
    state.planned = changes
    return { workspace: at, result }
  }
  // Right after the comparison: who wrote since then and ended before the look would not be seen.
  const beforeUpload = directory.lookBeforeUpload(changes)
  const { outputRef, stored } = await steps.run('publish', () =>
    publishChanges(state, { at, repo, changes, result, commit, workspace, beforeUpload }),
  )
  leaveDirectory(state, directory, { ref: outputRef, changes, stored })
  return { workspace: { ...at, ref: outputRef }, result }
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
      onStray: state.onStray,
    })
  } catch (error) {
    // A body that was told to stop may fail in any way; why it was told to is what counts.
    if (signal.aborted) throw abortReason(signal)
    throw isPeragoError(error) ? error : new BodyFailedError(error)
  }
  signal.throwIfAborted()
  if (task.body.kind === 'command')
    result = await readWith(task.result, result, { task: task.name, side: 'result' })
  return withholdFrom(state, toJson(result, task))
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
