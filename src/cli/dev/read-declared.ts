/** What the files given to `perago dev` declare. */

import { readFile } from 'node:fs/promises'
import { defined } from '../../base/defined.ts'
import type { ErrorDescription } from '../../base/error-description.ts'
import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { loadPipelineText } from '../../engine/definitions/read-pipeline-file.ts'
import type { ScheduleDocument } from '../../engine/definitions/document.ts'
import type { Graph } from '../../engine/graph/graph.ts'
import { withBranchHeadDef } from '../../runtime/modules/built-in-tasks.ts'

export interface Declared {
  readonly taskDefs: readonly Named[]
  readonly workflowDefs: readonly Named[]
  readonly pipelines: readonly Graph[]
  /** By pipeline, and by their own names. */
  readonly schedules: Readonly<Record<string, Readonly<Record<string, ScheduleDocument>>>>
  readonly readOnlyTasks: readonly string[]
}

type Named = JsonObject & { readonly name: string }

export interface DevFiles {
  /** Absolute. */
  readonly modulePath: string
  /** YAML and JSON, absolute. */
  readonly pipelinePaths: readonly string[]
}

/** `extracted`: what the module declares, see `extractModule`. Throws what the module or a file has wrong. */
export async function readDeclared(files: DevFiles, extracted: Promise<string>): Promise<Declared> {
  const [ofModule, ...pipelines] = await Promise.all([
    read(extracted),
    ...files.pipelinePaths.map(async (path) => loadPipelineText(await readFile(path, 'utf8'), path)),
  ])
  return {
    ...ofModule,
    // A pipeline of a file may use it too.
    taskDefs: withBranchHeadDef(ofModule.taskDefs),
    pipelines: [...ofModule.pipelines, ...pipelines.map(({ graph }) => graph)],
    schedules: {
      ...ofModule.schedules,
      ...Object.fromEntries(pipelines.map(({ graph, document }) => [graph.name, document.schedules ?? {}])),
    },
  }
}

async function read(extracted: Promise<string>): Promise<Declared> {
  try {
    return JSON.parse(await extracted) as Declared
  } catch (error) {
    throw toldBy(error) ?? error
  }
}

/** What that process said was wrong. */
function toldBy(error: unknown): InvalidError | undefined {
  try {
    const { stderr } = error as { readonly stderr: string }
    const { message, next } = (JSON.parse(stderr) as { readonly error: ErrorDescription }).error
    return new InvalidError('cli/bad-module', message, { cause: error, ...defined({ next }) })
  } catch {
    // It was killed, or said something else.
    return undefined
  }
}
