/**
 * A task queue in this process that follows the rules of Conductor 3.32.3: for demonstrations and tests.
 */

import type { Json } from '../base/json.ts'
import type { Graph } from '../engine/graph/graph.ts'
import type { WorkflowId } from '../fences/attempt-snapshot.ts'
import type { TaskQueue } from '../worker/ports.ts'
import type { QueueControl } from '../engine/protocol/control.ts'
import { decide } from '../engine/protocol/decide.ts'
import { graphOfWorkflow } from '../engine/definitions/conductor/compile-workflow.ts'
import { wholeTaskDef } from '../engine/protocol/definitions.ts'
import {
  pauseExecution,
  rerunExecution,
  restartExecution,
  resumeExecution,
  retryExecution,
  skipTask,
  terminateExecution,
  type Termination,
} from '../engine/protocol/operator.ts'
import { MemoryQueue, type MemoryQueueOptions } from './memory-queue.ts'

export interface QueueCall {
  readonly operation: keyof TaskQueue
  /** The task, workflow or task type. */
  readonly about: string
}

/**
 * The connection between a worker and the queue. Waiting in either function delays; throwing from `onRequest` loses the
 * request, throwing from `onAnswer` loses the response.
 */
export interface QueueLink {
  readonly onRequest?: (call: QueueCall) => Promise<void> | void
  readonly onAnswer?: (call: QueueCall) => Promise<void> | void
}

export interface TestQueueOptions extends MemoryQueueOptions {
  /** Delays or loses requests and responses. Default: all arrive at once. */
  readonly link?: QueueLink
}

export interface TestQueue extends TaskQueue, QueueControl {
  /** A graph of units of any kind; it is started by its name. */
  registerGraph(graph: Graph): Promise<void>
  /** Tells an execution that an event of this type has happened. */
  publish(workflowId: WorkflowId, eventType: string): Promise<void>
  setVariable(workflowId: WorkflowId, name: string, value: Json): Promise<void>
  terminate(workflowId: WorkflowId, options?: Termination): Promise<void>
}

/**
 * ```ts
 * const queue = openTestQueue()
 * await queue.registerTask({ name: 'orders', retryDelaySeconds: 1 })
 * await queue.registerWorkflow({ name: 'daily', tasks: [{ name: 'orders', taskReferenceName: 'orders' }] })
 * await queue.start({ name: 'daily', input: { day: '2026-01-01' } })
 * ```
 */
export function openTestQueue(options: TestQueueOptions = {}): TestQueue {
  const queue = new MemoryQueue(options)
  const { link } = options
  const over = async <T>(
    operation: keyof TaskQueue,
    about: string,
    work: () => T | Promise<T>,
  ): Promise<T> => {
    await link?.onRequest?.({ operation, about })
    const answer = await work()
    await link?.onAnswer?.({ operation, about })
    return answer
  }
  const operate = (...request: Parameters<MemoryQueue['operate']>): Promise<void> =>
    promised(() => queue.operate(...request))

  return {
    poll: (request, callOptions) => over('poll', request.taskType, () => queue.poll(request, callOptions)),
    readTask: (taskId, callOptions) =>
      over('readTask', taskId, () => queue.readTask(taskId, callOptions?.signal)),
    readWorkflowStatus: (workflowId, callOptions) =>
      over('readWorkflowStatus', workflowId, () => queue.readStatus(workflowId, callOptions?.signal)),
    readOpenWorkflows: (max, callOptions) =>
      over('readOpenWorkflows', 'all', () => queue.readOpen(max, callOptions?.signal)),
    renewLease: ({ taskId }, callOptions) =>
      over('renewLease', taskId, () => queue.renew(taskId, callOptions?.signal)),
    postResult: (result, callOptions) =>
      over('postResult', result.taskId, () => queue.post(result, callOptions?.signal)),
    appendLog: (taskId, line, callOptions) =>
      over('appendLog', taskId, () => queue.appendLog(taskId, line, callOptions?.signal)),

    registerTask: (def) => promised(() => queue.registerTask(wholeTaskDef(def))),
    registerWorkflow: (def) => promised(() => queue.registerWorkflow(graphOfWorkflow(def))),
    registerGraph: (graph) => promised(() => queue.registerWorkflow(graph)),
    publish: (workflowId, eventType) => promised(() => queue.publish(workflowId, eventType)),
    setVariable: (workflowId, name, value) => promised(() => queue.setVariable(workflowId, name, value)),
    start: (request) => promised(() => queue.start(request)),
    readWorkflow: (workflowId) => promised(() => queue.readWorkflow(workflowId)),
    readLogs: (taskId) => promised(() => queue.readLogs(taskId)),
    pause: (workflowId) => operate('pause', workflowId, pauseExecution),
    resume: (workflowId) => operate('resume', workflowId, resumeExecution),
    terminate: (workflowId, termination = {}) =>
      operate('terminate', workflowId, (execution, moment) =>
        terminateExecution(execution, termination, moment),
      ),
    restart: (workflowId) => operate('restart', workflowId, restartExecution),
    retry: (workflowId) => operate('retry', workflowId, retryExecution),
    rerun: (workflowId, rerun = {}) =>
      operate('rerun', workflowId, (execution, moment) => rerunExecution(execution, rerun, moment)),
    skip: (workflowId, name) =>
      operate('skip', workflowId, (execution, moment) => skipTask(execution, name, moment)),
    decide: (workflowId) =>
      operate('decide', workflowId, (execution, moment) => ({
        is: 'done',
        execution: decide(execution, moment),
      })),
    requeue: (taskType) => promised(() => queue.requeue(taskType)),
    remove: (workflowId) => promised(() => queue.remove(workflowId)),
  }
}

/** The result of a synchronous call as a promise; an error rejects it. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()))
}
