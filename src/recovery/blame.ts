/** Which run, task, attempt and code version made what is on a branch, or one path of it; and what a run changed. */

import { MissingError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import type { CallOptions, Change, CommitRecord, VersionedRepo } from '../publication/ports.ts'
import type { WorkflowId } from '../worker/ports.ts'
import { outputOf, readInput } from './gather.ts'
import { RECOVERY_HISTORY_COMMITS } from './limits.ts'
import type { BranchPlace, RecoveryWorld } from './ports.ts'

/** What a commit says of its maker; all `undefined` but the committer where perago has not made it. */
export interface Maker {
  readonly ref: CommitRef
  readonly committedAt: string
  readonly committer: string
  readonly message: string
  readonly run: string | undefined
  readonly workflow: string | undefined
  readonly task: string | undefined
  readonly taskId: string | undefined
  /** The names of the definitions. */
  readonly taskName: string | undefined
  readonly workflowName: string | undefined
  readonly attempt: string | undefined
  readonly codeVersion: string | undefined
  /** Without an attempt: who asked. */
  readonly actor: string | undefined
}

export interface BlameRequest extends BranchPlace {
  /** Only the commit that made this path what it is, or that removed it. */
  readonly path?: string | undefined
  /** How many commits, without a path. */
  readonly limit?: number | undefined
}

/** Newest first. */
export async function blame(world: RecoveryWorld, request: BlameRequest): Promise<readonly Maker[]> {
  const { repository, branch, path, limit = RECOVERY_HISTORY_COMMITS } = request
  const repo = world.repoOf(repository)
  const call = { signal: world.signal }
  if (path !== undefined) return [describeMaker(await findMaker(repo, { ...request, path }, call))]
  const makers: Maker[] = []
  for await (const commit of repo.log(branch, { ...call, firstParent: true, limit }))
    makers.push(describeMaker(commit))
  return makers
}

async function findMaker(
  repo: VersionedRepo,
  { branch, path }: BlameRequest & { readonly path: string },
  call: CallOptions,
): Promise<CommitRecord> {
  const stateAt = async (ref: CommitRef): Promise<string | undefined> => {
    const object = await repo.stat(ref, path, call)
    return object && JSON.stringify([object.checksum, object.sizeBytes, object.contentType, object.metadata])
  }
  let newer: CommitRecord | undefined
  let state: string | undefined
  let everSeen = false
  for await (const commit of repo.log(branch, {
    ...call,
    firstParent: true,
    limit: RECOVERY_HISTORY_COMMITS,
  })) {
    const here = await stateAt(commit.ref)
    everSeen ||= here !== undefined
    if (newer !== undefined && here !== state) return newer
    newer = commit
    state = here
  }
  if (newer !== undefined && everSeen && newer.parents.length === 0) return newer
  throw new MissingError(
    'recovery/no-maker',
    `blame ${JSON.stringify(path)} on branch "${branch}": ${everSeen ? `it is older than the newest ${RECOVERY_HISTORY_COMMITS} commits` : 'no commit has it'}`,
    { next: 'Correct the path: it is the whole key in the repository.' },
  )
}

function describeMaker({ ref, createdAt, committer, message, metadata }: CommitRecord): Maker {
  const read = (key: MetadataKey): string | undefined => metadata[key]
  return {
    ...{ ref, committedAt: createdAt.toISOString(), committer, message },
    run: read('publish.run'),
    workflow: read('publish.workflow'),
    task: read('publish.task'),
    taskId: read('publish.task_id'),
    taskName: read('publish.task_name'),
    workflowName: read('publish.workflow_name'),
    attempt: read('publish.attempt'),
    codeVersion: read('publish.code_version'),
    actor: read('publish.actor'),
  }
}

/** What one task of a run changed. */
export interface RunChanges extends BranchPlace {
  readonly task: string
  readonly from: CommitRef
  readonly to: CommitRef
  readonly changes: readonly Change[]
}

/**
 * `run`: a workflow id that Conductor knows; or, with a branch, the id of any workflow or execution that commits of its history
 * name. In the order in which they were made.
 */
export async function diffOfRun(
  world: RecoveryWorld,
  { run, on }: { readonly run: string; readonly on?: BranchPlace | undefined },
): Promise<readonly RunChanges[]> {
  const spans = on === undefined ? await spansOfWorkflow(world, run) : await spansOnBranch(world, run, on)
  const found: RunChanges[] = []
  for (const span of spans) {
    const changes: Change[] = []
    const repo = world.repoOf(span.repository)
    for await (const change of repo.diff(span.from, span.to, { signal: world.signal })) changes.push(change)
    found.push({ ...span, changes })
  }
  return found
}

type Span = Omit<RunChanges, 'changes'>

async function spansOfWorkflow({ queue, signal }: RecoveryWorld, run: string): Promise<readonly Span[]> {
  const workflow = await queue?.readWorkflow(run as WorkflowId, { signal })
  if (workflow === undefined) throw noSuchRun(run, 'Conductor does not know such a workflow')
  return workflow.tasks.flatMap((task) => {
    const [input, to] = [readInput(task), outputOf(task)]
    if (input === undefined || to === undefined || to === input.ref) return []
    const { repository, branch, ref } = input
    return [{ repository, branch, task: task.referenceTaskName, from: ref, to }]
  })
}

async function spansOnBranch(world: RecoveryWorld, run: string, on: BranchPlace): Promise<readonly Span[]> {
  const repo = world.repoOf(on.repository)
  const spans: Span[] = []
  const limits = { firstParent: true, limit: RECOVERY_HISTORY_COMMITS, signal: world.signal }
  for await (const { ref, parents, metadata } of repo.log(on.branch, limits)) {
    const read = (key: MetadataKey): string | undefined => metadata[key]
    const [from] = parents
    if (from === undefined || (read('publish.run') !== run && read('publish.workflow') !== run)) continue
    spans.unshift({ ...on, task: read('publish.task') ?? '', from, to: ref })
  }
  if (spans.length === 0) throw noSuchRun(run, `no commit of branch "${on.branch}" names it`)
  return spans
}

function noSuchRun(run: string, why: string): MissingError {
  return new MissingError('recovery/no-such-run', `diff ${JSON.stringify(run)}: ${why}`, {
    next: 'Name a workflow id, or with --repo and --branch a run that "perago blame" shows.',
  })
}
