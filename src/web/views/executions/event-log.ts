/** The events of an execution that a view has: those of its pages, and those that arrive. Pure. */

import type { Schemas } from '../../api.ts'

export type Event = Schemas['Event']

/** More are kept by the server alone. */
const EVENTS_MAX = 10_000

export interface EventLog {
  /** By their sequence, the oldest first. */
  readonly events: readonly Event[]
  /** Whether the server has older ones. */
  readonly hasOlder: boolean
}

export const NO_EVENTS: EventLog = { events: [], hasOlder: false }

/** Events that a stream gave; one that was given twice counts once. */
export function addNewer({ events, hasOlder }: EventLog, arrived: readonly Event[]): EventLog {
  const last = events.at(-1)?.sequence ?? 0
  const added = arrived.filter(({ sequence }, index) => sequence > (arrived[index - 1]?.sequence ?? last))
  const all = [...events, ...added.filter(({ sequence }) => sequence > last)]
  return all.length <= EVENTS_MAX
    ? { events: all, hasOlder }
    : { events: all.slice(-EVENTS_MAX), hasOlder: true }
}

/** A page of older ones, the newest first, as the server gives it. */
export function addOlder({ events }: EventLog, page: readonly Event[], hasOlder: boolean): EventLog {
  const first = events[0]?.sequence ?? Infinity
  return { events: [...page.filter(({ sequence }) => sequence < first).reverse(), ...events], hasOlder }
}

const SEGMENT = /^(?:[A-Za-z0-9_-]+|\*\*?)$/
const SEGMENTS_MAX = 16
const PATTERNS_MAX = 32

/**
 * What was typed as patterns of the contract: `ingest.**` as it is, and a single word such as `failed` wherever it stands in a type.
 * `undefined` where it cannot be one.
 */
export function readPatterns(text: string): readonly string[] | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  const isAll = words.every((word) => {
    const segments = word.split('.')
    return segments.length <= SEGMENTS_MAX && segments.every((segment) => SEGMENT.test(segment))
  })
  if (!isAll || words.length > PATTERNS_MAX) return undefined
  return words.map((word) => (/[.*]/.test(word) ? word : `**.${word}.**`))
}

const LINE_MAX_CHARS = 300

/** An event in one line: what is worth telling of its payload. */
export function tellPayload({ payload }: Pick<Event, 'payload'>): string {
  const { reason } = payload as { readonly reason?: unknown }
  if (typeof reason === 'string') return reason
  return Object.entries(payload)
    .filter(([name]) => name !== 'taskId')
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ')
    .slice(0, LINE_MAX_CHARS)
}
