/** Lists of the variables of one execution, by name: whole, or by page. */

import { InvalidError, RefusedError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { turnToBegin } from '../../base/turns.ts'
import {
  READ_PORTION_ENTRIES,
  STORE_PAGE_ENTRIES,
  VARIABLE_NAME_MAX_CHARS,
  VARIABLE_PAGE_MAX_BYTES,
  VARIABLES_LISTED_MAX,
  VARIABLES_PER_PAGE,
  VARIABLES_PER_PAGE_MAX,
} from '../limits.ts'
import { parseVariableName, show } from '../namespaces/names.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import { readPages, readRangePages } from '../read-pages.ts'
import { decodeVariable } from './variable-writes.ts'

export interface VariableFilter {
  /** Only names that begin with this, such as `shared.`. */
  readonly prefix?: string
  /** Only names behind this one: `next` of the page before. */
  readonly after?: string
  /** The most variables of the page, by default 100, at most 1000. */
  readonly limit?: number
}

export interface ListedVariable {
  readonly name: string
  readonly value: Json
}

/** A page of large values has fewer of them. Only a page without `next` is the last one. */
export interface VariablePage {
  readonly variables: readonly ListedVariable[]
  /** The `after` of the next page. */
  readonly next: string | undefined
}

/** Throws `core/too-many-variables`. */
export async function listVariables(
  { scope }: BoundScope,
  namespace: string | undefined,
): Promise<Readonly<Record<string, Json>>> {
  const { store, keys } = scope
  const found: [string, Json][] = []
  const inNamespace = namespace === undefined ? '' : `${parseVariableName(`${namespace}.any`).namespace}.`
  const prefix = keys.variables + inNamespace
  for await (const page of readPages(store, { prefix, limit: READ_PORTION_ENTRIES })) {
    for (const entry of page) found.push([entry.key.slice(keys.variables.length), decodeVariable(entry)])
    if (found.length > VARIABLES_LISTED_MAX) {
      throw new RefusedError(
        'core/too-many-variables',
        `list variables: there are more than ${VARIABLES_LISTED_MAX}`,
        { next: 'List them by page, or one namespace.' },
      )
    }
  }
  return Object.freeze(Object.fromEntries(found))
}

/** Throws `core/bad-filter` or `core/bad-variable-name`. */
export async function listVariablePage(
  { scope }: BoundScope,
  filter: VariableFilter = {},
): Promise<VariablePage> {
  const { prefix, after, limit } = checkFilter(filter)
  const { store, keys } = scope
  const variables: ListedVariable[] = []
  // A name behind all that begin with the prefix.
  if (after !== undefined && after > prefix && !after.startsWith(prefix)) return pageOf(variables)
  const range = {
    prefix: keys.variables + prefix,
    after: after === undefined ? undefined : keys.variables + after,
    first: Math.min(limit, STORE_PAGE_ENTRIES),
    limit: Math.min(limit, READ_PORTION_ENTRIES),
  }
  let bytes = 0
  await turnToBegin()
  for await (const { entries, next } of readRangePages(store, range)) {
    for (const [at, entry] of entries.entries()) {
      variables.push({ name: entry.key.slice(keys.variables.length), value: decodeVariable(entry) })
      bytes += entry.value.byteLength
      const isFull = variables.length >= limit || bytes >= VARIABLE_PAGE_MAX_BYTES
      const isLast = at === entries.length - 1 && next === undefined
      if (isFull && !isLast) return pageOf(variables, variables.at(-1)?.name)
    }
  }
  return pageOf(variables)
}

function pageOf(variables: readonly ListedVariable[], next?: string): VariablePage {
  return Object.freeze({ variables: Object.freeze(variables), next })
}

const PREFIX = /^[A-Za-z0-9_.-]*$/

function checkFilter({ prefix = '', after, limit = VARIABLES_PER_PAGE }: VariableFilter) {
  if (typeof prefix !== 'string' || !PREFIX.test(prefix) || prefix.length > VARIABLE_NAME_MAX_CHARS) {
    throw bad('prefix', show(prefix), `at most ${VARIABLE_NAME_MAX_CHARS} letters, digits, "_", "-" and "."`)
  }
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= VARIABLES_PER_PAGE_MAX)) {
    throw bad('limit', String(limit), `a whole number from 1 to ${VARIABLES_PER_PAGE_MAX}`)
  }
  return { prefix, limit, after: after === undefined ? undefined : parseVariableName(after).full }
}

function bad(what: string, found: string, rule: string): InvalidError {
  return new InvalidError(
    'core/bad-filter',
    `read ${found} as the ${what} of a list of variables: it must be ${rule}`,
    { next: 'Correct the filter.' },
  )
}
