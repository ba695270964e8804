import { join, resolve } from 'node:path'
import { describeError, renderError, type ErrorDescription } from '../../base/error-description.ts'
import { oneLine } from '../../base/one-line.ts'
import { formatSize } from '../../base/quantities.ts'
import {
  examineConductor,
  type ConductorExamination,
} from '../../runtime/examinations/conductor-examination.ts'
import { withConductor } from '../../runtime/connections/conductor-connection.ts'
import { openLakefs } from '../../runtime/connections/lakefs-connection.ts'
import { examineLakefs, type LakefsExamination } from '../../runtime/examinations/lakefs-examination.ts'
import { examineRoot, type RootExamination } from '../../runtime/examinations/root-examination.ts'
import { compareModule, type ModuleComparison } from '../../runtime/modules/module-registration.ts'
import { readModule } from '../../runtime/modules/task-modules.ts'
import { loadForCommand } from '../configured.ts'
import { PATIENCE, WORK_ROOT, type ConfiguredOptions } from '../options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'
import { refuseDrift, refuseProblems } from './check.ts'

/** A finding, a failure, or why there is neither. */
type Examined<Found> =
  | { readonly is: 'found'; readonly found: Found }
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'left-out'; readonly why: string }

interface Examination {
  readonly root: Examined<RootExamination>
  readonly lakefs: Examined<LakefsExamination>
  readonly conductor: Examined<ConductorExamination>
  readonly module: Examined<ModuleComparison>
}

/** Checks the file system of the root and every configured server, and says what it is and can do. A failure of one does not hide the others. */
export async function examine(
  module: string | undefined,
  options: ConfiguredOptions & { readonly root?: string },
  terminal: Terminal,
): Promise<void> {
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
  const examination = { root, lakefs, conductor, module: compared }
  const describe = (error: unknown): ErrorDescription => describeError(error, terminal.redactor)
  answer(terminal, options, asDocument(examination, describe), () => render(examination, describe))
  const failed = Object.values(examination).find((part) => part.is === 'failed')
  if (failed?.is === 'failed') throw failed.error as Error
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
    ['branch moves', 'soft: read, decide, act (lakeFS has no conditional move)'],
  ]
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
