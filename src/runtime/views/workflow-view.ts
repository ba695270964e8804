/** What people see of the workflows of a Conductor, or of an engine that speaks its API, and what they may do about them. */

import { BoundedMap } from '../../base/bounded-map.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { isPeragoError, MissingError, RefusedError, UnavailableError } from '../../base/errors.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import { once } from '../../base/once.ts'
import type { ConductorClient } from '../../conductor/client.ts'
import {
  createWorkflowOperator,
  type WorkflowReading,
  type WorkflowTaskReading,
} from '../../conductor/workflows.ts'
import type { TaskId, WorkflowId, WorkflowStatus } from '../../worker/ports.ts'
import { TASK_LOGS_READ_AT_ONCE, TASK_LOGS_READ_MAX, TASK_PUBLICATIONS_REMEMBERED } from '../limits.ts'
import { listWorkflows, type ListWorkflows, type ListedWorkflows } from './list-workflows.ts'
import { readPollers, type Pollers } from './pollers.ts'
import { hasWorkspace, publicationOf, type TaskPublication } from './task-publication.ts'
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

export interface ShownTask extends WorkflowTaskReading {
  readonly kind: string
  /** In the graph. */
  readonly node: string
  readonly publication: TaskPublication | undefined
}

export interface LogPage {
  /** Lines that are known already. */
  readonly after: number
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

export interface LoggedLines {
  readonly lines: readonly { readonly text: string; readonly atMs: number }[]
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
export function openWorkflowView({
  client,
  readGraph,
  clock = systemClock,
}: WorkflowViewParts): WorkflowView {
  const operator = createWorkflowOperator(client)
  const publications = openPublications(
    async (taskId, signal) =>
      (await operator.readTexts(taskId, { signal })).flatMap(({ text }) => text.split('\n')),
    clock,
  )
  const readPlain = async (workflowId: string, signal: AbortSignal | undefined): Promise<WorkflowReading> => {
    const reading = await operator.read(workflowId, { signal })
    if (reading !== undefined) return reading
    throw new MissingError('runtime/no-such-workflow', `look at workflow ${workflowId}: it does not exist`, {
      next: 'Correct the id, or list the workflows.',
    })
  }
  const read = async (workflowId: string, signal?: AbortSignal): Promise<WorkflowDetails> => {
    const { steps, ...reading } = await readPlain(workflowId, signal)
    const graph = (await readGraph?.(reading.workflowId)) ?? drawn(steps, reading.tasks)
    const told = await publications(reading.tasks, signal)
    return { ...reading, graph, tasks: showTasks(reading.tasks, graph, told) }
  }
  return {
    list: (request) => toldOf(listWorkflows(operator, request, clock)),
    read: (workflowId, signal) => toldOf(read(workflowId, signal)),
    readLog: (workflowId, taskId, page) =>
      toldOf(
        (async () => {
          const { tasks } = await readPlain(workflowId, page.signal)
          const task = tasks.find((each) => each.taskId === taskId)
          if (task === undefined) throw noSuchTask(workflowId, taskId)
          const texts = await operator.readTexts(task.taskId, { signal: page.signal })
          return pageOfLines(texts, page)
        })(),
      ),
    act: (act, workflowId, { reason = 'terminated from the page', signal } = {}) =>
      toldOf(
        (async () => {
          const { status } = await readPlain(workflowId, signal)
          if (!ALLOWED_IN[act].includes(status)) throw notNow(act, workflowId, status)
          const call = { signal }
          const isDone = await (act === 'terminate'
            ? operator.terminate(workflowId, reason, call)
            : operator[act](workflowId, call))
          if (!isDone) throw notNow(act, workflowId, status)
          return readPlain(workflowId, signal)
        })(),
      ),
    pollers: (signal) => toldOf(readPollers(operator, { signal, clock })),
    close: once(() => client.close()),
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
  told: ReadonlyMap<TaskId, TaskPublication>,
): readonly ShownTask[] {
  const kinds = new Map(nodes.map(({ referenceName, kind }) => [referenceName, kind]))
  const names = new Set(kinds.keys())
  return tasks.map((task) => {
    const node = nodeOf(names, task.referenceTaskName)
    const kind = task.kind ?? kinds.get(node) ?? kindOf(task)
    return { ...task, node, kind, publication: told.get(task.taskId) }
  })
}

/** Types in capitals are those that the server runs itself. */
function kindOf(task: WorkflowTaskReading | undefined): string {
  if (task === undefined) return 'SIMPLE'
  return task.kind ?? (/^[A-Z][A-Z0-9_]*$/.test(task.taskType) ? task.taskType : 'SIMPLE')
}

type ReadLines = (taskId: TaskId, signal: AbortSignal | undefined) => Promise<readonly string[]>

/** What was told of a task that has ended does not change: whoever follows a workflow reads each log once. */
function openPublications(readLines: ReadLines, clock: Clock) {
  const known = new BoundedMap<string, TaskPublication>({
    max: TASK_PUBLICATIONS_REMEMBERED,
    evict: 'least-recently-used',
  })
  return async (
    tasks: readonly WorkflowTaskReading[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<TaskId, TaskPublication>> => {
    const told = new Map<TaskId, TaskPublication>()
    const unread: WorkflowTaskReading[] = []
    for (const task of tasks.filter(hasWorkspace)) {
      const found = known.get(keyOf(task)) ?? publicationOf(task, [])
      if (found !== undefined) told.set(task.taskId, found)
      if (isOver(task) && !known.has(keyOf(task))) unread.push(task)
    }
    const newest = unread.slice(-TASK_LOGS_READ_MAX)
    await forEachBounded(newest, { limit: TASK_LOGS_READ_AT_ONCE }, async (task) => {
      const found = publicationOf(task, await readLines(task.taskId, signal))
      if (found === undefined) return
      told.set(task.taskId, found)
      // A log may show late.
      const isLate = clock.now().getTime() - endOf(task) > LOG_SHOWN_WITHIN_MS
      if (isLate || found.outcome !== undefined) known.set(keyOf(task), found)
    })
    return told
  }
}

const LOG_SHOWN_WITHIN_MS = 60_000

/** A task that is run again keeps its id. */
function keyOf({ taskId, status, updateTimeMs }: WorkflowTaskReading): string {
  return `${taskId} ${status} ${updateTimeMs}`
}

function isOver({ status }: WorkflowTaskReading): boolean {
  return status !== 'SCHEDULED' && status !== 'IN_PROGRESS'
}

/** When it ended; 0 while it has not. */
export function endOf(task: WorkflowTaskReading): number {
  return isOver(task) ? task.endTimeMs || task.updateTimeMs : 0
}

function pageOfLines(
  texts: readonly { readonly text: string; readonly atMs: number }[],
  { after, limit }: LogPage,
): LoggedLines {
  const all = texts.flatMap(({ text, atMs }) => text.split('\n').map((line) => ({ text: line, atMs })))
  const end = after + limit
  return { lines: all.slice(after, end), next: end < all.length ? end : undefined }
}

/** Whoever looks has no part in what Conductor refuses this server. */
async function toldOf<T>(looking: Promise<T>): Promise<T> {
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
