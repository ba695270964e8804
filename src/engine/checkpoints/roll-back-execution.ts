/**
 * Rolls an execution back: its state and its branches together.
 *
 *   look → note → stop → data → state → strike the note
 *
 * 1. Look: every branch is checked first, and a refusal here changes nothing.
 * 2. Note: what is to be done is stored. Whoever finds it after a crash repeats all that follows.
 * 3. Stop: the attempts that are undone are cancelled and nothing is handed out, so that nobody publishes behind the rollback.
 * 4. Data before state: as long as the old state is stored, the plan can be made from it again, and what was moved is found to be
 *    there. If the state came first, it would name commits that the branches do not have.
 * 5. State: one step, which names the rollback; where it is named, it is done.
 */

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { MissingError, RefusedError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Random } from '../../base/random.ts'
import type { ExecutionScope } from '../../core/keys.ts'
import type { Store } from '../../core/ports.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { BranchRolledBack, DataRollback } from '../../publication/rollback-port.ts'
import type { Execution, Moment } from '../protocol/execution.ts'
import { decide } from '../protocol/decide.ts'
import { resumeExecution, terminateExecution } from '../protocol/operator.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Checkpoints } from './checkpoints.ts'
import { planRollback, type RollbackPlan } from './plan-rollback.ts'
import { moveRefs, restoreState, stopForRollback, type AfterRollback } from './restore-state.ts'
import { noteRollback, readRollbackNote, strikeRollbackNote, type RollbackNote } from './rollback-note.ts'
import { divideRows, type RollbackScope } from './undone-units.ts'

/** What a rollback needs of the host of executions. */
export interface RollbackHost {
  read(workflowId: WorkflowId): Promise<Execution | undefined>
  /** One step on what is stored now. `undefined`: there is no such execution. */
  change<T>(
    workflowId: WorkflowId,
    change: (execution: Execution, moment: Moment) => { readonly execution: Execution; readonly answer: T },
  ): Promise<T | undefined>
  /** Throws where its state cannot be changed any more, such as after a part of it was archived. Default: it can. */
  requireChangeable?(workflowId: WorkflowId): Promise<void>
  /** Makes the variables that are kept outside the execution those of a checkpoint. Default: there are none. */
  restoreVariables?(workflowId: WorkflowId, variables: JsonObject): Promise<void>
}

export interface RollbackParts {
  readonly host: RollbackHost
  readonly checkpoints: Checkpoints
  readonly data: DataRollback
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
}

export interface RollbackRequest {
  readonly scope: ExecutionScope
  readonly of: RollbackScope | { readonly level: 'last-good' }
  readonly then: AfterRollback
  readonly reason?: string | undefined
  /** Its policy asks for it. */
  readonly isRecovery?: boolean
  /** In the execution when it is done. Default: a new one. */
  readonly id?: string
}

export interface RollbackReport {
  readonly undone: readonly string[]
  readonly branches: readonly ({ readonly repository: string; readonly branch: string } & BranchRolledBack)[]
  /** By new commits. */
  readonly restored: readonly { readonly branch: string; readonly paths: readonly string[] }[]
  /** Newer checkpoints that could not be used, where the last good one was asked for. */
  readonly damaged: readonly string[]
}

export async function rollBackExecution(
  parts: RollbackParts,
  request: RollbackRequest,
): Promise<RollbackReport> {
  const { scope } = request
  const { of, damaged, plan } = await resolvePlan(parts, request)
  for (const move of plan.moves) await parts.data.check(move)
  for (const restore of plan.restores) await parts.data.checkPaths(restore)
  // What could be moved would be moved in vain.
  await parts.host.requireChangeable?.(workflowIdOf(scope))
  const { then, reason, isRecovery = false, id = randomUUID() } = request
  const { status } = await readExecution(parts, scope)
  await noteRollback(parts, scope, {
    id,
    of,
    then,
    reason,
    wasRunning: status === 'RUNNING',
    isRecovery,
  })
  const report = await resumeRollback(parts, scope)
  return { ...emptyReport, ...report, damaged }
}

/** Of what is stored now. Throws where it cannot be done, whatever the branches say. */
export async function resolvePlan(
  parts: RollbackParts,
  request: Pick<RollbackRequest, 'scope' | 'of'>,
): Promise<{
  readonly of: RollbackScope
  readonly damaged: readonly string[]
  readonly plan: RollbackPlan
}> {
  const { of, damaged } = await resolveScope(parts, request)
  return { of, damaged, plan: await planNow(parts, request.scope, of) }
}

/** Ends a rollback that was noted; a host calls it when it takes an execution over. `undefined`: none was. */
export async function resumeRollback(
  parts: RollbackParts,
  scope: ExecutionScope,
): Promise<RollbackReport | undefined> {
  const note = await readRollbackNote(parts.store, scope)
  if (note === undefined) return undefined
  const report = isDone(await readExecution(parts, scope), note)
    ? emptyReport
    : await carryOut(parts, scope, note)
  await strikeRollbackNote(parts, scope, note)
  return report
}

