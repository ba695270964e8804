import { InvalidError, RefusedError } from '../../base/errors.ts'
import { branchName, repositoryName } from '../../base/ids.ts'
import { oneLine } from '../../base/one-line.ts'
import { blame, diffOfRun, type Maker } from '../../recovery/blame.ts'
import type { BranchPlace } from '../../recovery/ports.ts'
import { VERIFIED_CHECKS, verify } from '../../recovery/verify.ts'
import { answer, renderTable } from '../answers.ts'
import type { ConfiguredOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { overRecovery } from './recover.ts'

export interface DiffOptions extends ConfiguredOptions {
  readonly repo?: string
  readonly branch?: string
}

/** Ends with exit code 3 where something is refuted. */
export async function verifyBranch(
  repository: string,
  branch: string,
  options: ConfiguredOptions,
  terminal: Terminal,
): Promise<void> {
  const found = await overRecovery(options, terminal, (world) => verify(world, placeOf(repository, branch)))
  answer(terminal, options, found, () => {
    const { commits, isWhole, refuted, foreign, withoutFence, unknownWorkflows } = found
    const checks = Object.entries(VERIFIED_CHECKS).map(([check, says]) => {
      const findings = refuted.filter((each) => each.check === check)
      return [findings.length === 0 ? 'holds' : 'REFUTED', check, says]
    })
    const notes = [
      `${commits} commits${isWhole ? '' : ', the newest only'}`,
      `${withoutFence.length} publications without a hard fence`,
      `${foreign.length} commits not made by perago`,
      `${unknownWorkflows.length} workflows that Conductor does not know`,
    ]
    const details = refuted.map(({ check, ref, why }) => `${check}: ${ref}: ${why}\n`)
    return `${renderTable(checks)}${details.join('')}${notes.join('; ')}\n`
  })
  if (found.holds) return
  throw new RefusedError(
    'cli/history-refuted',
    `verify ${repository}/${branch}: ${found.refuted.length} findings`,
    {
      details: { refuted: found.refuted },
      next: `See who made those commits with "perago blame ${repository} ${branch}".`,
    },
  )
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
  const who = workflow === undefined ? (actor ?? committer) : `workflow ${workflow}`
  const what = task === undefined ? oneLine(message) : task
  return [
    ref.slice(0, 12),
    committedAt,
    what,
    attempt === undefined ? '' : `attempt ${attempt}`,
    who,
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
