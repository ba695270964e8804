/** Reads pipelines from files: YAML, JSON, or a module that exports them. */

import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { InvalidError, messageOf, MissingError } from '../../base/errors.ts'
import { isPipelineDefinition } from '../../engine/definitions/pipeline-definition.ts'
import { printFileProblem, readPipelineText } from '../../engine/definitions/read-pipeline-file.ts'
import type { Graph } from '../../engine/graph/graph.ts'
import { isTaskDefinition, type TaskDefinition } from '../../tasks/task-definition.ts'
import { importExports } from '../../worker/bodies/load-tasks.ts'

export interface PipelineSource {
  /** As it was given. */
  readonly path: string
  readonly graphs: readonly Graph[]
  /** One sentence each, with the place in the file where there is one. */
  readonly problems: readonly string[]
}

export interface PipelineSourceOptions {
  /** Paths are relative to it. */
  readonly directory: string
  /** Tells of a file's tasks which of them only read. */
  readonly tasks?: ReadonlyMap<string, TaskDefinition>
}

/** Throws if the file cannot be read, or a module cannot be loaded. */
export async function readPipelineSource(
  path: string,
  { directory, tasks }: PipelineSourceOptions,
): Promise<PipelineSource> {
  const absolute = resolve(directory, path)
  if (!/\.(?:ya?ml|json)$/i.test(path)) return readModuleSource(path, absolute)
  const text = await readFile(absolute, 'utf8').catch((error: unknown) => {
    throw new MissingError('cli/no-such-file', `read ${JSON.stringify(path)}: ${messageOf(error)}`, {
      cause: error,
      next: 'Name a pipeline file (.yaml, .yml or .json) or a module (.ts or .js).',
    })
  })
  const { pipeline, problems } = readPipelineText(text, tasks === undefined ? {} : { tasks })
  return {
    path,
    graphs: pipeline === undefined ? [] : [pipeline.graph],
    problems: problems.map((problem) => printFileProblem(path, problem)),
  }
}

/** Every task that a module exports, by name. */
export async function readTasksOf(
  path: string,
  directory: string,
): Promise<ReadonlyMap<string, TaskDefinition>> {
  const { exported } = await importExports(resolve(directory, path))
  return new Map(
    Object.values(exported)
      .filter(isTaskDefinition)
      .map((task) => [task.name, task]),
  )
}

async function readModuleSource(path: string, absolute: string): Promise<PipelineSource> {
  const { exported } = await importExports(absolute)
  const pipelines = [...new Set(Object.values(exported).filter(isPipelineDefinition))]
  if (pipelines.length === 0) {
    throw new InvalidError(
      'cli/no-pipelines',
      `read the pipelines of ${JSON.stringify(basename(path))}: it exports none`,
      { next: 'Export what definePipeline returned.' },
    )
  }
  return { path, graphs: pipelines.map(({ graph }) => graph), problems: [] }
}
