/** Workflows page by page, the newest first. A Conductor has no cursor: a page goes on where the start times of the last one ended. */

import type { Clock } from '../../base/clock.ts'
import type { WorkflowOperator } from '../../conductor/workflows.ts'
import type { FoundWorkflow } from '../../conductor/search-workflows.ts'
import { targetsIn, type BranchTarget } from '../../tasks/branch-targets.ts'
import type { WorkflowStatus } from '../../worker/ports.ts'
import { WORKFLOWS_LOOKED_AT_MAX } from '../limits.ts'

export interface ListWorkflows {
  readonly statuses?: readonly WorkflowStatus[] | undefined
  /** A part of its name, its id or its correlation id. */
  readonly search?: string | undefined
  readonly after?: WorkflowPlace | undefined
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

/** After those that started at this time, as many as this. */
export interface WorkflowPlace {
  readonly startMs: number
  readonly count: number
}

export interface ListedWorkflows {
  readonly items: readonly FoundWorkflow[]
  /** `undefined`: there are no more. */
  readonly next: WorkflowPlace | undefined
}

const LOOKED_AT_ONCE = 100
/** Clocks of servers differ. */
const AHEAD_MS = 86_400_000

export async function listWorkflows(
  operator: Pick<WorkflowOperator, 'search'>,
  { statuses, search, after, limit, signal }: ListWorkflows,
  clock: Clock,
): Promise<ListedWorkflows> {
  const isWanted = matcher(search)
  const items: FoundWorkflow[] = []
  let place = after ?? { startMs: clock.now().getTime() + AHEAD_MS, count: 0 }
  for (let looked = 0; ;) {
    const size = search === undefined ? limit - items.length : LOOKED_AT_ONCE
    const query = { statuses, beforeMs: place.startMs + 1 }
    const { workflows, isWhole } = await operator.search(query, place.count + size, { signal })
    const fresh = workflows.slice(place.count)
    for (const [at, workflow] of fresh.entries()) {
      if (!isWanted(workflow)) continue
      items.push(workflow)
      if (items.length < limit) continue
      const isLast = isWhole && at === fresh.length - 1
      return { items, next: isLast ? undefined : placeAt(workflows, place.count + at) }
    }
    looked += fresh.length
    if (isWhole || fresh.length === 0) return { items, next: undefined }
    place = placeAt(workflows, workflows.length - 1)
    if (looked >= WORKFLOWS_LOOKED_AT_MAX) return { items, next: place }
  }
}

function placeAt(workflows: readonly FoundWorkflow[], at: number): WorkflowPlace {
  const startMs = workflows[at]?.startTimeMs ?? 0
  const same = workflows.slice(0, at + 1).filter((each) => each.startTimeMs === startMs)
  return { startMs, count: same.length }
}

/** The first branch that its input names. */
export function targetOf({ input = {} }: Partial<Pick<FoundWorkflow, 'input'>>): BranchTarget | undefined {
  return targetsIn(input).at(-1)
}

function matcher(search: string | undefined): (workflow: FoundWorkflow) => boolean {
  if (search === undefined) return () => true
  const wanted = search.toLowerCase()
  return ({ name, workflowId, correlationId = '' }) =>
    [name, workflowId, correlationId].some((text) => text.toLowerCase().includes(wanted))
}
