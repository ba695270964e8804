/** What a test may run: a pipeline, a workflow, a graph or a file; and the tasks that go with it. */

import { readFile } from 'node:fs/promises'
import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { suggest } from '../../base/suggestion.ts'
import { graphOfWorkflow } from '../../engine/definitions/conductor/compile-workflow.ts'
import {
  isPipelineDefinition,
  type PipelineDefinition,
} from '../../engine/definitions/pipeline-definition.ts'
import { loadPipelineText } from '../../engine/definitions/read-pipeline-file.ts'
import { walkUnits, type Graph } from '../../engine/graph/graph.ts'
import { taskTypesOf } from '../../engine/protocol/task-settings.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { isWorkflowDefinition, type WorkflowDefinition } from '../../tasks/workflow-definition.ts'
import { loadModule } from '../../worker/bodies/load-tasks.ts'
import type { UnitBehaviour } from './behaviours.ts'

/** A pipeline of which the compiler does not know input and output; a text is the path of a YAML or JSON file. */
export type UntypedPipeline = WorkflowDefinition | Graph | string

export type TestedPipeline = PipelineDefinition | UntypedPipeline

export interface SourceOptions {
  /** Tasks that the pipeline runs: declared ones, or the path of a module. Those of `definePipeline` are known. */
  readonly tasks?: readonly TaskDefinition[] | string | undefined
  /** Pipelines that it runs and that are not declared with it. */
  readonly children?: readonly TestedPipeline[] | undefined
  /** What units do, by their names or by the names of their tasks. */
  readonly units?: Readonly<Record<string, UnitBehaviour>> | undefined
}

export interface Source {
  readonly graph: Graph
  readonly children: readonly Graph[]
  readonly tasks: ReadonlyMap<string, TaskDefinition>
  /** For bodies outside this thread. */
  readonly modulePath: string | undefined
  readonly units: Readonly<Record<string, UnitBehaviour>>
}

/** Throws what is wrong with it, and names the tasks for which there is neither a function nor a behaviour. */
export async function readSource(given: TestedPipeline, options: SourceOptions): Promise<Source> {
  const { tasks = [], units = {} } = options
  const module = typeof tasks === 'string' ? await loadModule(tasks) : undefined
  const known = [
    ...(typeof tasks === 'string' ? (module?.tasks ?? []) : tasks),
    ...tasksOf(given),
    ...(options.children ?? []).flatMap(tasksOf),
  ]
  const byName = new Map(known.map((task) => [task.name, task]))
  const graph = await graphOf(given, byName)
  const children = [
    ...childrenOf(given),
    ...(await Promise.all((options.children ?? []).map((child) => graphOf(child, byName)))),
  ]
  const source = { graph, children, tasks: byName, modulePath: module?.path, units }
  requireBehaviours(source)
  return source
}

async function graphOf(given: TestedPipeline, tasks: ReadonlyMap<string, TaskDefinition>): Promise<Graph> {
  if (typeof given === 'string')
    return loadPipelineText(await readFile(given, 'utf8'), given, { tasks }).graph
  if (isPipelineDefinition(given)) return given.graph
  return isWorkflowDefinition(given) ? graphOfWorkflow(given.document) : given
}

function tasksOf(given: TestedPipeline): readonly TaskDefinition[] {
  if (typeof given === 'string') return []
  if (isPipelineDefinition(given)) return [...given.children.flatMap(tasksOf), ...given.tasks]
  return isWorkflowDefinition(given) ? given.tasks : []
}

function childrenOf(given: TestedPipeline): readonly Graph[] {
  if (typeof given === 'string' || !isPipelineDefinition(given)) return []
  return given.children.flatMap((child) => [child.graph, ...childrenOf(child)])
}

function requireBehaviours({ graph, children, tasks, units }: Source): void {
  const graphs = [graph, ...children]
  const all = graphs.flatMap((each) => walkUnits(each.units))
  const names = [...all.map(({ taskReferenceName }) => taskReferenceName), ...graphs.flatMap(taskTypesOf)]
  const unknown = Object.keys(units).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const meant = suggest(unknown, names)
    throw new InvalidError(
      'testing/no-such-unit',
      `say what unit "${unknown}" does: the pipeline has neither a unit nor a task of that name`,
      { next: meant === undefined ? `Choose one of ${names.join(', ')}.` : `Did you mean "${meant}"?` },
    )
  }
  const isGiven = (name: string): boolean => name in units || tasks.has(name)
  const inUnits = new Set(
    all.flatMap((unit) => (unit.type === 'SIMPLE' && unit.taskReferenceName in units ? [unit.name] : [])),
  )
  const missing = all.filter(
    (unit) => unit.type === 'SIMPLE' && !isGiven(unit.taskReferenceName) && !isGiven(unit.name),
  )
  const others = graphs
    .flatMap(taskTypesOf)
    .filter(
      (name) =>
        !isGiven(name) && !inUnits.has(name) && !missing.some((unit) => 'name' in unit && unit.name === name),
    )
  const [first] = [...missing.map(({ taskReferenceName }) => taskReferenceName), ...others]
  if (first === undefined) return
  throw new InvalidError(
    'testing/no-behaviour',
    `test the pipeline "${graph.name}": nothing says what ${[...missing.map((unit) => `unit "${unit.taskReferenceName}"`), ...others.map((name) => `task "${name}"`)].join(', ')} does`,
    { next: `Give its task in "tasks", or an answer: units: { ${quoted(first)}: answer({ … }) }.` },
  )
}

function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
}

/** What the input has when only the workspace was left out. */
export function needsWorkspace({ graph }: Source, input: JsonObject): boolean {
  if (input['workspace'] !== undefined) return false
  return JSON.stringify(graph).includes('${workflow.input.workspace')
}
