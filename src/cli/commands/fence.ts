import { InvalidError } from '../../base/errors.ts'
import { withFences, type BranchFence, type OpenFences } from '../../runtime/publish-fences.ts'
import { answer, renderTable } from '../answers.ts'
import { loadForCommand } from '../configured.ts'
import { PATIENCE, type ConfiguredOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export interface FenceOptions extends ConfiguredOptions {
  readonly branch?: readonly string[]
}

export interface ChangeOptions extends FenceOptions {
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly protect?: boolean
}

export function showFences(repository: string, options: FenceOptions, terminal: Terminal): Promise<void> {
  return overFences(repository, options, terminal, async (fences) => {
    const branches = await fences.read()
    show(terminal, options, { branches, isEvaluated: await fences.isEvaluated(branches) })
  })
}

export function installFences(repository: string, options: ChangeOptions, terminal: Terminal): Promise<void> {
  const isDone = ({ file, isProtected }: BranchFence): boolean =>
    file === 'installed' && (isProtected || options.protect !== true)
  return change(repository, options, terminal, {
    isDone,
    question: `Install the fence in "${repository}"? [y/N] `,
    work: (fences, branches) => fences.install(branches, options.protect === true),
  })
}

export function removeFences(repository: string, options: ChangeOptions, terminal: Terminal): Promise<void> {
  return change(repository, options, terminal, {
    isDone: ({ file }) => file === 'absent',
    question: `Remove the fence from "${repository}"? [y/N] `,
    work: (fences, branches) => fences.remove(branches),
  })
}

/** Shows the branches, asks for confirmation, changes those that are not as wanted, and shows them again. */
function change(
  repository: string,
  options: ChangeOptions,
  terminal: Terminal,
  of: {
    readonly isDone: (state: BranchFence) => boolean
    readonly question: string
    readonly work: (fences: OpenFences, branches: readonly BranchFence[]) => Promise<void>
  },
): Promise<void> {
  return overFences(repository, options, terminal, async (fences) => {
    const before = await fences.read()
    const due = before.filter((state) => !of.isDone(state))
    if (due.length === 0 || options.dryRun === true) {
      const summary = due.length === 0 ? 'nothing to do' : `${due.length} branches would be changed`
      show(terminal, options, { branches: before, changed: [], summary })
      return
    }
    if (options.yes !== true) await confirm(repository, { due, question: of.question }, terminal)
    await of.work(fences, due)
    const branches = await fences.read()
    const changed = due.map(({ branch }) => branch)
    show(terminal, options, { branches, changed, isEvaluated: await fences.isEvaluated(branches) })
  })
}

async function overFences(
  repository: string,
  options: FenceOptions,
  terminal: Terminal,
  work: (fences: OpenFences) => Promise<void>,
): Promise<void> {
  const { configuration, logger } = await loadForCommand(options, terminal)
  const signal = terminal.stopSignal()
  const request = { repository, branches: options.branch }
  await withFences(configuration, request, { logger, retry: PATIENCE, signal }, work)
}

/** An installed fence binds everybody who publishes to the branch, so it must be confirmed. */
async function confirm(
  repository: string,
  { due, question }: { readonly due: readonly BranchFence[]; readonly question: string },
  terminal: Terminal,
): Promise<void> {
  terminal.say(renderBranches(due))
  const said = await terminal.ask?.(question)
  if (said !== undefined && /^y(es)?$/i.test(said.trim())) return
  throw new InvalidError(
    'cli/not-confirmed',
    `change the fence of "${repository}": it was not confirmed, nothing was changed`,
    { next: 'Check them, and run it again with --yes.' },
  )
}

function show(
  terminal: Terminal,
  options: FenceOptions,
  found: {
    readonly branches: readonly BranchFence[]
    readonly changed?: readonly string[]
    readonly isEvaluated?: boolean | undefined
    readonly summary?: string
  },
): void {
  const { summary, isEvaluated, ...document } = found
  answer(terminal, options, { ...document, isEvaluated: isEvaluated ?? null }, () => {
    const evaluated =
      isEvaluated === undefined
        ? ''
        : `lakeFS ${isEvaluated ? 'evaluates' : 'does NOT evaluate'} the fence${isEvaluated ? '' : '; set actions.enabled'}\n`
    return `${renderBranches(found.branches)}${evaluated}${summary === undefined ? '' : `${summary}\n`}`
  })
}

function renderBranches(branches: readonly BranchFence[]): string {
  return renderTable(
    branches.map(({ branch, file, isProtected, foreign }) => [
      branch,
      file,
      isProtected ? 'protected' : 'not protected',
      foreign.length === 0 ? '' : `foreign files: ${foreign.join(', ')}`,
    ]),
  )
}
