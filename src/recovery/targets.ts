/** What `recover` is asked about: a workflow, or a branch. Each is one or more branches, each with the task that counts. */

import { InvalidError, MissingError } from '../base/errors.ts'
import { branchName, repositoryName } from '../base/ids.ts'
import { readNewest } from '../publication/claims.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import { findOtherWriters } from '../worker/branches/second-writers.ts'
import type { WorkflowId } from '../worker/ports.ts'
import { readInput, type ExaminedTask } from './gather.ts'
import { RECOVERY_OPEN_WORKFLOWS_MAX } from './limits.ts'
import type { BranchPlace, RecordedWorkflow, RecoveryWorld } from './ports.ts'

export interface RecoveryTarget {
  readonly place: BranchPlace
  readonly task: ExaminedTask | 'unknown' | undefined
}

/** `repository/branch`; neither name may have a slash, and no workflow id of Conductor has one. */
function parsePlace(text: string): BranchPlace | undefined {
  const [repository, branch, ...more] = text.split('/')
  if (repository === undefined || branch === undefined) return undefined
  if (more.length === 0) return { repository: repositoryName(repository), branch: branchName(branch) }
  throw new InvalidError(
    'recovery/bad-target',
    `read ${JSON.stringify(text)}: a branch is named repository/branch`,
  )
}

export async function findTargets(world: RecoveryWorld, target: string): Promise<readonly RecoveryTarget[]> {
  const place = parsePlace(target)
  if (place !== undefined) return [await targetOfBranch(world, place)]
  const workflow = await world.queue?.readWorkflow(target as WorkflowId, { signal: world.signal })
  if (workflow === undefined) throw noSuchWorkflow(target, world.queue === undefined)
  return targetsOf(workflow)
}

/** For each branch, the task that was scheduled last: those before it are done, or nothing would have come after. */
function targetsOf(workflow: RecordedWorkflow): readonly RecoveryTarget[] {
  const last = new Map<string, { readonly place: BranchPlace; readonly task: ExaminedTask }>()
  const inOrder = workflow.tasks
    .filter(({ isRetried }) => !isRetried)
    .sort((one, other) => one.seq - other.seq)
  for (const record of inOrder) {
    const input = SYSTEM_TASKS.has(record.taskType) ? undefined : readInput(record)
    if (input === undefined || record.status === 'SKIPPED') continue
    const { repository, branch } = input
    last.set(`${repository}/${branch}`, { place: { repository, branch }, task: { workflow, record } })
  }
  return [...last.values()]
}

/** Of Conductor: they pass a workspace on, and publish nothing themselves. */
const SYSTEM_TASKS: ReadonlySet<string> = new Set([
  ...[
    'SUB_WORKFLOW',
    'START_WORKFLOW',
    'SWITCH',
    'DECISION',
    'FORK',
    'FORK_JOIN',
    'FORK_JOIN_DYNAMIC',
    'JOIN',
  ],
  ...['DO_WHILE', 'DYNAMIC', 'WAIT', 'HUMAN', 'TERMINATE', 'SET_VARIABLE', 'INLINE', 'HTTP', 'EVENT', 'NOOP'],
])

/** The workflow that has not ended and may write it; else the one that published its head. */
async function targetOfBranch(world: RecoveryWorld, place: BranchPlace): Promise<RecoveryTarget> {
  const { queue, signal } = world
  const head = await readNewest(world.repoOf(place.repository), place.branch, { signal })
  const publisher = head?.metadata['publish.workflow' satisfies MetadataKey]
  if (queue === undefined) return { place, task: publisher === undefined ? undefined : 'unknown' }
  const { workflows: open } = await queue.readOpenWorkflows(RECOVERY_OPEN_WORKFLOWS_MAX, { signal })
  const writers = findOtherWriters({ open, targets: [place], tasks: new Map() })
  const ids = [
    ...writers.map(({ workflowId }) => workflowId as string),
    ...(publisher === undefined ? [] : [publisher]),
  ]
  for (const id of ids) {
    const workflow = await queue.readWorkflow(id as WorkflowId, { signal })
    const found = workflow && targetsOf(workflow).find((each) => isSame(each.place, place))
    if (found !== undefined) return found
  }
  return { place, task: publisher === undefined ? undefined : 'unknown' }
}

function isSame(one: BranchPlace, other: BranchPlace): boolean {
  return one.repository === other.repository && one.branch === other.branch
}

function noSuchWorkflow(target: string, isWithoutQueue: boolean): MissingError {
  return new MissingError(
    'recovery/no-such-workflow',
    `recover ${JSON.stringify(target)}: ${isWithoutQueue ? 'no Conductor is configured' : 'there is no such workflow'}`,
    { next: 'Name a workflow id, or a branch as repository/branch.' },
  )
}
