/** What a module of tasks declares, as plain documents: to check, to write to files, to register. */

import { isPeragoError } from '../../base/errors.ts'
import { isPipelineDefinition } from '../../engine/definitions/pipeline-definition.ts'
import type { ScheduleDocument } from '../../engine/definitions/document.ts'
import type { Graph } from '../../engine/graph/graph.ts'
import { buildTaskDef } from '../../tasks/build-taskdef.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { findProblems, type WorkflowDefDocument } from '../../tasks/workflow-definition.ts'
import { findNotes } from '../../tasks/workflow-notes.ts'
import { walkSteps } from '../../tasks/workflow-steps.ts'
import { loadWithBuiltIns } from './built-in-tasks.ts'
import { declaredTaskDef } from './task-registration.ts'

export interface ReadModule {
  /** Absolute. */
  readonly path: string
  readonly tasks: readonly TaskDefinition[]
  readonly workflows: readonly WorkflowDefDocument[]
  readonly pipelines: readonly Graph[]
  /** By pipeline, and by their own names. */
  readonly schedules: Readonly<Record<string, Readonly<Record<string, ScheduleDocument>>>>
  /** A short description of each task. */
  readonly summaries: readonly TaskSummary[]
  /** Everything that is wrong in the declarations. */
  readonly problems: readonly string[]
  /** What is not wrong, and may surprise. */
  readonly notes: readonly string[]
}

export interface TaskSummary {
  readonly name: string
  readonly workspace: 'none' | 'read-only' | 'writable'
  /** Where the body runs; a command is a program. */
  readonly body: 'inline' | 'thread' | 'process' | 'command'
  readonly leaseSeconds: number
  /** How long a publication may take in all. */
  readonly budgetSeconds: number
}

/** Loads a module and checks its declarations. Throws if it cannot be loaded, or declares neither tasks nor workflows. */
export async function readModule(path: string): Promise<ReadModule> {
  const {
    tasks,
    workflows,
    exported,
    path: absolute,
  } = await loadWithBuiltIns(path, { workflowsAlone: true })
  const pipelines = [...new Set(Object.values(exported).filter(isPipelineDefinition))]
  const documents = workflows.map(({ document }) => document)
  const versions = documents.map(({ name, version }) => `${name} version ${version}`)
  const problems = [
    ...tasks.flatMap(findSchemaProblems),
    ...versions
      .filter((one, index) => versions.indexOf(one) !== index)
      .map((one) => `workflow ${one} is declared twice`),
    // Against all tasks of the module: a step may name one of them without its declaration.
    ...workflows.flatMap(({ document, tasks: named }) =>
      findProblems(document, [...named, ...tasks]).map((problem) => `workflow ${document.name}: ${problem}`),
    ),
  ]
  const notes = workflows.flatMap(({ document, tasks: named }) =>
    findNotes(document, [...named, ...tasks]).map((note) => `workflow ${document.name}: ${note}`),
  )
  return {
    ...{ path: absolute, tasks, workflows: documents, problems, notes },
    pipelines: pipelines.map(({ graph }) => graph),
    schedules: Object.fromEntries(pipelines.map(({ name, document }) => [name, document.schedules ?? {}])),
    summaries: tasks.map(summarise),
  }
}

/** The documents of a module without problems; `schemas` are the JSON Schemas of each task's input and output. */
export function buildDefinitions({
  tasks,
  workflows,
  pipelines,
  schedules,
}: Pick<ReadModule, 'tasks' | 'workflows' | 'pipelines' | 'schedules'>) {
  return {
    taskDefs: tasks.map(declaredTaskDef),
    workflowDefs: workflows,
    pipelines,
    schedules,
    readOnlyTasks: tasks.filter(({ workspace }) => workspace?.readOnly === true).map(({ name }) => name),
    schemas: tasks.map(buildTaskDef).flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]),
  }
}

/** The task types of all steps that a worker polls for. */
export function polledTypes(workflows: readonly WorkflowDefDocument[]): readonly string[] {
  const steps = workflows.flatMap(({ tasks }) => walkSteps(tasks))
  return [...new Set(steps.filter(({ type = 'SIMPLE' }) => type === 'SIMPLE').map(({ name }) => name))]
}

function findSchemaProblems(task: TaskDefinition): readonly string[] {
  try {
    buildTaskDef(task)
    return []
  } catch (error) {
    if (!isPeragoError(error)) throw error
    return [error.message]
  }
}

function summarise({ name, workspace, body, controls }: TaskDefinition): TaskSummary {
  return {
    name,
    workspace: workspace === undefined ? 'none' : workspace.readOnly === true ? 'read-only' : 'writable',
    body: body.kind === 'command' ? 'command' : body.runIn,
    leaseSeconds: controls.timeout.responseSeconds,
    budgetSeconds: controls.publishBudget.totalSeconds,
  }
}
