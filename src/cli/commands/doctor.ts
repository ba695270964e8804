import { join, resolve } from 'node:path'
import { InvalidError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { describeError, renderError, type ErrorDescription } from '../../base/error-description.ts'
import { oneLine } from '../../base/one-line.ts'
import { formatSize } from '../../base/quantities.ts'
import {
  examineConductor,
  type ConductorExamination,
} from '../../runtime/examinations/conductor-examination.ts'
import { withConductor } from '../../runtime/connections/conductor-connection.ts'
import { openLakefs } from '../../runtime/connections/lakefs-connection.ts'
import type { BranchStrength } from '../../recovery/fence-strength.ts'
import type { PeragoConfiguration } from '../../runtime/configuration/configuration.ts'
import { openBranchExaminer, type ExaminablePlace } from '../../runtime/examinations/branch-examination.ts'
import { examineLakefs, type LakefsExamination } from '../../runtime/examinations/lakefs-examination.ts'
import { examineRoot, type RootExamination } from '../../runtime/examinations/root-examination.ts'
import { compareModule, type ModuleComparison } from '../../runtime/modules/module-registration.ts'
import { readModule } from '../../runtime/modules/task-modules.ts'
import { loadForCommand } from '../configured.ts'
import { PATIENCE, WORK_ROOT, type ConfiguredOptions } from '../options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'
import { DOCTOR_BRANCHES_MAX } from '../limits.ts'
import { describePublisher } from './publishers.ts'
import { refuseDrift, refuseProblems } from './check.ts'

/** A finding, a failure, or why there is neither. */
type Examined<Found> =
  | { readonly is: 'found'; readonly found: Found }
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'left-out'; readonly why: string }

export interface DoctorOptions extends ConfiguredOptions {
  readonly root?: string
  readonly branch?: readonly string[]
}

interface ExaminedBranch extends ExaminablePlace {
  /** On the command line; else by an open workflow, whose branch may be gone. */
  readonly isNamed: boolean
  readonly examined: Examined<BranchStrength>
}

interface Examination {
  readonly root: Examined<RootExamination>
  readonly lakefs: Examined<LakefsExamination>
  readonly branches: readonly ExaminedBranch[]
  /** Of open workflows, beyond those that are looked at. */
  readonly branchesLeftOut: number
  readonly conductor: Examined<ConductorExamination>
  readonly module: Examined<ModuleComparison>
}

/** Checks the file system of the root and every configured server, and says what it is and can do. A failure of one does not hide the others. */
export async function examine(
  module: string | undefined,
  options: DoctorOptions,
  terminal: Terminal,
): Promise<void> {
  const named = (options.branch ?? []).map(parsePlace)
  const { configuration, logger } = await loadForCommand(options, terminal)
  const signal = terminal.stopSignal()
  const connection = { logger, retry: PATIENCE }

  const [root, lakefs, conductor] = await Promise.all([
    attempt(() => examineRoot(resolve(terminal.directory, options.root ?? join(...WORK_ROOT)))),
    attempt(async () => {
      const client = openLakefs(configuration, connection)
      try {
        return await examineLakefs(client, { signal, fence: configuration.lakefs.fence })
      } finally {
        await client.close()
      }
    }),
    configuration.conductor.serverUrl === undefined
      ? leftOut('not configured: set conductor.serverUrl or CONDUCTOR_SERVER_URL to work on its tasks')
      : attempt(() => examineConductor(configuration, { ...connection, signal })),
  ])
  const compared =
    module === undefined
      ? leftOut('none was named: "perago doctor MODULE" compares one with Conductor')
      : conductor.is !== 'found'
        ? leftOut('Conductor could not be reached')
        : await attempt(async () => {
            const read = await readModule(module)
            refuseProblems(module, read)
            const found = await withConductor(configuration, connection, (client) =>
              compareModule(client, read, { signal }),
            )
            refuseDrift(module, found)
            return found
          })
  const ofWorkflows = conductor.is === 'found' ? (conductor.found.namedBranches ?? []) : []
  const places = distinct([
    ...ofWorkflows.map((place) => ({ ...place, isNamed: false })),
    ...named.map((place) => ({ ...place, isNamed: true })),
  ])
  const looked = places.slice(0, DOCTOR_BRANCHES_MAX)
  const branches =
    lakefs.is === 'found' ? await examineBranches(configuration, looked, { ...connection, signal }) : []
  const branchesLeftOut = places.length - branches.length
  const examination = { root, lakefs, branches, branchesLeftOut, conductor, module: compared }
  const describe = (error: unknown): ErrorDescription => describeError(error, terminal.redactor)
  answer(terminal, options, asDocument(examination, describe), () => render(examination, describe))
  const asked = branches.filter(({ isNamed }) => isNamed).map(({ examined }) => examined)
  const parts = [root, lakefs, ...asked, conductor, compared]
  const failed = parts.find((part) => part.is === 'failed')
  if (failed?.is === 'failed') throw failed.error as Error
}

/** One after the other: each is a few small requests. */
async function examineBranches(
  configuration: PeragoConfiguration,
  places: readonly Omit<ExaminedBranch, 'examined'>[],
  connection: { readonly logger: Logger; readonly retry: typeof PATIENCE; readonly signal: AbortSignal },
): Promise<readonly ExaminedBranch[]> {
  const client = openLakefs(configuration, connection)
  try {
    const { signal } = connection
    const look = openBranchExaminer(client, { signal, fence: configuration.lakefs.fence })
    const branches: ExaminedBranch[] = []
    for (const place of places) branches.push({ ...place, examined: await attempt(() => look(place)) })
    return branches
  } finally {
    await client.close()
  }
}

function parsePlace(text: string): ExaminablePlace {
  const [repository, branch, ...more] = text.split('/')
  if (repository && branch && more.length === 0) return { repository, branch }
  throw new InvalidError(
    'cli/bad-usage',
    `read --branch: ${JSON.stringify(text)} is not of the form repository/branch`,
  )
}

/** The last of each, and those that are named first of all. */
function distinct<Place extends ExaminablePlace & { readonly isNamed: boolean }>(
  places: readonly Place[],
): readonly Place[] {
  const found = [...new Map(places.map((place) => [`${place.repository}/${place.branch}`, place])).values()]
  return [...found.filter(({ isNamed }) => isNamed), ...found.filter(({ isNamed }) => !isNamed)]
}

async function attempt<Found>(work: () => Promise<Found>): Promise<Examined<Found>> {
  try {
    return { is: 'found', found: await work() }
  } catch (error) {
    return { is: 'failed', error }
  }
}

function leftOut(why: string): { readonly is: 'left-out'; readonly why: string } {
  return { is: 'left-out', why }
}

function asDocument(examination: Examination, describe: (error: unknown) => ErrorDescription): unknown {
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
  }
}

function render(examination: Examination, describe: (error: unknown) => ErrorDescription): string {
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
