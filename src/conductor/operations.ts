/**
 * The table of Conductor: every request perago sends it, and what its responses mean.
 *
 * Conductor answers 500 to malformed requests as well as to its own trouble, so the status alone does not tell. The
 * `retryable` in its body was false in every case seen; it therefore means "do not repeat the same request blindly" and
 * never "nothing happened".
 *
 * The operations are checked against `openapi/conductor.yaml` by the compiler and by a test, and are shown in
 * `operations.md`.
 */

import type { FailureRow, OperationRow, ServerTable, Answer } from '../remote/server-table.ts'
import type { operations } from './generated/conductor-api.ts'

/** Renewing a lease is the same request as posting a result, with another promise. */
export interface ConductorContract extends operations {
  readonly extendLease: operations['updateTask']
}

export type OperationName = keyof ConductorContract

const MISSING = { 404: 'missing' } as const

export const OPERATIONS = {
  createToken: {
    doing: 'trade the key for a token',
    method: 'POST',
    path: '/api/token',
    class: 'safe',
    values: MISSING,
  },
  pollTasks: {
    doing: 'poll for tasks',
    method: 'GET',
    path: '/api/tasks/poll/batch/{taskType}',
    // A task in an answer that was lost is in progress under the worker id of this poll, and no request lists it. The
    // server offers it again after its response timeout.
    class: 'look-before-repeat',
    read: 'nothing: a task that was handed out comes back after its response timeout',
    isPacedByCaller: true,
  },
  getPollData: {
    doing: 'ask when the task type was polled last',
    method: 'GET',
    path: '/api/tasks/queue/polldata',
    class: 'safe',
  },
  getAllPollData: {
    doing: 'ask when each task type was polled last',
    method: 'GET',
    path: '/api/tasks/queue/polldata/all',
    class: 'safe',
  },
  getQueueSizes: {
    doing: 'ask how many tasks wait in each queue',
    method: 'GET',
    path: '/api/tasks/queue/all',
    class: 'safe',
  },
  getTask: {
    doing: 'read the task',
    method: 'GET',
    path: '/api/tasks/{taskId}',
    class: 'safe',
    values: MISSING,
  },
  getWorkflow: {
    doing: 'read the workflow',
    method: 'GET',
    path: '/api/workflow/{workflowId}',
    class: 'safe',
    values: MISSING,
  },
  searchWorkflows: {
    doing: 'search for workflows',
    method: 'GET',
    path: '/api/workflow/search-v2',
    class: 'safe',
  },
  updateTask: {
    doing: 'post the result of the task',
    method: 'POST',
    path: '/api/tasks',
    class: 'look-before-repeat',
    // It counts for whoever has the task by then, so each sending comes after a reading of the attempt.
    read: 'the task: whether it has ended, under which worker id and with which output',
    values: MISSING,
    body: 'text',
    isSentOnce: true,
  },
  extendLease: {
    doing: 'renew the lease of the task',
    method: 'POST',
    path: '/api/tasks',
    // A late renewal may undo a completion: only one may be running, and one whose response was lost may still be.
    class: 'look-before-repeat',
    read: 'the task: its update time moves when the renewal arrives, which may be later',
    values: MISSING,
    body: 'text',
    isPacedByCaller: true,
  },
  addTaskLog: {
    doing: 'add a line to the log of the task',
    method: 'POST',
    path: '/api/tasks/{taskId}/log',
    class: 'look-before-repeat',
    read: 'the log of the task, if a line that is written twice does harm',
    body: 'none',
  },
  startWorkflow: {
    doing: 'start the workflow',
    method: 'POST',
    path: '/api/workflow',
    class: 'look-before-repeat',
    read: 'the workflows with your correlation id; the server ignores idempotency keys',
    values: MISSING,
    body: 'text',
  },
  terminateWorkflow: {
    doing: 'terminate the workflow',
    method: 'DELETE',
    path: '/api/workflow/{workflowId}',
    class: 'idempotent',
    read: 'the workflow',
    values: MISSING,
    body: 'none',
  },
  pauseWorkflow: {
    doing: 'pause the workflow',
    method: 'PUT',
    path: '/api/workflow/{workflowId}/pause',
    class: 'idempotent',
    read: 'the workflow',
    values: MISSING,
    body: 'none',
  },
  resumeWorkflow: {
    doing: 'resume the workflow',
    method: 'PUT',
    path: '/api/workflow/{workflowId}/resume',
    // A repetition after a success is answered with an error.
    class: 'look-before-repeat',
    read: 'the workflow: whether it is paused',
    values: MISSING,
    body: 'none',
  },
  retryWorkflow: {
    doing: 'retry the workflow',
    method: 'POST',
    path: '/api/workflow/{workflowId}/retry',
    class: 'look-before-repeat',
    read: 'the workflow: whether it runs',
    values: MISSING,
    body: 'none',
  },
  rerunWorkflow: {
    doing: 'run the workflow again from a task',
    method: 'POST',
    path: '/api/workflow/{workflowId}/rerun',
    class: 'look-before-repeat',
    read: 'the workflow: whether it runs',
    values: MISSING,
    body: 'text',
  },
  getTaskLog: {
    doing: 'read the log of the task',
    method: 'GET',
    path: '/api/tasks/{taskId}/log',
    class: 'safe',
  },
  getTaskDef: {
    doing: 'read the task definition',
    method: 'GET',
    path: '/api/metadata/taskdefs/{name}',
    class: 'safe',
    values: MISSING,
  },
  registerTaskDefs: {
    doing: 'register the task definitions',
    method: 'POST',
    path: '/api/metadata/taskdefs',
    class: 'idempotent',
    read: 'the task definitions',
    body: 'none',
  },
  updateTaskDef: {
    doing: 'replace the task definition',
    method: 'PUT',
    path: '/api/metadata/taskdefs',
    class: 'idempotent',
    read: 'the task definition',
    values: MISSING,
    body: 'none',
  },
  getWorkflowDef: {
    doing: 'read the workflow definition',
    method: 'GET',
    path: '/api/metadata/workflow/{name}',
    class: 'safe',
    values: MISSING,
  },
  registerWorkflowDef: {
    doing: 'register the workflow definition',
    method: 'POST',
    path: '/api/metadata/workflow',
    // A repetition after a success fails with "exists already", as if another client had been faster.
    class: 'look-before-repeat',
    read: 'the workflow definition of that version',
    body: 'none',
  },
  updateWorkflowDefs: {
    doing: 'replace the workflow definitions',
    method: 'PUT',
    path: '/api/metadata/workflow',
    class: 'idempotent',
    read: 'the workflow definitions',
  },
  getHealth: {
    doing: 'ask for the health of the server',
    method: 'GET',
    path: '/health',
    class: 'safe',
  },
  getVersion: {
    doing: 'ask for the version of the server',
    method: 'GET',
    path: '/api/version',
    class: 'safe',
    body: 'text',
  },
} as const satisfies Readonly<Record<OperationName, OperationRow>>

