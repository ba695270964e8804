/** The part of Conductor's search language that is answered: conditions on few fields, all of which must hold. */

import { InvalidError } from '../../base/errors.ts'
import { WORKFLOW_STATUSES, type WorkflowStatus } from '../../worker/ports.ts'

export interface SearchQuery {
  readonly name?: string
  readonly statuses?: readonly WorkflowStatus[]
  readonly correlationId?: string
  readonly afterMs?: number
  readonly beforeMs?: number
}

const STATUSES: readonly string[] = WORKFLOW_STATUSES

/** Throws `api/bad-parameter` for what is not answered, so that nothing is left out unsaid. */
export function parseSearch(query: string): SearchQuery {
  const conditions = query.split(/ AND /i).map((condition) => condition.trim())
  return conditions
    .filter((each) => each !== '')
    .reduce<SearchQuery>((search, each) => ({ ...search, ...parse(each, query) }), {})
}

function parse(condition: string, query: string): SearchQuery {
  const [, field = '', operator = '', given = ''] = /^(\w+)\s*(=|<|>|\bIN\b)\s*(.+)$/i.exec(condition) ?? []
  const values = /^IN$/i.test(operator) ? listed(given) : [unquoted(given)]
  const [value] = values ?? []
  const timeMs = Number(value)
  if (values === undefined || value === undefined) throw notAnswered(query)
  if (field === 'status' && values.every((each) => STATUSES.includes(each)))
    return { statuses: values as readonly WorkflowStatus[] }
  if (field === 'startTime' && Number.isFinite(timeMs) && operator === '>') return { afterMs: timeMs }
  if (field === 'startTime' && Number.isFinite(timeMs) && operator === '<') return { beforeMs: timeMs }
  if (values.length === 1 && operator !== '<' && operator !== '>') {
    if (field === 'workflowType') return { name: value }
    if (field === 'correlationId') return { correlationId: value }
  }
  throw notAnswered(query)
}

function listed(given: string): readonly string[] | undefined {
  const [, inside] = /^\((.*)\)$/.exec(given) ?? []
  return inside?.split(',').map((each) => unquoted(each.trim()))
}

function unquoted(given: string): string {
  return /^(?:'(.*)'|"(.*)")$/.exec(given)?.slice(1).join('') ?? given
}

function notAnswered(query: string): InvalidError {
  return new InvalidError('api/bad-parameter', `search for workflows by ${JSON.stringify(query)}`, {
    next: 'Search by "workflowType", "status", "correlationId" and "startTime" with =, IN, < and >, joined by AND.',
  })
}
