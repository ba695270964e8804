// The control surface of a real Conductor, over its own API: what a test does to it besides working for it.
import { MissingError, RefusedError } from '../../src/base/errors.ts'
import { readTaskRecord } from '../../src/conductor/task-records.ts'
import type { QueueControl, WorkflowView } from '../../src/engine/protocol/control.ts'
import type { WorkflowId, WorkflowStatus } from '../../src/worker/ports.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { askJson, type JsonAnswer, type JsonRequest } from '../support/servers/http.ts'

export function conductorControl(url: string): QueueControl {
  const ask = async (path: string, request: JsonRequest = {}): Promise<JsonAnswer> => {
    const answer = await askJson(`${url}/api${path}`, request)
    if (answer.status < 400) return answer
    const { message = '' } = (answer.body ?? {}) as { message?: string }
    const said = `${request.method ?? 'POST'} ${path}: ${String(answer.status)} ${message}`
    // Retrying what still runs is answered 404, and other refusals 500: what is not there says so.
    if (answer.status === 404 && message.startsWith('No such')) throw new MissingError('test/missing', said)
    throw new RefusedError('test/refused', said)
  }
  const put = async (path: string, body?: unknown): Promise<void> => {
    await ask(path, { method: 'PUT', body })
  }
  const post = async (path: string, body?: unknown): Promise<void> => {
    await ask(path, { method: 'POST', body })
  }
  const drop = async (path: string): Promise<void> => {
    await ask(path, { method: 'DELETE' })
  }

  return {
    registerTask: (def) => post('/metadata/taskdefs', [{ ownerEmail: 'perago@example.org', ...def }]),
    registerWorkflow: (def) =>
      put('/metadata/workflow', [{ schemaVersion: 2, ownerEmail: 'perago@example.org', ...def }]),
    start: async (request) => (await ask('/workflow', { body: request })).body as WorkflowId,
    readWorkflow: async (workflowId) => {
      const { status, body } = await askJson(`${url}/api/workflow/${workflowId}?includeTasks=true`)
      return status === 404 ? undefined : readView(workflowId, body)
    },
    readLogs: async (taskId) => {
      const { body } = await ask(`/tasks/${taskId}/log`, { method: 'GET' })
      return ((body ?? []) as { log: string }[]).map(({ log }) => log)
    },
    pause: (workflowId) => put(`/workflow/${workflowId}/pause`),
    resume: (workflowId) => put(`/workflow/${workflowId}/resume`),
    terminate: (workflowId, { reason = 'test' } = {}) =>
      drop(`/workflow/${workflowId}?reason=${encodeURIComponent(reason)}`),
    restart: (workflowId) => post(`/workflow/${workflowId}/restart`),
    retry: (workflowId) => post(`/workflow/${workflowId}/retry`),
    rerun: (workflowId, { fromTaskId, taskInput } = {}) =>
      post(`/workflow/${workflowId}/rerun`, { reRunFromTaskId: fromTaskId, taskInput }),
    remove: (workflowId) => drop(`/workflow/${workflowId}/remove?archiveWorkflow=false`),
    skip: (workflowId, name) => put(`/workflow/${workflowId}/skiptask/${name}`, {}),
    requeue: (taskType) => post(`/tasks/queue/requeue/${taskType}`),
    decide: (workflowId) => put(`/workflow/decide/${workflowId}`),
  }
}

function readView(workflowId: WorkflowId, body: unknown): WorkflowView {
  const found = body as {
    workflowName: string
    workflowVersion: number
    correlationId?: string
    parentWorkflowId?: WorkflowId
    startTime: number
    updateTime: number
    status: WorkflowStatus
    input: JsonObject
    output: JsonObject
    reasonForIncompletion?: string
    tasks: unknown[]
  }
  const { status, input, output, reasonForIncompletion, tasks, correlationId } = found
  return {
    ...{ workflowId, name: found.workflowName, version: found.workflowVersion, correlationId },
    ...{ parentId: found.parentWorkflowId, startTimeMs: found.startTime, updateTimeMs: found.updateTime },
    ...{ status, input, output, reasonForIncompletion, tasks: tasks.map(readTaskRecord) },
  }
}
