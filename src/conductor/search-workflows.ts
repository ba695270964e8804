/** Searches for workflows, ended ones too, page by page. */

import { z } from 'zod'
import { InvalidError } from '../base/errors.ts'
import {
  WORKFLOW_STATUSES,
  type QueueCallOptions,
  type WorkflowId,
  type WorkflowStatus,
} from '../worker/ports.ts'
import type { JsonObject } from '../base/json.ts'
import type { ConductorClient } from './client.ts'
import { CONDUCTOR_SEARCH_PAGE } from './limits.ts'
import { readBy } from './task-records.ts'

/** Each narrows the search. */
export interface WorkflowQuery {
  readonly name?: string | undefined
  readonly statuses?: readonly WorkflowStatus[] | undefined
  readonly correlationId?: string | undefined
  /** Started after this time, and before that one. */
  readonly afterMs?: number | undefined
  readonly beforeMs?: number | undefined
}

export interface FoundWorkflow {
  readonly workflowId: WorkflowId
  readonly name: string
  readonly version: number | undefined
  readonly status: WorkflowStatus
  readonly startTimeMs: number
  /** 0 while it has not ended. */
  readonly endTimeMs: number
  readonly correlationId: string | undefined
  readonly reasonForIncompletion: string | undefined
  /** `undefined` where the server does not say. */
  readonly input: JsonObject | undefined
}

export interface FoundWorkflows {
  /** Newest first. */
  readonly workflows: readonly FoundWorkflow[]
  /** False when there are more than were asked for. */
  readonly isWhole: boolean
}

const text = z.string().nullish()
const PAGE = z.object({
  totalHits: z.number().int(),
  results: z.array(
    z.object({
      workflowId: z.string().min(1),
      workflowName: text,
      workflowVersion: z.number().int().nullish(),
      status: z.enum(WORKFLOW_STATUSES),
      startTime: z.number().default(0),
      endTime: z.number().default(0),
      correlationId: text,
      reasonForIncompletion: text,
      input: z.record(z.string(), z.unknown()).nullish().catch(undefined),
    }),
  ),
})

interface FoundPage {
  readonly workflows: readonly FoundWorkflow[]
  readonly total: number
}

export async function searchWorkflows(
  client: ConductorClient,
  asked: WorkflowQuery,
  { max, signal }: QueueCallOptions & { readonly max: number },
): Promise<FoundWorkflows> {
  const query = writeQuery(asked)
  // What starts between two pages moves the rest on by one.
  const found = new Map<WorkflowId, FoundWorkflow>()
  for (let start = 0; ;) {
    const size = Math.min(max - start, CONDUCTOR_SEARCH_PAGE)
    const by = { query, start, size, sort: 'startTime:DESC' }
    const page = await client.call({ operation: 'searchWorkflows', query: by, signal }, readPage)
    const { workflows, total } = page ?? { workflows: [], total: 0 }
    for (const workflow of workflows) found.set(workflow.workflowId, workflow)
    start += workflows.length
    if (workflows.length === 0 || start >= total || start >= max)
      return { workflows: [...found.values()], isWhole: start >= total }
  }
}

/** In the language of the server. */
function writeQuery({ name, statuses, correlationId, afterMs, beforeMs }: WorkflowQuery): string {
  return [
    ...(name === undefined ? [] : [`workflowType=${quoted('name', name)}`]),
    ...(statuses === undefined ? [] : [`status IN (${statuses.join(',')})`]),
    ...(correlationId === undefined ? [] : [`correlationId=${quoted('correlation id', correlationId)}`]),
    ...(afterMs === undefined ? [] : [`startTime>${afterMs}`]),
    ...(beforeMs === undefined ? [] : [`startTime<${beforeMs}`]),
  ].join(' AND ')
}

/** The language has no way to escape a quotation mark, and looks for AND in quoted text too. */
function quoted(what: string, value: string): string {
  if (!/['"()]| AND /i.test(value) && value !== '') return `'${value}'`
  throw new InvalidError('conductor/bad-query', `search by the ${what} ${JSON.stringify(value)}`, {
    next: 'Search for one without quotation marks, parentheses and the word AND.',
  })
}

function readPage(body: unknown): FoundPage {
  const page = readBy(PAGE, body, 'the page')
  return {
    total: page.totalHits,
    workflows: page.results.map((found) => ({
      workflowId: found.workflowId as WorkflowId,
      name: found.workflowName ?? '',
      version: found.workflowVersion ?? undefined,
      status: found.status,
      startTimeMs: found.startTime,
      endTimeMs: found.endTime,
      correlationId: found.correlationId ?? undefined,
      reasonForIncompletion: found.reasonForIncompletion ?? undefined,
      // It was parsed from JSON.
      input: (found.input ?? undefined) as JsonObject | undefined,
    })),
  }
}