export type ConductorRows = typeof OPERATIONS

const TRY_LATER = 'Try again later; nothing was done.'
const READ_FIRST = 'Before trying again, read ….'

const NOT_CONDUCTOR: FailureRow = {
  kind: 'invalid',
  code: 'conductor/not-conductor',
  next: 'Check the endpoint: it must be the API of a Conductor server, and no proxy may answer in its place.',
}

export const CONDUCTOR: ServerTable<OperationName> = {
  server: 'Conductor',
  retryLogLevel: 'warn',
  operations: OPERATIONS,
  done: [200, 204],
  statuses: {
    400: { kind: 'invalid', code: 'conductor/bad-request', next: 'Correct what the server names.' },
    401: { kind: 'refused', code: 'conductor/unauthorized', next: 'Check the key id and the key secret.' },
    403: { kind: 'refused', code: 'conductor/forbidden', next: 'Check what the key may do.' },
    404: NOT_CONDUCTOR,
    405: NOT_CONDUCTOR,
    408: { kind: 'unavailable', code: 'conductor/request-timeout', next: TRY_LATER },
    409: {
      kind: 'refused',
      code: 'conductor/conflict',
      next: 'Read the present state and decide again.',
    },
    413: {
      kind: 'invalid',
      code: 'conductor/payload-refused',
      next: 'Pass a reference instead of the data.',
    },
    429: { kind: 'unavailable', code: 'conductor/too-many-requests', next: TRY_LATER },
  },
  badRequest: { kind: 'invalid', code: 'conductor/bad-request', next: 'Correct what the server names.' },
  wrongServer: NOT_CONDUCTOR,
  unreachable: {
    kind: 'unavailable',
    code: 'conductor/unreachable',
    next: 'Check the endpoint and that the server is running.',
  },
  safe: {
    trouble: {
      kind: 'unavailable',
      code: 'conductor/server-trouble',
      next: 'Try again; if it stays, read the server log.',
    },
    answerLost: { kind: 'unavailable', code: 'conductor/answer-lost', next: 'Try again.' },
    notHttp: NOT_CONDUCTOR,
  },
  unsafe: {
    // Not even 503 means that nothing was done: a proxy says it, too, when the server broke off in the middle.
    trouble: { kind: 'uncertain', code: 'conductor/server-trouble', next: READ_FIRST },
    answerLost: { kind: 'uncertain', code: 'conductor/answer-lost', next: READ_FIRST },
    unknownAnswer: { kind: 'uncertain', code: 'conductor/unknown-answer', next: READ_FIRST },
  },
  closed: 'conductor/client-closed',
  // Only Conductor itself can say that something is gone, or that a request is wrong.
  isOwnRefusal: (answer) => OF_ANY_SERVER.has(answer.status) || readRefusal(answer) !== undefined,
  messageOf: (answer) => readRefusal(answer)?.message,
  exception(operation, answer) {
    const { status } = answer
    const row: OperationRow = OPERATIONS[operation]
    const refusal = readRefusal(answer)
    if (status >= 500) return refusal?.isRetryable === false ? notRetryable(row) : undefined
    if (status === 408) return row.class === 'safe' ? undefined : requestTimeout(row)
    // A route that does not exist is answered in the same shape. A server without access control has none for tokens;
    // anywhere else it means that the address is wrong, not that the task is gone.
    const isRoute = refusal?.message.startsWith('No static resource') === true
    const isConductor = refusal !== undefined && status !== 405 && !isRoute
    const isVerdict = isConductor || status < 400 || OF_ANY_SERVER.has(status)
    if (operation === 'updateTask' && !isVerdict) return NO_VERDICT
    return status === 404 && isRoute && operation !== 'createToken' ? NOT_CONDUCTOR : undefined
  },
}

