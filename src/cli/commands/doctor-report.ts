/** What `perago doctor` prints. */

import { renderError, type ErrorDescription } from '../../base/error-description.ts'
import { oneLine, shortened } from '../../base/one-line.ts'
import { formatSize } from '../../base/quantities.ts'
import type { BranchStrength } from '../../recovery/fence-strength.ts'
import type { ExaminablePlace } from '../../runtime/examinations/branch-examination.ts'
import type { ConductorExamination } from '../../runtime/examinations/conductor-examination.ts'
import type { LakefsExamination } from '../../runtime/examinations/lakefs-examination.ts'
import type { ExaminedQueue, QueueExamination } from '../../runtime/examinations/queue-examination.ts'
import type { RootExamination } from '../../runtime/examinations/root-examination.ts'
import type { ModuleComparison } from '../../runtime/modules/module-registration.ts'
import { renderTable } from '../answers.ts'
import { TASK_NAME_SHOWN_CHARS } from '../limits.ts'
import { describePublisher } from './publishers.ts'

/** A finding, a failure, or why there is neither. */
export type Examined<Found> =
  | { readonly is: 'found'; readonly found: Found }
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'left-out'; readonly why: string }

export interface ExaminedBranch extends ExaminablePlace {
  /** On the command line; else by an open workflow, whose branch may be gone. */
  readonly isNamed: boolean
  readonly examined: Examined<BranchStrength>
}

export interface Examination {
  readonly root: Examined<RootExamination>
  readonly lakefs: Examined<LakefsExamination>
  readonly branches: readonly ExaminedBranch[]
  /** Of open workflows, beyond those that are looked at. */
  readonly branchesLeftOut: number
  readonly conductor: Examined<ConductorExamination>
  readonly module: Examined<ModuleComparison>
  readonly queues: Examined<QueueExamination>
}

export function describeExamination(
  examination: Examination,
  describe: (error: unknown) => ErrorDescription,
): unknown {
  const show = (part: Examined<unknown>): unknown => {
    switch (part.is) {
      case 'found':
        return part.found
      case 'failed':
        return { error: describe(part.error) }
      case 'left-out':
        return null
    }
  }
  return {
    root: show(examination.root),
    lakefs: show(examination.lakefs),
    branches: examination.branches.map(({ repository, branch, examined }) => ({
      ...{ repository, branch },
      ...(show(examined) as object),
    })),
    conductor: show(examination.conductor),
    module: show(examination.module),
    queues: show(examination.queues),
  }
}

export function renderExamination(
  examination: Examination,
  describe: (error: unknown) => ErrorDescription,
): string {
  const rows = <Found>(
    name: string,
    part: Examined<Found>,
    show: (found: Found) => readonly (readonly string[])[],
  ): readonly (readonly string[])[] => {
    switch (part.is) {
      case 'found':
        return show(part.found)
      case 'failed':
        return problemRows(name, describe(part.error))
      case 'left-out':
        return [[name, part.why]]
    }
  }
  return renderTable([
    ...rows('worker root', examination.root, describeRoot),
    ...rows('lakeFS', examination.lakefs, describeLakefs),
    ...examination.branches.flatMap(({ repository, branch, examined }) =>
      rows('branch', examined, describeBranch).map(([name = '', text = ''], index) => [
        name,
        index === 0 ? `${repository}/${branch}: ${text}` : text,
      ]),
    ),
    ...describeLeftOut(examination),
    ...rows('Conductor', examination.conductor, describeConductor),
    ...rows('queues', examination.queues, describeQueues),
    ...rows('module', examination.module, ({ definitions }) => [
      ['module', `all ${definitions.length} definitions as registered`],
    ]),
  ])
}

function problemRows(name: string, description: ErrorDescription): readonly (readonly string[])[] {
  const problems: unknown = description.details?.['problems']
  const listed: readonly unknown[] = Array.isArray(problems) ? problems : []
  return [
    [name, `problem: ${renderError(description)}`],
    ...listed.map((problem) => ['', `- ${oneLine(String(problem))}`]),
  ]
}

function describeRoot(found: RootExamination): readonly (readonly string[])[] {
  return [
    ['worker root', found.directory],
    ['file system', found.fileSystem],
    [
      'file times',
      found.areFileTimesTrusted
        ? 'trusted: only files with other times are read to find changes'
        : 'not trusted: every file is read to find changes, and no directory is kept for the next task; put the root on ext4, XFS or Btrfs',
    ],
  ]
}

