import { InvalidError, RefusedError } from '../../base/errors.ts'
import { branchName, repositoryName } from '../../base/ids.ts'
import { oneLine } from '../../base/one-line.ts'
import { blame, diffOfRun, type Maker } from '../../recovery/blame.ts'
import type { BranchPlace } from '../../recovery/ports.ts'
import { NEXT_AFTER_CHECK, VERIFIED_CHECKS, type VerifiedCheck } from '../../recovery/history-judge.ts'
import { verify, type Verification } from '../../recovery/verify.ts'
import { answer, renderTable } from '../answers.ts'
import type { ConfiguredOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { describePublisher } from './publishers.ts'
import { overRecovery } from './recover.ts'

export interface VerifyOptions extends ConfiguredOptions {
  readonly since?: string
  readonly limit?: number
}

export interface DiffOptions extends ConfiguredOptions {
  readonly repo?: string
  readonly branch?: string
}

/** Ends with exit code 3 where something is refuted. */
export async function verifyBranch(
  repository: string,
  branch: string,
  options: VerifyOptions,
  terminal: Terminal,
): Promise<void> {
  const { since, limit } = options
  const request = { ...placeOf(repository, branch), since, limit }
  const found = await overRecovery(options, terminal, (world) => verify(world, request))
  answer(terminal, options, found, () => renderVerification(found, since))
  if (found.holds) return
  throw new RefusedError(
    'cli/history-refuted',
    `verify ${repository}/${branch}: ${found.refutedCount} findings`,
    {
      details: { refuted: found.refuted },
      next: `See who made those commits with "perago blame ${repository} ${branch}".`,
    },
  )
}

const CHECKS = Object.keys(VERIFIED_CHECKS) as readonly VerifiedCheck[]

function renderVerification(found: Verification, since: string | undefined): string {
  const { refuted, refutedCount, refutedOf, withoutFence, foreignCount, unknownWorkflows } = found
  const checks = CHECKS.map((check) => [
    refutedOf[check] === 0 ? 'holds' : 'REFUTED',
    check,
    VERIFIED_CHECKS[check],
  ])
  const details = refuted.map(({ check, ref, why }) => `${check}: ${ref}: ${why}\n`)
  if (refutedCount > refuted.length) details.push(`… and ${refutedCount - refuted.length} more\n`)
  for (const check of CHECKS)
    if (refutedOf[check] > 0) details.push(`next, ${check}: ${NEXT_AFTER_CHECK[check]}\n`)
  const unfenced = withoutFence.map((each) => ['', describePublisher(each)])
  const notes = [
    describeExtent(found, since),
    `${foreignCount} commits not made by perago`,
    `${unknownWorkflows.length} workflows that Conductor does not know`,
    ...(unfenced.length === 0 ? [] : ['without a hard fence published:']),
  ]
  return `${renderTable(checks)}${details.join('')}${notes.join('; ')}\n${renderTable(unfenced)}`
}

function describeExtent({ commits, stopped, oldest }: Verification, since: string | undefined): string {
  switch (stopped) {
    case 'time':
      return `the newest ${commits} commits only, down to ${oldest ?? ''}; its time was over`
    case 'limit':
      return `the newest ${commits} commits only, down to ${oldest ?? ''}; stopped by --limit`
    case 'since':
      return `the ${commits} commits above ${since ?? ''} only`
    case 'beginning':
      return `all ${commits} commits${since === undefined ? '' : `: ${since} is not among them`}`
  }
}

export async function blameBranch(
  repository: string,
  branch: string,
  path: string | undefined,
  options: ConfiguredOptions & { readonly limit: number },
  terminal: Terminal,
): Promise<void> {
  const { limit } = options
  const place = placeOf(repository, branch)
  const makers = await overRecovery(options, terminal, (world) => blame(world, { ...place, path, limit }))
  answer(terminal, options, { commits: makers }, () => renderTable(makers.map(renderMaker)))
}

function renderMaker(maker: Maker): string[] {
  const { ref, committedAt, task, workflow, attempt, codeVersion, actor, committer, message } = maker
  const { taskName, workflowName } = maker
  const who = workflow === undefined ? (actor ?? committer) : `workflow ${workflow}`
  const named = taskName === undefined || taskName === task ? task : `${task ?? ''} (${taskName})`
  const what = named ?? oneLine(message)
  return [
    ref.slice(0, 12),
    committedAt,
    what,
    attempt === undefined ? '' : `attempt ${attempt}`,
    workflowName === undefined ? who : `${who} (${workflowName})`,
    codeVersion === undefined ? '' : `code ${codeVersion}`,
  ]
}

export async function diffRun(run: string, options: DiffOptions, terminal: Terminal): Promise<void> {
  const { repo, branch } = options
  if ((repo === undefined) !== (branch === undefined)) {
    throw new InvalidError('cli/bad-usage', 'read the command line: --repo and --branch belong together')
  }
  const on = repo === undefined || branch === undefined ? undefined : placeOf(repo, branch)
  const tasks = await overRecovery(options, terminal, (world) => diffOfRun(world, { run, on }))
  answer(terminal, options, { tasks }, () =>
    tasks
      .map(({ task, repository, branch: target, from, to, changes }) => {
        const head = `${task}  ${repository}/${target}  ${from.slice(0, 12)} → ${to.slice(0, 12)}\n`
        return `${head}${renderTable(changes.map(({ change, path }) => ['', change, path]))}`
      })
      .join(''),
  )
}

function placeOf(repository: string, branch: string): BranchPlace {
  return { repository: repositoryName(repository), branch: branchName(branch) }
}
