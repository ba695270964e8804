/**
 * Every request perago makes of Conductor, and what may be done when its answer does not arrive.
 *
 * - `safe`: reads only. Repeated freely.
 * - `idempotent`: saying it twice is like saying it once. Repeated; `read` tells what to look at when the last answer
 *   was lost as well.
 * - `look-before-repeat`: a repetition could do harm or lie. Never repeated once the server may have seen it: the caller
 *   is told what to read.
 *
 * The table is held to `openapi/conductor.yaml` by the compiler and shown in `operations.md`.
 */

import type { operations } from './generated/conductor-api.ts'

/** Renewing a lease is the same request as posting a result, and quite another promise. */
export type OperationName = keyof operations | 'extendLease'

interface RowBase {
  readonly doing: string
  /** What a 404 that names the thing means: a value for the caller, or the wrong server. */
  readonly on404: 'missing' | 'not-conductor'
  /** What the body of a 200 must look like; anything else came from somebody else. */
  readonly answers: 'json' | 'text' | 'nothing'
  /**
   * The caller asks again and again in a rhythm of his own, and must know at once when it does not work: nothing is
   * repeated here.
   */
  readonly isPacedByCaller: boolean
}

export type OperationRow =
  | (RowBase & { readonly class: 'safe' })
  | (RowBase & {
      readonly class: 'idempotent' | 'look-before-repeat'
      /** What shows whether the request took effect. */
      readonly read: string
    })

export const OPERATIONS = {
  createToken: {
    doing: 'trade the key for a token',
    class: 'safe',
    on404: 'missing',
    answers: 'json',
    isPacedByCaller: false,
  },
  pollTasks: {
    doing: 'poll for tasks',
    // What was handed out in an answer that got lost is in progress under the worker id of this poll, and nobody can list
    // it. It comes back by itself.
    class: 'look-before-repeat',
    read: 'nothing: a task that was handed out comes back after its response timeout',
    on404: 'not-conductor',
    answers: 'json',
    isPacedByCaller: true,
  },
  getTask: {
    doing: 'read the task',
    class: 'safe',
    on404: 'missing',
    answers: 'json',
    isPacedByCaller: false,
  },
  getWorkflow: {
    doing: 'read the workflow',
    class: 'safe',
    on404: 'missing',
    answers: 'json',
    isPacedByCaller: false,
  },
  searchWorkflows: {
    doing: 'search for workflows',
    class: 'safe',
    on404: 'not-conductor',
    answers: 'json',
    isPacedByCaller: false,
  },
  updateTask: {
    doing: 'post the result of the task',
    class: 'look-before-repeat',
    read: 'the task: whether it has ended, under which worker id and with which output',
    on404: 'missing',
    answers: 'text',
    isPacedByCaller: false,
  },
  extendLease: {
    doing: 'renew the lease of the task',
    // Saying it twice would be harmless, were it not that a renewal on its way may undo a completion: at most one may be
    // in flight, and one whose answer is lost may still be.
    class: 'look-before-repeat',
    read: 'the task: its update time moves when the renewal arrives, which may be later',
    on404: 'missing',
    answers: 'text',
    isPacedByCaller: true,
  },
  addTaskLog: {
    doing: 'add a line to the log of the task',
    class: 'look-before-repeat',
    read: 'the log of the task, if a line that stands there twice does harm',
    on404: 'not-conductor',
    answers: 'nothing',
    isPacedByCaller: false,
  },
  startWorkflow: {
    doing: 'start the workflow',
    class: 'look-before-repeat',
    read: 'the workflows with your correlation id; the server ignores idempotency keys',
    on404: 'missing',
    answers: 'text',
    isPacedByCaller: false,
  },
  terminateWorkflow: {
    doing: 'terminate the workflow',
    class: 'idempotent',
    read: 'the workflow',
    on404: 'missing',
    answers: 'nothing',
    isPacedByCaller: false,
  },
  getTaskDef: {
    doing: 'read the task definition',
    class: 'safe',
    on404: 'missing',
    answers: 'json',
    isPacedByCaller: false,
  },
  registerTaskDefs: {
    doing: 'register the task definitions',
    class: 'idempotent',
    read: 'the task definitions',
    on404: 'not-conductor',
    answers: 'nothing',
    isPacedByCaller: false,
  },
  updateTaskDef: {
    doing: 'replace the task definition',
    class: 'idempotent',
    read: 'the task definition',
    on404: 'missing',
    answers: 'nothing',
    isPacedByCaller: false,
  },
  getWorkflowDef: {
    doing: 'read the workflow definition',
    class: 'safe',
    on404: 'missing',
    answers: 'json',
    isPacedByCaller: false,
  },
  registerWorkflowDef: {
    doing: 'register the workflow definition',
    // Repeated after it was done it is answered "there already", as if somebody else had been quicker.
    class: 'look-before-repeat',
    read: 'the workflow definition of that version',
    on404: 'not-conductor',
    answers: 'nothing',
    isPacedByCaller: false,
  },
  updateWorkflowDefs: {
    doing: 'replace the workflow definitions',
    class: 'idempotent',
    read: 'the workflow definitions',
    on404: 'not-conductor',
    answers: 'json',
    isPacedByCaller: false,
  },
  getHealth: {
    doing: 'ask for the health of the server',
    class: 'safe',
    on404: 'not-conductor',
    answers: 'json',
    isPacedByCaller: false,
  },
  getVersion: {
    doing: 'ask for the version of the server',
    class: 'safe',
    on404: 'not-conductor',
    answers: 'text',
    isPacedByCaller: false,
  },
} as const satisfies Readonly<Record<OperationName, OperationRow>>

export function operationRow(name: OperationName): OperationRow {
  return OPERATIONS[name]
}
