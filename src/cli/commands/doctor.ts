import { join, resolve } from 'node:path'
import { InvalidError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { describeError, type ErrorDescription } from '../../base/error-description.ts'
import { examineConductor } from '../../runtime/examinations/conductor-examination.ts'
import { withConductor } from '../../runtime/connections/conductor-connection.ts'
import { openLakefs } from '../../runtime/connections/lakefs-connection.ts'
import type { PeragoConfiguration } from '../../runtime/configuration/configuration.ts'
import { openBranchExaminer, type ExaminablePlace } from '../../runtime/examinations/branch-examination.ts'
import { examineLakefs } from '../../runtime/examinations/lakefs-examination.ts'
import { examineQueues } from '../../runtime/examinations/queue-examination.ts'
import { examineRoot } from '../../runtime/examinations/root-examination.ts'
import { compareModule } from '../../runtime/modules/module-registration.ts'
import { polledTypes, readModule, type ReadModule } from '../../runtime/modules/task-modules.ts'
import { loadForCommand } from '../configured.ts'
import { PATIENCE, WORK_ROOT, type ConfiguredOptions } from '../options.ts'
import { answer } from '../answers.ts'
import type { Terminal } from '../terminal.ts'
import { DOCTOR_BRANCHES_MAX } from '../limits.ts'
import {
  describeExamination,
  renderExamination,
  type Examined,
  type ExaminedBranch,
} from './doctor-report.ts'
import { refuseDrift, refuseProblems } from './check.ts'

export interface DoctorOptions extends ConfiguredOptions {
  readonly root?: string
  readonly branch?: readonly string[]
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
  const read = module === undefined ? undefined : await attempt(() => readModule(module))
  const compared =
    module === undefined || read === undefined
      ? leftOut('none was named: "perago doctor MODULE" compares one with Conductor')
      : conductor.is !== 'found'
        ? leftOut('Conductor could not be reached')
        : read.is !== 'found'
          ? read
          : await attempt(async () => {
              refuseProblems(module, read.found)
              const found = await withConductor(configuration, connection, (client) =>
                compareModule(client, read.found, { signal }),
              )
              refuseDrift(module, found)
              return found
            })
  const taskTypes = read?.is === 'found' ? typesOf(read.found) : []
  const queues =
    conductor.is === 'found'
      ? await attempt(() =>
          withConductor(configuration, connection, (client) => examineQueues(client, { taskTypes, signal })),
        )
      : leftOut('Conductor could not be reached')
  const ofWorkflows = conductor.is === 'found' ? (conductor.found.namedBranches ?? []) : []
  const places = distinct([
    ...ofWorkflows.map((place) => ({ ...place, isNamed: false })),
    ...named.map((place) => ({ ...place, isNamed: true })),
  ])
  const looked = places.slice(0, DOCTOR_BRANCHES_MAX)
  const branches =
    lakefs.is === 'found' ? await examineBranches(configuration, looked, { ...connection, signal }) : []
  const branchesLeftOut = places.length - branches.length
  const examination = { root, lakefs, branches, branchesLeftOut, conductor, module: compared, queues }
  const describe = (error: unknown): ErrorDescription => describeError(error, terminal.redactor)
  answer(terminal, options, describeExamination(examination, describe), () =>
    renderExamination(examination, describe),
  )
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

/** What workers of the module poll for, and what its workflows need. */
function typesOf({ tasks, workflows }: ReadModule): readonly string[] {
  return [...new Set([...tasks.map(({ name }) => name), ...polledTypes(workflows)])]
}
