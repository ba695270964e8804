// Reads what happened in a world and says what must not have. Everything here is about the target branch.
import type { CommitRef } from '../../src/base/ids.ts'
import type { BranchUpdate } from '../../src/testing/scripted-world.ts'
import { TARGET } from '../support/publication-world.ts'
import type { World } from './world.ts'

export interface Verdict {
  /** Branch updates that met a head nobody had shown to whoever made them. */
  readonly unread: readonly BranchUpdate[]
  /** Of those, the ones whose head was there already when the branch was last read: outside the soft window. */
  readonly outsideWindow: readonly BranchUpdate[]
  /** Heads that were moved away from although the rule does not allow it. */
  readonly unruly: readonly BranchUpdate[]
  /** Outputs of completed tasks that never were the branch's head. */
  readonly neverHead: readonly CommitRef[]
  /** Commits that left the branch's history and that no tag keeps. */
  readonly lostCommits: readonly CommitRef[]
  /** First-parent history, newest first, down to the first input. */
  readonly log: readonly CommitRef[]
}

export function judge(world: World): Verdict {
  const updates = world.repo.updates.filter(({ branch, client }) => branch === TARGET && client !== 'direct')
  const unread = updates.filter((update) => update.from !== lastReading(world, update)?.head)
  return {
    unread,
    outsideWindow: unread.filter((update) => isOutsideWindow(world, update)),
    unruly: updates.filter((update) => !unread.includes(update) && !keepsRule(world, update)),
    neverHead: world.queue.completed.map(({ outputRef }) => outputRef).filter((ref) => !wasHead(world, ref)),
    lostCommits: [...world.foreign, ...updates.map(({ to }) => to)].filter((ref) => !isKept(world, ref)),
    log: readLog(world),
  }
}

function lastReading(
  world: World,
  { client, sentAfter }: BranchUpdate,
): { readonly head: CommitRef | undefined; readonly order: number } | undefined {
  return world.repo.readings.findLast(
    (reading) => reading.branch === TARGET && reading.client === client && reading.order <= sentAfter,
  )
}

/** The window: from the last reading before the request to its effect, however late that comes. A head that was set before it should have been seen. */
function isOutsideWindow(world: World, update: BranchUpdate): boolean {
  const reading = lastReading(world, update)
  if (reading === undefined) return true
  const set = world.repo.updates.findLast(({ branch, order }) => branch === TARGET && order < update.order)
  return set === undefined || set.order < reading.order
}

/** A merge goes on top of the input; a reset leaves a head directly above the input, or one's own duplicates. */
function keepsRule(world: World, update: BranchUpdate): boolean {
  const attempt = world.queue.attempts.find((one) => world.clientOf(one) === update.client)
  if (attempt === undefined || update.from === undefined) return false
  if (update.how === 'merge') return update.from === attempt.inputRef
  const { model } = world.repo
  if (model.commit(update.from)?.parents[0] === attempt.inputRef) return true
  const above = [...model.ancestors(update.from, { firstParent: true })]
  const end = above.findIndex(({ ref }) => ref === update.to)
  return end > 0 && above.slice(0, end).every(({ metadata }) => metadata['publish.run'] === update.client)
}

function wasHead(world: World, ref: CommitRef): boolean {
  return world.repo.updates.some(({ branch, to }) => branch === TARGET && to === ref)
}

function isKept(world: World, ref: CommitRef): boolean {
  const { model } = world.repo
  const head = world.repo.head(TARGET)
  const keepers = [...model.tags.values(), ...(head === undefined ? [] : [head])]
  return keepers.some((keeper) => model.isAncestor(ref, keeper))
}

function readLog(world: World): CommitRef[] {
  const head = world.repo.head(TARGET)
  if (head === undefined) return []
  const log: CommitRef[] = []
  for (const { ref } of world.repo.model.ancestors(head, { firstParent: true })) {
    if (ref === world.firstInput) return log
    log.push(ref)
  }
  return log
}
