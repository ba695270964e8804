/** One page of the workflows that have not ended, as Conductor writes them. */

import { z } from 'zod'
import type { OpenWorkflow, WorkflowId } from '../worker/ports.ts'
import type { JsonObject } from '../base/json.ts'
import type { ConductorClient } from './client.ts'
import { readBy } from './task-records.ts'

const text = z.string().nullish()
const object = z.record(z.string(), z.unknown())

const PAGE = z.object({
  totalHits: z.number().int(),
  results: z.array(
    z.object({
      workflowId: z.string().min(1),
      workflowName: text,
      parentWorkflowId: text,
      startTime: z.number().default(0),
      input: object.nullish(),
      workflowDefinition: z.object({ tasks: z.array(object).nullish() }).nullish(),
    }),
  ),
})

interface OpenPage {
  readonly workflows: readonly OpenWorkflow[]
  readonly total: number
}

export async function readOpenPage(
  client: ConductorClient,
  { start, size }: { readonly start: number; readonly size: number },
  signal: AbortSignal | undefined,
): Promise<OpenPage> {
  // The newest first: when there are more than are looked at, the oldest are the least likely to move again.
  const query = { query: 'status IN (RUNNING,PAUSED)', start, size, sort: 'startTime:DESC' }
  const page = await client.call({ operation: 'searchWorkflows', query, signal }, readPage)
  return page ?? { workflows: [], total: 0 }
}

function readPage(body: unknown): OpenPage {
  const page = readBy(PAGE, body, 'the page')
  return {
    total: page.totalHits,
    workflows: page.results.map((found) => ({
      workflowId: found.workflowId as WorkflowId,
      name: found.workflowName ?? '',
      parentId: (found.parentWorkflowId ?? undefined) as WorkflowId | undefined,
      startTimeMs: found.startTime,
      // It was parsed from JSON.
      input: (found.input ?? {}) as JsonObject,
      steps: (found.workflowDefinition?.tasks ?? []) as readonly JsonObject[],
    })),
  }
}
