/** What stands behind the `?`. A parameter that is not known is refused: a filter that is spelt wrong would list too much. */

import { InvalidError } from '../../base/errors.ts'
import { API_PAGE_EVENTS, API_PAGE_MAX_EVENTS } from '../limits.ts'
import { API_TYPES_MAX } from '../../webhooks/limits.ts'
import { suggest } from '../../base/suggestion.ts'
import type { EventFilter } from '../../core/events/event-filter.ts'
import type { SourceKind } from '../../core/events/event-types.ts'

/** As much of a request as is read here. */
interface Asked {
  readonly req: { readonly url: string; header(name: string): string | undefined }
}

/** Reads the parameters that an operation knows. Throws `api/bad-parameter`. */
export class Parameters {
  readonly #given: URLSearchParams

  constructor(url: string, known: readonly string[]) {
    this.#given = new URL(url).searchParams
    for (const name of this.#given.keys()) {
      if (known.includes(name)) continue
      const near = suggest(name, known)
      const hint = near === undefined ? '' : `; "${near}" may be meant`
      throw bad(name, `there is none${hint}`)
    }
  }

  text(name: string): string | undefined {
    const values = this.#given.getAll(name)
    if (values.length > 1) throw bad(name, 'it is given more than once')
    return values[0]
  }

  list(name: string, countMax: number): readonly string[] | undefined {
    const values = this.#given.getAll(name)
    if (values.length > countMax) throw bad(name, `it is given more than ${countMax} times`)
    return values.length === 0 ? undefined : values
  }

  whole(name: string, range: { readonly least: number; readonly most: number }): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    return readWhole(name, text, range)
  }

  choice<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const found = choices.find((choice) => choice === text)
    if (found === undefined) throw bad(name, `it is one of ${choices.join(', ')}`)
    return found
  }
}

/** For operations that know none. Throws `api/bad-parameter`. */
export function takeNoParameters({ req }: Asked): void {
  new Parameters(req.url, [])
}

function readWhole(
  name: string,
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  if (number >= least && number <= most) return number
  throw bad(name, `it is a whole number from ${least} to ${most}`)
}

/** The sender's own name for what it sends. Throws `api/bad-parameter`. */
export function readIdempotencyKey({ req }: Asked): string | undefined {
  const key = req.header('idempotency-key')
  if (key === undefined || /^[!-~]{1,256}$/.test(key)) return key
  throw bad('Idempotency-Key', 'it has 1 to 256 visible characters of ASCII')
}

/** The last sequence number that a follower had. Throws `api/bad-parameter`. */
export function readLastEventId({ req }: Asked): number | undefined {
  const last = req.header('last-event-id')
  if (last === undefined || last === '') return undefined
  if (/^\d{1,15}$/.test(last)) return Number(last)
  throw bad('Last-Event-ID', 'it is a sequence number')
}

const SOURCE_TYPES = ['pipeline', 'node', 'task', 'external'] as const satisfies readonly SourceKind[]

/** The filter of a query, its page included. What the values mean is checked where they are used. */
export function readEventFilter(url: string): EventFilter & { readonly limit: number } {
  const known = ['type', 'source_type', 'source_id', 'from', 'to', 'order', 'after', 'limit']
  const given = new Parameters(url, known)
  const types = given.list('type', API_TYPES_MAX)
  const entityType = given.choice('source_type', SOURCE_TYPES)
  const entityId = given.text('source_id')
  if (entityId === '') throw bad('source_id', 'it is empty')
  const [start, end] = [given.text('from'), given.text('to')]
  const after = given.whole('after', { least: 0, most: Number.MAX_SAFE_INTEGER })
  return {
    ...(types === undefined ? {} : { types }),
    source: {
      ...(entityType === undefined ? {} : { entityType }),
      ...(entityId === undefined ? {} : { entityId }),
    },
    timeRange: { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) },
    order: given.choice('order', ['ascending', 'descending']) ?? 'ascending',
    ...(after === undefined ? {} : { after }),
    limit: given.whole('limit', { least: 1, most: API_PAGE_MAX_EVENTS }) ?? API_PAGE_EVENTS,
  }
}

function bad(name: string, problem: string): InvalidError {
  return new InvalidError(
    'api/bad-parameter',
    `read the parameter ${JSON.stringify(name.slice(0, 80))}: ${problem}`,
    {
      next: 'Correct the request; see /openapi.yaml.',
    },
  )
}