function describeLakefs(found: LakefsExamination): readonly (readonly string[])[] {
  const { transfers, permissions } = found
  const presigned = transfers.presigned ? (transfers.multipart ? 'yes, large objects in parts' : 'yes') : 'no'
  return [
    ['lakeFS', found.endpoint],
    ['version', found.version],
    ['block store', found.blockstore],
    ['credentials', 'accepted'],
    ['answered in', `${found.answeredInMs} ms`],
    ['presigned transfers', presigned],
    ['downloads verified', transfers.checksumVerified ? 'by checksum and length' : 'by length'],
    [
      'list repositories',
      permissions.listRepositories
        ? 'allowed'
        : 'not allowed: workers do not need it; grant fs:ListRepositories to see them',
    ],
    ['branch moves', FENCES[found.strengths.fence]],
  ]
}

const FENCES: Readonly<Record<LakefsExamination['strengths']['fence'], string>> = {
  preferred: 'soft (read, decide, act), and hard where a fence is installed',
  required: 'hard: a branch without a fence takes nothing (lakefs.fence is required)',
  off: 'soft: fences are ignored (lakefs.fence is off)',
}

function describeBranch(found: BranchStrength): readonly (readonly string[])[] {
  const { strength, why, withoutFence } = found
  const says = {
    hard: 'hard fence',
    soft: 'soft fence',
    refused: 'nothing is published',
  }[strength]
  return [
    ['branch', `${says}: ${why}`],
    ...withoutFence.map((each) => ['', `- published without a hard fence: ${describePublisher(each)}`]),
  ]
}

function describeLeftOut({ lakefs, branches, branchesLeftOut }: Examination): readonly (readonly string[])[] {
  if (lakefs.is !== 'found') return []
  if (branchesLeftOut > 0)
    return [['branches', `${branchesLeftOut} more are not looked at: name them with --branch`]]
  return branches.length > 0 ? [] : [['branch', 'none is looked at: name one with --branch']]
}

function describeConductor(found: ConductorExamination): readonly (readonly string[])[] {
  const { limits } = found
  return [
    ['Conductor', found.endpoint],
    ['version', found.version],
    ['health', found.isHealthy ? 'well' : 'reports a problem: look into its log'],
    ['answered in', `${found.answeredInMs} ms`],
    ['task output', `up to ${formatSize(limits.taskOutputBytes)}: publish what is larger in the workspace`],
    ['workflow input', `up to ${formatSize(limits.workflowInputBytes)}: pass a reference to what is larger`],
    ...describeBranches(found.sharedBranches),
  ]
}

function describeBranches(shared: ConductorExamination['sharedBranches']): readonly (readonly string[])[] {
  if (shared === undefined) return [['branches', 'unknown: searching open workflows failed']]
  if (shared.length === 0) return [['branches', 'none is used by more than one open workflow']]
  return shared.map(({ repository, branch, workflows }) => [
    'shared branch',
    `"${branch}" of "${repository}", used by ${workflows
      .map(({ name, workflowId }) => `${name} ${workflowId}`)
      .join(', ')}: only one may write it; wait for the others to end or terminate them`,
  ])
}

function describeQueues({ queues, leftOut }: QueueExamination): readonly (readonly string[])[] {
  if (queues.length === 0) return [['queues', 'no task waits']]
  return [
    ...queues.map((queue) => ['queue', describeQueue(queue)]),
    ...(leftOut === 0 ? [] : [['queues', `${leftOut} more are not looked at`]]),
  ]
}

function describeQueue({ taskType, domain, waiting, lastPollAt, isUnpolled }: ExaminedQueue): string {
  const name = `"${shortened(oneLine(taskType), TASK_NAME_SHOWN_CHARS)}"`
  const where =
    domain === undefined ? '' : ` in the domain "${shortened(oneLine(domain), TASK_NAME_SHOWN_CHARS)}"`
  const asked =
    lastPollAt === null ? 'no worker has ever asked for it' : `a worker asked for it last at ${lastPollAt}`
  const count = waiting === 1 ? '1 task waits' : `${waiting} tasks wait`
  if (!isUnpolled) return `${name}${where}: ${waiting === 0 ? 'nothing waits' : count}; ${asked}`
  const why = lastPollAt === null ? asked : `${asked}: none runs any more, or all are busy`
  return `problem: nobody polls ${name}${where}, and ${count}; ${why}. Start a worker: "perago start MODULE"`
}
