/** One page of the workflows that have not ended, as Conductor writes them. */

import { z } from 'zod'
import type { OpenWorkflow, WorkflowId } from '../worker/ports.ts'
import type { JsonObject } from '../base/json.ts'
import { strangeBody, type ConductorClient } from './client.ts'

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

export async function readOpenPage(
  client: ConductorClient,
  { start, size }: { readonly start: number; readonly size: number },
  signal: AbortSignal | undefined,
): Promise<{ readonly workflows: readonly OpenWorkflow[]; readonly total: number }> {
  const about = 'that have not ended'
  const body = await client.call({
    operation: 'searchWorkflows',
    method: 'GET',
    path: '/api/workflow/search-v2',
    // The newest first: of more than are looked at, the oldest are the least likely to move again.
    query: { query: 'status IN (RUNNING,PAUSED)', start, size, sort: 'startTime:DESC' },
    about,
    signal,
  })
  const read = PAGE.safeParse(body)
  if (!read.success) {
    const [first] = read.error.issues
    const where = `field "${first?.path.join('.') ?? ''}": ${first?.message ?? 'not readable'}`
    throw strangeBody('searchWorkflows', about, `the page cannot be read: ${where}`)
  }
  return {
    total: read.data.totalHits,
    workflows: read.data.results.map((found) => ({
      workflowId: found.workflowId as WorkflowId,
      name: found.workflowName ?? '',
      parentId: (found.parentWorkflowId ?? undefined) as WorkflowId | undefined,
      startTimeMs: found.startTime,
      // It came out of JSON, so JSON is what it is.
      input: (found.input ?? {}) as JsonObject,
      steps: (found.workflowDefinition?.tasks ?? []) as readonly JsonObject[],
    })),
  }
}
