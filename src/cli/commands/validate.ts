import { InvalidError, isPeragoError } from '../../base/errors.ts'
import { walkUnits } from '../../engine/graph/graph.ts'
import {
  readPipelineSource,
  readTasksOf,
  type PipelineSource,
} from '../../runtime/modules/pipeline-sources.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

export interface ValidateOptions {
  readonly json?: boolean
  readonly tasks?: string
}

/** Checks pipelines, and names everything that is wrong in all of the files. */
export async function validatePipelines(
  paths: readonly string[],
  options: ValidateOptions,
  terminal: Terminal,
): Promise<void> {
  const { directory } = terminal
  const tasks = options.tasks === undefined ? undefined : await readTasksOf(options.tasks, directory)
  const sources: PipelineSource[] = []
  for (const path of paths) sources.push(await readOne(path, { directory, ...(tasks && { tasks }) }))
  answer(terminal, options, { files: sources.map(asDocument) }, () => render(sources))
  const problems = sources.flatMap((source) => source.problems)
  if (problems.length === 0) return
  throw new InvalidError(
    'cli/bad-pipelines',
    `validate ${paths.map((path) => JSON.stringify(path)).join(', ')}: ${problems.length} problem${problems.length === 1 ? '' : 's'}`,
    { details: { problems }, next: 'Correct them.' },
  )
}

/** A module that cannot be loaded is a problem like others, so that the other files are checked too. */
async function readOne(
  path: string,
  options: Parameters<typeof readPipelineSource>[1],
): Promise<PipelineSource> {
  try {
    return await readPipelineSource(path, options)
  } catch (error) {
    if (!isPeragoError(error)) throw error
    return { path, graphs: [], problems: [`${path}: ${error.message}`] }
  }
}

function asDocument({ path, graphs, problems }: PipelineSource): unknown {
  return {
    path,
    pipelines: graphs.map(({ name, version, units }) => ({ name, version, units: walkUnits(units).length })),
    problems,
  }
}

function render(sources: readonly PipelineSource[]): string {
  return renderTable(
    sources.flatMap(({ path, graphs }) =>
      graphs.map(({ name, version, units }) => {
        const count = walkUnits(units).length
        return [path, name, `version ${version}`, `${count} unit${count === 1 ? '' : 's'}`]
      }),
    ),
  )
}
