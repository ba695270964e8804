/** What people see of the workflows of a Conductor, or of an engine that speaks its API, and what they may do about them. */

import { systemClock, type Clock } from '../../base/clock.ts'
import { isPeragoError, MissingError, RefusedError, UnavailableError } from '../../base/errors.ts'
import { once } from '../../base/once.ts'
import type { ConductorClient } from '../../conductor/client.ts'
import {
  createWorkflowOperator,
  type LoggedText,
  type WorkflowOperator,
  type WorkflowReading,
  type WorkflowTaskReading,
} from '../../conductor/workflows.ts'
import type { TaskId, WorkflowId, WorkflowStatus } from '../../worker/ports.ts'
import { listWorkflows, type ListWorkflows, type ListedWorkflows } from './list-workflows.ts'
import { readPollers, type Pollers } from './pollers.ts'
import { openTaskStories } from './read-task-stories.ts'
import type { TaskStory } from './task-publication.ts'
import { graphOfSteps, nodeOf, withForked, type WorkflowGraph } from './workflow-graph.ts'

export interface WorkflowView {
  /** The newest first, ended ones too. */
  list(request: ListWorkflows): Promise<ListedWorkflows>
  /** Throws `runtime/no-such-workflow`. */
  read(workflowId: string, signal?: AbortSignal): Promise<WorkflowDetails>
  /** Line by line, the oldest first. Throws `runtime/no-such-workflow`, `runtime/no-such-task`. */
  readLog(workflowId: string, taskId: string, page: LogPage): Promise<LoggedLines>
  /** What became of it. Throws `runtime/no-such-workflow`, `runtime/workflow-not-now`. */
  act(act: WorkflowAct, workflowId: string, options?: ActOptions): Promise<WorkflowReading>
  pollers(signal?: AbortSignal): Promise<Pollers>
  /** May be called twice. */
  close(): Promise<void>
}

export interface WorkflowViews {
  /** `undefined`: this tenant is shown none. */
  readonly of: (tenant: string | undefined) => WorkflowView | undefined
}

export interface WorkflowDetails extends Omit<WorkflowReading, 'tasks' | 'steps'> {
  readonly tasks: readonly ShownTask[]
  readonly graph: WorkflowGraph
}

export interface ShownTask extends WorkflowTaskReading, TaskStory {
  readonly kind: string
  /** In the graph. */
  readonly node: string
}

export interface LogPage {
  /** Lines that are known already. */
  readonly after: number
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

export interface LoggedLines {
  readonly lines: readonly LoggedText[]
  readonly next: number | undefined
}

export type WorkflowAct = 'pause' | 'resume' | 'retry' | 'terminate'

export interface ActOptions {
  readonly reason?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface WorkflowViewParts {
  /** Closed with the view. */
  readonly client: ConductorClient
  /** What an engine knows better than its API of Conductor says; `undefined`: there is no such workflow. */
  readonly readGraph?: ((workflowId: WorkflowId) => Promise<WorkflowGraph | undefined>) | undefined
  readonly clock?: Clock
}

/** Sends nothing yet. */
export function openWorkflowView(parts: WorkflowViewParts): WorkflowView {
  const { client, clock = systemClock } = parts
  const operator = createWorkflowOperator(client)
  const reader = new Reader({ ...parts, operator, clock })
  return {
    list: (request) => told(listWorkflows(operator, request, clock)),
    read: (workflowId, signal) => told(reader.read(workflowId, signal)),
    readLog: (workflowId, taskId, page) => told(reader.readLog(workflowId, taskId, page)),
    act: (act, workflowId, options) => told(reader.act(act, workflowId, options)),
    pollers: (signal) => told(readPollers(operator, { signal, clock })),
    close: once(() => client.close()),
  }
}

interface ReaderParts extends Pick<WorkflowViewParts, 'readGraph'> {
  readonly operator: WorkflowOperator
  readonly clock: Clock
}

class Reader {
  readonly #parts: ReaderParts
  readonly #storiesOf: ReturnType<typeof openTaskStories>

  constructor(parts: ReaderParts) {
    this.#parts = parts
    const readLines = async (taskId: TaskId, signal?: AbortSignal): Promise<readonly string[]> =>
      linesOf(await parts.operator.readTexts(taskId, { signal })).map(({ text }) => text)
    this.#storiesOf = openTaskStories(readLines, parts.clock)
  }

