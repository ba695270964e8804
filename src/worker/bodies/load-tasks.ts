/** Loads the module that declares tasks. TypeScript modules need no build. */

import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { InvalidError, messageOf, MissingError } from '../../base/errors.ts'
import { isTaskDefinition, type TaskDefinition } from '../../tasks/task-definition.ts'
import { readWorkflow } from '../../tasks/sdk-workflow.ts'
import type { WorkflowDefinition } from '../../tasks/workflow-definition.ts'

/** What a module declares. */
export interface LoadedModule {
  /** Absolute. */
  readonly path: string
  readonly tasks: readonly TaskDefinition[]
  readonly workflows: readonly WorkflowDefinition[]
  /** All of it, for those who look for more. */
  readonly exported: Readonly<Record<string, unknown>>
}

/** Every task that the module exports. */
export async function loadTasks(path: string): Promise<readonly TaskDefinition[]> {
  return (await loadModule(path)).tasks
}

/** Every task and every workflow that the module exports; without tasks only where `workflowsAlone` will do. */
export async function loadModule(
  path: string,
  { workflowsAlone = false }: { readonly workflowsAlone?: boolean } = {},
): Promise<LoadedModule> {
  const { absolute, exported } = await importExports(path)
  const values = [...new Set(Object.values(exported))]
  const tasks = values.filter(isTaskDefinition)
  const workflows = values.flatMap((value) => readWorkflow(value) ?? [])
  if (tasks.length === 0 && !(workflowsAlone && workflows.length > 0)) {
    throw new InvalidError('worker/no-tasks', `load the tasks of ${JSON.stringify(path)}: it exports none`, {
      next: 'Export what defineWorkspaceTask, defineTask or defineCommandTask returned.',
    })
  }
  const twice = tasks.find((task, index) => tasks.findIndex(({ name }) => name === task.name) !== index)
  if (twice !== undefined) {
    throw new InvalidError(
      'worker/task-twice',
      `load the tasks of ${JSON.stringify(path)}: two are named "${twice.name}"`,
    )
  }
  return { path: absolute, tasks, workflows, exported }
}

export interface ImportedModule {
  readonly absolute: string
  readonly exported: Readonly<Record<string, unknown>>
}

/** Everything that a module exports. */
export async function importExports(path: string): Promise<ImportedModule> {
  const absolute = resolve(path)
  await stat(absolute).catch((error: unknown) => {
    throw new MissingError(
      'worker/no-module',
      `load the tasks of ${JSON.stringify(path)}: there is no such file`,
      { cause: error, next: 'Name the module that exports the tasks, such as tasks.ts.' },
    )
  })
  return { absolute, exported: await importModule(absolute, path) }
}

async function importModule(absolute: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    if (!/\.[cm]?ts$/.test(absolute))
      return (await import(pathToFileURL(absolute).href)) as Record<string, unknown>
    const { createJiti } = await import('jiti')
    return await createJiti(pathToFileURL(absolute).href).import<Record<string, unknown>>(absolute)
  } catch (error) {
    throw new InvalidError(
      'worker/module-failed',
      `load the tasks of ${JSON.stringify(path)}: ${messageOf(error)}`,
      { cause: error },
    )
  }
}
