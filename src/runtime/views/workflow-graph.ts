/** The graph of a workflow for those who draw it: every step and what follows it, also what is not scheduled yet. Pure. */

import { defined } from '../../base/defined.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Graph, Unit } from '../../engine/graph/graph.ts'
import type { WorkflowStep } from '../../tasks/workflow-steps.ts'

export interface WorkflowGraph {
  readonly nodes: readonly WorkflowNode[]
  /** Without cycles: what a loop repeats follows it, and what comes after the loop follows that. */
  readonly edges: readonly WorkflowEdge[]
}

export interface WorkflowNode {
  readonly referenceName: string
  /** Of the task definition, or of the workflow that it runs. */
  readonly name: string
  readonly kind: string
  /** The loop that repeats it. */
  readonly inside?: string
}

export interface WorkflowEdge {
  readonly from: string
  readonly to: string
  /** The case of a SWITCH. */
  readonly label?: string
}

type Exit = Omit<WorkflowEdge, 'to'>

class Drawing implements WorkflowGraph {
  readonly nodes: WorkflowNode[] = []
  readonly edges: WorkflowEdge[] = []

  /** Gives where the row is left. */
  addRow(steps: readonly WorkflowStep[], from: readonly Exit[], inside?: string): readonly Exit[] {
    return steps.reduce((exits, step) => this.#addStep(step, exits, inside), from)
  }

  #addStep(step: WorkflowStep, from: readonly Exit[], inside: string | undefined): readonly Exit[] {
    const { name, taskReferenceName: reference, type: kind = 'SIMPLE' } = step
    this.nodes.push({ referenceName: reference, name, kind, ...defined({ inside }) })
    for (const exit of from) this.edges.push({ ...exit, to: reference })
    const here: readonly Exit[] = [{ from: reference }]
    const { forkTasks = [], loopOver = [], decisionCases = {}, defaultCase = [] } = step
    switch (kind) {
      case 'FORK_JOIN':
        return forkTasks.flatMap((row) => this.addRow(row, here, inside))
      case 'DO_WHILE':
        return this.addRow(loopOver, here, reference)
      case 'SWITCH':
      case 'DECISION':
        return Object.entries({ ...decisionCases, default: defaultCase }).flatMap(([label, row]) =>
          this.addRow(row, [{ from: reference, label }], inside),
        )
      case 'TERMINATE':
        return []
      default:
        return here
    }
  }
}

/** Of a definition in Conductor's form. What cannot be read of it is left out. */
export function graphOfSteps(steps: readonly JsonObject[]): WorkflowGraph {
  const drawing = new Drawing()
  drawing.addRow(readSteps(steps), [])
  return { nodes: drawing.nodes, edges: drawing.edges }
}

function readSteps(given: unknown): readonly WorkflowStep[] {
  if (!Array.isArray(given)) return []
  return given.flatMap((step: unknown) => (isObject(step) ? (readStep(step) ?? []) : []))
}

function readStep(step: Readonly<Record<string, unknown>>): WorkflowStep | undefined {
  const { name, taskReferenceName, type, forkTasks, loopOver, decisionCases, defaultCase } = step
  if (typeof taskReferenceName !== 'string') return undefined
  const cases = isObject(decisionCases) ? Object.entries(decisionCases) : []
  return {
    ...{ taskReferenceName, name: typeof name === 'string' ? name : taskReferenceName },
    ...(typeof type === 'string' ? { type } : {}),
    forkTasks: Array.isArray(forkTasks) ? forkTasks.map(readSteps) : [],
    loopOver: readSteps(loopOver),
    decisionCases: Object.fromEntries(cases.map(([label, row]) => [label, readSteps(row)])),
    defaultCase: readSteps(defaultCase),
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Of an execution of our engine. */
export function graphOfUnits({ units }: Graph): WorkflowGraph {
  const nodes: WorkflowNode[] = []
  const edges: WorkflowEdge[] = []
  const add = (row: readonly Unit[], inside: string | undefined): void => {
    const byName = new Map(row.map((unit) => [unit.taskReferenceName, unit]))
    for (const unit of row) {
      const { taskReferenceName: to, after, onlyIn } = unit
      nodes.push({ referenceName: to, ...describeUnit(unit), ...defined({ inside }) })
      if (inside !== undefined && after.length === 0) edges.push({ from: inside, to })
      for (const before of after)
        for (const from of endsOf(byName.get(before), before))
          edges.push({ from, to, ...(onlyIn?.unit === before ? { label: onlyIn.case } : {}) })
      if (isLoop(unit)) add(unit.units, to)
    }
  }
  add(units, undefined)
  return { nodes, edges }
}

function isLoop(unit: Unit): unit is Extract<Unit, { type: 'EACH' | 'DO_WHILE' }> {
  return unit.type === 'EACH' || unit.type === 'DO_WHILE'
}

/** What follows a loop follows the last of its body. */
function endsOf(unit: Unit | undefined, name: string): readonly string[] {
  if (unit === undefined || !isLoop(unit)) return [name]
  const followed = new Set(unit.units.flatMap(({ after }) => after))
  const last = unit.units.filter(({ taskReferenceName }) => !followed.has(taskReferenceName))
  return last.length === 0 ? [name] : last.flatMap((each) => endsOf(each, each.taskReferenceName))
}

function describeUnit(unit: Unit): Pick<WorkflowNode, 'name' | 'kind'> {
  const { taskReferenceName, type } = unit
  if (type === 'SIMPLE') return { name: unit.name, kind: type }
  if (type === 'SUB_WORKFLOW') return { name: unit.subWorkflowParam.name, kind: type }
  const kind = type === 'SET_VARIABLE' ? (unit.shownAs ?? type) : type
  return { name: taskReferenceName, kind: kind === 'FORK' ? 'FORK_JOIN' : kind }
}

/** What a dynamic fork has made of its input, which no definition names. */
export function withForked(
  { nodes, edges }: WorkflowGraph,
  forks: readonly { readonly fork: string; readonly forked: readonly string[] }[],
  describe: (referenceName: string) => Pick<WorkflowNode, 'name' | 'kind'>,
): WorkflowGraph {
  const known = new Set(nodes.map(({ referenceName }) => referenceName))
  const added = forks.flatMap(({ fork, forked }) =>
    forked.filter((name) => !known.has(name)).map((name) => ({ fork, name })),
  )
  return {
    nodes: [...nodes, ...added.map(({ name }) => ({ referenceName: name, ...describe(name) }))],
    edges: [
      ...edges.filter(({ from }) => !added.some(({ fork }) => fork === from)),
      ...added.flatMap(({ fork, name }) => [
        { from: fork, to: name },
        ...edges.filter(({ from }) => from === fork).map(({ to }) => ({ from: name, to })),
      ]),
    ],
  }
}

/** The node of a task: iterations of a loop have a number in their reference names. */
export function nodeOf(nodes: ReadonlySet<string>, referenceName: string): string {
  if (nodes.has(referenceName)) return referenceName
  const plain = referenceName.replace(/(?:__\d+)+$/, '')
  return nodes.has(plain) ? plain : referenceName
}