/** A proxy may answer these in Conductor's place, and means the same. */
const OF_ANY_SERVER: ReadonlySet<number> = new Set([401, 403, 408, 409, 429])

/**
 * `undefined`: as any other trouble. Conductor says so while its database is away, too, so a read is tried again; a result
 * may have been stored before the server failed on what comes after it.
 */
function notRetryable(row: OperationRow): FailureRow | undefined {
  if (row.class === 'safe') return undefined
  return row.class === 'look-before-repeat'
    ? {
        kind: 'uncertain',
        code: 'conductor/not-retryable',
        next: `Before trying again, read ${row.read}. The same request may fail in the same way.`,
      }
    : {
        kind: 'invalid',
        code: 'conductor/not-retryable',
        next: 'Correct what the server names, or read its log.',
      }
}

/** A proxy says it, too, when it has passed the request on. */
function requestTimeout({ read }: Extract<OperationRow, { readonly read: string }>): FailureRow {
  return { kind: 'uncertain', code: 'conductor/request-timeout', next: `Before trying again, read ${read}.` }
}

/** Somebody answered in Conductor's place, so the result is neither refused nor known to have arrived. */
const NO_VERDICT: FailureRow = {
  kind: 'uncertain',
  code: 'conductor/not-conductor',
  next: `Check the endpoint, and what answers in Conductor's place. Before trying again, read ${OPERATIONS.updateTask.read}.`,
}

/** A refusal in Conductor's own shape. */
function readRefusal({
  json,
}: Answer): { readonly message: string; readonly isRetryable: boolean } | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { message, retryable, validationErrors } = json as Record<string, unknown>
  if (typeof message !== 'string' || typeof retryable !== 'boolean') return undefined
  const details = Array.isArray(validationErrors)
    ? validationErrors.map((entry: { message?: unknown } | null) => String(entry?.message)).join('; ')
    : ''
  return { message: details === '' ? message : details, isRetryable: retryable }
}