  async read(workflowId: string, signal?: AbortSignal): Promise<WorkflowDetails> {
    const { steps, ...reading } = await this.#readPlain(workflowId, signal)
    const graph = (await this.#parts.readGraph?.(reading.workflowId)) ?? drawn(steps, reading.tasks)
    const stories = await this.#storiesOf(reading.tasks, signal)
    return { ...reading, graph, tasks: showTasks(reading.tasks, graph, stories) }
  }

  async readLog(workflowId: string, taskId: string, page: LogPage): Promise<LoggedLines> {
    const { after, limit, signal } = page
    const { tasks } = await this.#readPlain(workflowId, signal)
    const task = tasks.find((each) => each.taskId === taskId)
    if (task === undefined) throw noSuchTask(workflowId, taskId)
    const lines = linesOf(await this.#parts.operator.readTexts(task.taskId, { signal }))
    const end = after + limit
    return { lines: lines.slice(after, end), next: end < lines.length ? end : undefined }
  }

  async act(
    act: WorkflowAct,
    workflowId: string,
    { reason = 'terminated by an operator', signal }: ActOptions = {},
  ): Promise<WorkflowReading> {
    const { operator } = this.#parts
    const { status } = await this.#readPlain(workflowId, signal)
    if (!ALLOWED_IN[act].includes(status)) throw notNow(act, workflowId, status)
    const isDone = await (act === 'terminate'
      ? operator.terminate(workflowId, reason, { signal })
      : operator[act](workflowId, { signal }))
    if (!isDone) throw notNow(act, workflowId, status)
    return this.#readPlain(workflowId, signal)
  }

  async #readPlain(workflowId: string, signal: AbortSignal | undefined): Promise<WorkflowReading> {
    const reading = await this.#parts.operator.read(workflowId, { signal })
    if (reading !== undefined) return reading
    throw new MissingError('runtime/no-such-workflow', `look at workflow ${workflowId}: it does not exist`, {
      next: 'Correct the id, or list the workflows.',
    })
  }
}

/** A server answers what its state does not allow in several ways, as if the workflow did not exist among them. */
const ALLOWED_IN: Readonly<Record<WorkflowAct, readonly WorkflowStatus[]>> = {
  pause: ['RUNNING', 'PAUSED'],
  resume: ['PAUSED'],
  retry: ['FAILED', 'TIMED_OUT', 'TERMINATED'],
  terminate: ['RUNNING', 'PAUSED'],
}

function drawn(steps: WorkflowReading['steps'], tasks: readonly WorkflowTaskReading[]): WorkflowGraph {
  const byName = new Map(tasks.map((task) => [task.referenceTaskName, task]))
  const forks = tasks.flatMap(({ referenceTaskName: fork, input }) => {
    const forked = input['forkedTasks']
    return Array.isArray(forked) ? [{ fork, forked: forked.filter((name) => typeof name === 'string') }] : []
  })
  const graph = graphOfSteps(steps)
  const known = new Set(graph.nodes.map(({ referenceName }) => referenceName))
  return withForked(
    graph,
    forks.filter(({ fork }) => known.has(fork)),
    (name) => ({ name: byName.get(name)?.taskDefName ?? name, kind: kindOf(byName.get(name)) }),
  )
}

function showTasks(
  tasks: readonly WorkflowTaskReading[],
  { nodes }: WorkflowGraph,
  stories: ReadonlyMap<TaskId, TaskStory>,
): readonly ShownTask[] {
  const kinds = new Map(nodes.map(({ referenceName, kind }) => [referenceName, kind]))
  const names = new Set(kinds.keys())
  return tasks.map((task) => {
    const node = nodeOf(names, task.referenceTaskName)
    const kind = task.kind ?? kinds.get(node) ?? kindOf(task)
    return { ...task, node, kind, ...stories.get(task.taskId) }
  })
}

/** Types in capitals are those that the server runs itself. */
function kindOf(task: WorkflowTaskReading | undefined): string {
  if (task === undefined) return 'SIMPLE'
  return task.kind ?? (/^[A-Z][A-Z0-9_]*$/.test(task.taskType) ? task.taskType : 'SIMPLE')
}

/** What was logged at once may have several. */
function linesOf(texts: readonly LoggedText[]): readonly LoggedText[] {
  return texts.flatMap(({ text, atMs }) => text.split('\n').map((line) => ({ text: line, atMs })))
}

/** Whoever looks has no part in what Conductor refuses this server. */
async function told<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking
  } catch (cause) {
    if (!isPeragoError(cause) || !OURS.has(cause.code)) throw cause
    throw new UnavailableError('runtime/conductor-refused', `look at workflows: ${cause.message}`, {
      cause,
      next: 'Correct the address and the key of Conductor that the server was given.',
    })
  }
}

const OURS: ReadonlySet<string> = new Set([
  ...['conductor/unauthorized', 'conductor/forbidden', 'conductor/not-conductor'],
])

function notNow(act: WorkflowAct, workflowId: string, status: WorkflowStatus): RefusedError {
  return new RefusedError('runtime/workflow-not-now', `${act} workflow ${workflowId}: it is ${status}`, {
    details: { status },
    next: 'Look at it again.',
  })
}

function noSuchTask(workflowId: string, taskId: string): MissingError {
  return new MissingError(
    'runtime/no-such-task',
    `read the log of task ${taskId}: workflow ${workflowId} has no such task`,
    { next: 'Look at the tasks of the workflow.' },
  )
}
