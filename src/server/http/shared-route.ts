/** What the units of an execution share, over HTTP. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { VARIABLE_NAME_MAX_CHARS } from '../../core/limits.ts'
import type { ListedVariable } from '../../core/variables/list-variables.ts'
import { findSharers, type Sharers } from '../../engine/definitions/graph-sharers.ts'
import type { WorkflowId } from '../../worker/ports.ts'
import type { Engines } from '../../runtime/engines.ts'
import type { Executions, OpenedExecution } from '../../runtime/host.ts'
import { requireRight } from '../access/callers.ts'
import { API_PAGE_MAX_SHARED, API_PAGE_SHARED } from '../limits.ts'
import type { HttpEnvironment } from './environment.ts'
import { listVariables, showWriter } from './read-execution.ts'
import { once, readQuery, wholeNumber } from './read-request.ts'

interface SharedRouteParts {
  readonly executions: Executions
  /** `undefined`: this server runs no executions. */
  readonly engines: Engines | undefined
}

const PREFIX = 'shared.'
const NAME = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+$/
const NOBODY: Sharers = { setBy: [], usedBy: [], isUsedAtEnd: false }

export function addSharedRoute(app: Hono<HttpEnvironment>, { executions, engines }: SharedRouteParts): void {
  app.get('/executions/:execution/shared', async (asked) => {
    const { after, limit = API_PAGE_SHARED } = readQuery(asked.req.url, {
      after: once(z.string()),
      limit: once(wholeNumber({ least: 1, most: API_PAGE_MAX_SHARED })),
    })
    const caller = asked.get('caller')
    requireRight(caller, 'read events and variables')
    const id = asked.req.param('execution')
    const execution = await executions.open({ tenant: caller.tenant, execution: id })
    const { reader } = (await engines?.of(caller.tenant)) ?? {}
    // One that a program started has no graph.
    const graph = (await reader?.read(id as WorkflowId))?.graph
    const sharers = graph === undefined ? new Map<string, Sharers>() : findSharers(graph)
    const stored = await listVariables(execution, { prefix: PREFIX, limit, ...defined({ after }) })
    const { page, next } = merge(stored, { sharers, after, limit })
    return asked.json({
      values: await Promise.all(page.map((one) => show(execution, one, sharers))),
      ...defined({ next_after: next }),
    })
  })
}

type Listed = Pick<ListedVariable, 'name'> & Partial<ListedVariable>

/** The stored values, and between them the names that the graph knows and nobody has set. */
function merge(
  { variables, next_after: last }: Awaited<ReturnType<typeof listVariables>>,
  asked: {
    readonly sharers: ReadonlyMap<string, Sharers>
    readonly after: string | undefined
    readonly limit: number
  },
): { readonly page: readonly Listed[]; readonly next: string | undefined } {
  const { sharers, after = '', limit } = asked
  const stored = new Set(variables.map(({ name }) => name))
  const open = [...sharers.keys()]
    .map((name) => PREFIX + name)
    // A graph may use what no variable can be named.
    .filter((name) => NAME.test(name) && name.length <= VARIABLE_NAME_MAX_CHARS)
    .filter((name) => name > after && (last === undefined || name < last) && !stored.has(name))
    .map((name): Listed => ({ name }))
  const all = [...variables, ...open].sort((one, other) => (one.name < other.name ? -1 : 1))
  const page = all.slice(0, limit)
  return { page, next: all.length > limit ? page.at(-1)?.name : last }
}

async function show(
  { variables }: OpenedExecution,
  listed: Listed,
  sharers: ReadonlyMap<string, Sharers>,
): Promise<object> {
  const { setBy, usedBy, isUsedAtEnd } = sharers.get(listed.name.slice(PREFIX.length)) ?? NOBODY
  const write = listed.value === undefined ? undefined : (await variables.history(listed.name)).writes[0]
  return {
    ...listed,
    ...(write !== undefined && { written: { ...defined({ at: write.at }), by: showWriter(write) } }),
    ...{ set_by: setBy, used_by: usedBy, used_at_end: isUsedAtEnd },
  }
}
