/** A start that may be sent again: its id is made from the sender's key, so that the store decides which one is first. */

import { createHash } from 'node:crypto'
import { RefusedError, isPeragoError } from '../../base/errors.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { Graph } from '../graph/graph.ts'
import type { WorkflowStartRequest } from '../protocol/control.ts'
import type { ExecutionStore } from './execution-store.ts'

/** By name, or of a graph that need not be registered. */
export type OneStart =
  WorkflowStartRequest | (Omit<WorkflowStartRequest, 'name' | 'version'> & { readonly graph: Graph })

export interface StartedAs {
  readonly workflowId: WorkflowId
  /** The digest of the request, stored with the execution. */
  readonly request: string
}

export interface StartedOnce {
  readonly workflowId: WorkflowId
  /** `false`: an earlier request with this key started it. */
  readonly isNew: boolean
}

/** Throws `engine/idempotency-conflict` where the key was used for another start. */
export async function startOnce(
  { store, steps: { tenant } }: { readonly store: ExecutionStore; readonly steps: StepWriter },
  { key, request }: { readonly key: string; readonly request: OneStart },
  start: (as: StartedAs) => Promise<WorkflowId>,
): Promise<StartedOnce> {
  const as: StartedAs = { workflowId: idOf([tenant ?? null, key]), request: digestOf(withoutTrace(request)) }
  const { workflowId } = as
  const known = await store.readRequest(workflowId)
  if (known !== undefined) return requireSame(as, known)
  try {
    return { workflowId: await start(as), isNew: true }
  } catch (error) {
    if (!isPeragoError(error) || error.code !== 'core/execution-exists') throw error
    return requireSame(as, await store.readRequest(workflowId))
  }
}

function requireSame({ workflowId, request }: StartedAs, known: string | undefined): StartedOnce {
  if (known === request) return { workflowId, isNew: false }
  const why = known === undefined ? 'its execution was removed' : 'it was used for another start'
  throw new RefusedError('engine/idempotency-conflict', `start under an idempotency key: ${why}`, {
    details: { workflowId },
    next: 'Use a new key for another start.',
  })
}

/** In the form of other ids of executions. */
function idOf(parts: readonly (string | null)[]): WorkflowId {
  const digits = digestOf(parts)
  const cut = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(12, 15)}`]
  return [...cut, `8${digits.slice(15, 18)}`, digits.slice(18, 30)].join('-') as WorkflowId
}

/** Sent again, the same start belongs to another span. */
function withoutTrace(request: OneStart): object {
  return { ...request, traceparent: undefined }
}

function digestOf(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
