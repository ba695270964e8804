/** A search of Conductor's over the executions of an engine, ended ones too, the newest first. */

import { defined } from '../../base/defined.ts'
import type { ExecutionReader, ListedExecution } from '../../engine/host/execution-list.ts'
import { isWorkflowOpen } from '../../engine/protocol/state.ts'
import { SERVED_SEARCH_PAGES_MAX } from '../limits.ts'
import type { SearchQuery } from './search-query.ts'

/** Executions looked at for one step of a search. */
const SERVED_SEARCH_LOOK = 100

export interface SearchPage {
  readonly start: number
  readonly size: number
}

export async function searchExecutions(
  reader: Pick<ExecutionReader, 'list'>,
  query: SearchQuery,
  { start, size }: SearchPage,
): Promise<object> {
  const wanted = start + size
  const found: ListedExecution[] = []
  let after: string | undefined
  let isMore = false
  for (let pages = 0; pages < SERVED_SEARCH_PAGES_MAX && found.length <= wanted; pages++) {
    const page = await reader.list({ limit: Math.max(size, SERVED_SEARCH_LOOK), name: query.name, after })
    found.push(...page.executions.filter((execution) => matches(execution, query)))
    after = page.next
    // The newest first: nothing that follows is newer.
    const last = page.executions.at(-1)
    isMore = after !== undefined && (last?.createdMs ?? Infinity) > (query.afterMs ?? -1)
    if (!isMore) break
  }
  const results = found.slice(start, wanted).map(renderFound)
  return { totalHits: found.length + (isMore ? 1 : 0), results }
}

function matches(execution: ListedExecution, query: SearchQuery): boolean {
  const { statuses, correlationId, afterMs = -1, beforeMs = Infinity } = query
  const { status, createdMs } = execution
  return (
    (statuses === undefined || statuses.includes(status)) &&
    (correlationId === undefined || correlationId === execution.correlationId) &&
    createdMs > afterMs &&
    createdMs < beforeMs
  )
}

function renderFound(execution: ListedExecution): object {
  const { workflowId, name, version, status, createdMs, updatedMs } = execution
  const { correlationId, reasonForIncompletion, input } = execution
  return {
    ...{ workflowId, workflowName: name, workflowVersion: version, status },
    ...{ startTime: createdMs, updateTime: updatedMs, endTime: isWorkflowOpen(status) ? 0 : updatedMs },
    ...defined({ correlationId, reasonForIncompletion, input }),
  }
}
