/**
 * What a rollback does to the branches. Pure: read from what the execution has recorded. Whether the branches really stand so
 * is seen, and judged again, when they are moved.
 */

import { RefusedError } from '../../base/errors.ts'
import { branchName, repositoryName, type CommitRef } from '../../base/ids.ts'
import type { BranchRollback, OwnCommits, PathsRollback } from '../../publication/rollback-port.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { isTaskOpen } from '../protocol/state.ts'
import type { Checkpoint } from './checkpoint.ts'
import { divideRows, hasBegun, type RollbackScope } from './undone-units.ts'
import {
  branchKey,
  isSameBranch,
  publicationsOf,
  workspaceOf,
  type BranchCommit,
  type Publication,
} from './written-branches.ts'

export interface RollbackPlan {
  readonly scope: RollbackScope
  /** Reference names of the attempts that are undone, in the order in which they were scheduled. */
  readonly undone: readonly string[]
  readonly moves: readonly BranchRollback[]
  readonly restores: readonly PathsRollback[]
}

/** `checkpoint`: of the scope, where it has one. Throws `refused` where it cannot be done. */
export function planRollback(
  execution: Execution,
  scope: RollbackScope,
  checkpoint?: Checkpoint,
): RollbackPlan {
  if (scope.level === 'artifact')
    return { scope, undone: [], moves: [], restores: [planRestore(execution, scope)] }
  const { undone } = divideRows(execution, scope, checkpoint)
  return {
    scope,
    undone: [...new Set(undone.filter(hasBegun).map(({ record }) => record.referenceTaskName))],
    moves: planMoves(execution, undone, checkpoint),
    restores: [],
  }
}

function planMoves(
  execution: Execution,
  undone: readonly AttemptRow[],
  checkpoint: Checkpoint | undefined,
): readonly BranchRollback[] {
  const own = ownOf(execution, undone)
  const ids = new Set(own.taskIds)
  const published = new Map<string, Publication[]>()
  for (const one of publicationsOf(execution))
    published.set(branchKey(one), [...(published.get(branchKey(one)) ?? []), one])
  const moves = new Map<string, BranchRollback>()
  for (const [key, ofBranch] of published) {
    const found = moveOf(ofBranch, ids)
    if (found === undefined) continue
    requireSame(found, checkpoint)
    moves.set(key, toRequest(found, own))
  }
  // Attempts that recorded nothing may have published all the same.
  for (const { record } of undone) {
    const given = workspaceOf(record.input)
    if (given === undefined || moves.has(branchKey(given)) || record.startTimeMs === 0) continue
    const ref = published.get(branchKey(given))?.at(-1)?.to ?? given.ref
    moves.set(branchKey(given), toRequest({ ...given, expectedHead: ref, to: ref }, own))
  }
  return [...moves.values()]
}

type Move = Pick<BranchCommit, 'repository' | 'branch'> & {
  readonly expectedHead: CommitRef
  readonly to: CommitRef
}

/** `undefined`: nothing on this branch is undone. */
function moveOf(ofBranch: readonly Publication[], undone: ReadonlySet<string>): Move | undefined {
  const at = ofBranch.findIndex(({ taskId }) => undone.has(taskId))
  const first = ofBranch[at]
  const last = ofBranch.at(-1)
  if (first === undefined || last === undefined) return undefined
  const above = ofBranch.slice(at).find(({ taskId }) => !undone.has(taskId))
  if (above !== undefined) throw keptAbove(first, above)
  const { repository, branch } = first
  return { repository, branch, expectedHead: last.to, to: ofBranch[at - 1]?.to ?? first.from }
}

/** What the checkpoint has recorded of the branch is where it goes back to; two sources that differ are a reason to stop. */
function requireSame(move: Move, checkpoint: Checkpoint | undefined): void {
  const then = checkpoint?.branches.find((one) => isSameBranch(one, move))
  if (then === undefined || then.ref === move.to) return
  const { repository, branch, to } = move
  throw new RefusedError(
    'engine/rollback-unlike-checkpoint',
    `roll branch "${branch}" back: the checkpoint has it at ${then.ref}, the first unit after it began at ${to}`,
    {
      details: { repository, branch, checkpointRef: then.ref, inputRef: to },
      next: 'Roll back the units by name, or move the branch by hand and then restore the state.',
    },
  )
}

function toRequest({ repository, branch, expectedHead, to }: Move, own: OwnCommits): BranchRollback {
  return { repository: repositoryName(repository), branch: branchName(branch), expectedHead, to, own }
}

function ownOf({ workflowId, rows }: Execution, undone: readonly AttemptRow[]): OwnCommits {
  const children = rows.flatMap(({ child }) => (child === undefined ? [] : [child.workflowId]))
  return { workflowIds: [workflowId, ...children], taskIds: undone.map(({ record }) => record.taskId) }
}

function planRestore(
  execution: Execution,
  scope: Extract<RollbackScope, { level: 'artifact' }>,
): PathsRollback {
  const all = publicationsOf(execution)
  const published = all.findLast(({ referenceTaskName }) => referenceTaskName === scope.unit)
  if (published === undefined) throw nothingPublished(execution, scope.unit)
  const { repository, branch, from, to } = published
  const writer = execution.rows.find(({ record }) => {
    const given = isTaskOpen(record.status) ? workspaceOf(record.input) : undefined
    return given !== undefined && isSameBranch(given, published)
  })
  if (writer !== undefined) throw branchInUse(published, writer)
  const expectedHead = all.findLast((one) => isSameBranch(one, published))?.to ?? to
  return {
    ...{ repository: repositoryName(repository), branch: branchName(branch), expectedHead },
    ...{ publishedOn: from, published: to, paths: scope.paths },
    ...{ workflowId: execution.workflowId, subject: `restore-${scope.unit}` },
  }
}

function keptAbove({ branch, referenceTaskName }: Publication, above: Publication): RefusedError {
  return new RefusedError(
    'engine/kept-unit-above',
    `roll back unit "${referenceTaskName}": unit "${above.referenceTaskName}", which stays, published on branch "${branch}" after it`,
    {
      details: { branch, unit: referenceTaskName, above: above.referenceTaskName },
      next: `Roll back "${above.referenceTaskName}", too, or only the paths that "${referenceTaskName}" changed.`,
    },
  )
}

function nothingPublished({ workflowId }: Execution, unit: string): RefusedError {
  return new RefusedError(
    'engine/nothing-published',
    `roll back what unit "${unit}" of execution ${workflowId} published: it has published nothing`,
    { details: { workflowId, unit }, next: 'Name a unit that has ended with a new commit on its branch.' },
  )
}

function branchInUse({ branch }: Publication, { record }: AttemptRow): RefusedError {
  return new RefusedError(
    'engine/branch-in-use',
    `restore paths on branch "${branch}": unit "${record.referenceTaskName}" is working on it`,
    {
      details: { branch, unit: record.referenceTaskName, taskId: record.taskId },
      next: `Wait until "${record.referenceTaskName}" has ended, or roll it back first.`,
    },
  )
}