/** Gives up a rollback that cannot end: what has moved stays where it is, and the execution is ended. */
export async function abandonRollback(
  parts: RollbackParts,
  scope: ExecutionScope,
  reason: string,
): Promise<void> {
  const note = await readRollbackNote(parts.store, scope)
  if (note === undefined) {
    throw new MissingError(
      'engine/no-rollback',
      `abandon the rollback of ${scope.execution}: none has begun`,
      {
        details: { execution: scope.execution },
      },
    )
  }
  await changeExecution(parts, scope, (execution, moment) => {
    if (isDone(execution, note)) return execution
    const report = { id: note.id, atMs: moment.nowMs, reason, undone: [], notUndone: [] }
    const noted = { ...execution, rollbacks: [...execution.rollbacks, report] }
    const ended = terminateExecution(noted, { reason }, moment)
    return ended.is === 'done' ? ended.execution : noted
  })
  await strikeRollbackNote(parts, scope, note)
}

export const emptyReport: RollbackReport = { undone: [], branches: [], restored: [], damaged: [] }

async function carryOut(
  parts: RollbackParts,
  scope: ExecutionScope,
  note: RollbackNote,
): Promise<RollbackReport> {
  const checkpoint = await readCheckpoint(parts, scope, note.of)
  await changeExecution(parts, scope, (execution, moment) =>
    stopForRollback(execution, undoneIds(execution, note.of, checkpoint), moment),
  )
  const plan = await planNow(parts, scope, note.of)
  const branches: RollbackReport['branches'][number][] = []
  for (const move of plan.moves) {
    const { repository, branch } = move
    branches.push({ repository, branch, ...(await parts.data.moveBack(move)) })
  }
  const heads: Parameters<typeof moveRefs>[1][] = []
  const restored: RollbackReport['restored'][number][] = []
  for (const restore of plan.restores) {
    const { repository, branch, expectedHead: from } = restore
    const { outputRef, paths } = await parts.data.restorePaths(restore)
    heads.push({ repository, branch, from, to: outputRef })
    restored.push({ branch, paths })
  }
  // Conditions that are decided with the restored state read them.
  if (checkpoint !== undefined) await parts.host.restoreVariables?.(workflowIdOf(scope), checkpoint.variables)
  await changeExecution(parts, scope, (execution, moment) => {
    if (isDone(execution, note)) return execution
    const { undone } = plan
    const report = {
      ...{
        id: note.id,
        level: note.of.level,
        atMs: moment.nowMs,
        reason: note.reason,
        undone,
        notUndone: [],
      },
      ...(note.isRecovery === true && { recovery: 'done' as const }),
    }
    if (note.of.level === 'artifact') {
      const moved = { ...heads.reduce(moveRefs, execution), rollbacks: [...execution.rollbacks, report] }
      return note.wasRunning ? goOn(moved, moment) : moved
    }
    const { kept } = divideRows(execution, note.of, checkpoint)
    return restoreState(execution, { kept, checkpoint, report, then: note.then }, moment)
  })
  return { ...emptyReport, undone: plan.undone, branches, restored }
}

function goOn(execution: Execution, moment: Moment): Execution {
  const resumed = resumeExecution(execution, moment)
  return resumed.is === 'done' ? resumed.execution : decide(execution, moment)
}

function undoneIds(
  execution: Execution,
  of: RollbackScope,
  checkpoint: Checkpoint | undefined,
): ReadonlySet<TaskId> {
  if (of.level === 'artifact') return new Set()
  return new Set(divideRows(execution, of, checkpoint).undone.map(({ record }) => record.taskId))
}

function isDone({ rollbacks }: Execution, { id }: RollbackNote): boolean {
  return rollbacks.some((one) => one.id === id)
}

async function planNow(
  parts: RollbackParts,
  scope: ExecutionScope,
  of: RollbackScope,
): Promise<RollbackPlan> {
  const checkpoint = await readCheckpoint(parts, scope, of)
  return planRollback(await readExecution(parts, scope), of, checkpoint)
}

async function resolveScope(
  { checkpoints }: RollbackParts,
  { scope, of }: Pick<RollbackRequest, 'scope' | 'of'>,
): Promise<{ readonly of: RollbackScope; readonly damaged: readonly string[] }> {
  if (of.level !== 'last-good') return { of, damaged: [] }
  const found = await checkpoints.readLastGood(scope)
  if (found === undefined) {
    throw new RefusedError(
      'engine/no-good-checkpoint',
      `restore execution ${scope.execution}: none of its checkpoints can be read`,
      { next: 'Roll back by unit or phase: that needs no checkpoint.' },
    )
  }
  return {
    of: { level: 'checkpoint', checkpointId: found.record.checkpointId },
    damaged: found.damaged.map(({ checkpointId }) => checkpointId),
  }
}

async function readCheckpoint(
  { checkpoints }: RollbackParts,
  scope: ExecutionScope,
  of: RollbackScope,
): Promise<Checkpoint | undefined> {
  return of.level === 'checkpoint' ? checkpoints.read(scope, of.checkpointId) : undefined
}

async function readExecution({ host }: RollbackParts, scope: ExecutionScope): Promise<Execution> {
  const found = await host.read(workflowIdOf(scope))
  if (found === undefined) throw noExecution(scope)
  return found
}

async function changeExecution(
  { host }: RollbackParts,
  scope: ExecutionScope,
  change: (execution: Execution, moment: Moment) => Execution,
): Promise<void> {
  const changed = await host.change(workflowIdOf(scope), (execution, moment) => ({
    execution: change(execution, moment),
    answer: true,
  }))
  if (changed === undefined) throw noExecution(scope)
}

function workflowIdOf({ execution }: ExecutionScope): WorkflowId {
  return execution as string as WorkflowId
}

function noExecution({ execution }: ExecutionScope): MissingError {
  return new MissingError('engine/no-execution', `roll back execution ${execution}: there is none`, {
    details: { execution },
    next: 'Correct its id.',
  })
}
