/**
 * What events are called: a dotted name whose beginning says what kind of thing caused it.
 *
 * | name | caused by |
 * |---|---|
 * | `pipeline.VERB` | the pipeline itself |
 * | `NODE.VERB` | a node |
 * | `NODE.task.VERB` | the work behind a node |
 * | `external.SOURCE.EVENT`, or any `external.` name | an outside system |
 */

import { InvalidError } from '../../base/errors.ts'
import { EVENT_TYPE_MAX_CHARS, EVENT_TYPE_SEGMENTS_MAX } from '../limits.ts'
import { checkNodeId, show } from '../namespaces/names.ts'

export const SOURCE_KINDS = ['pipeline', 'node', 'task', 'external'] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

/** The verbs of each kind; what outside systems call their events is theirs. */
export const EVENT_VERBS = {
  pipeline: ['started', 'completed', 'failed', 'cancelled', 'paused', 'resumed'],
  node: ['started', 'completed', 'failed', 'retrying', 'skipped', 'cancelled'],
  task: ['started', 'running', 'completed', 'failed'],
} as const satisfies Record<Exclude<SourceKind, 'external'>, readonly string[]>

const SEGMENT = /^[A-Za-z0-9_-]+$/

/** What a type says about its event. */
export interface TypeFacts {
  readonly type: string
  readonly kind: SourceKind
  /** The node, where a node or its task is meant. */
  readonly node?: string
}

/** Takes a type apart. Throws `core/bad-event-type` for a name that is none, or a verb that its kind does not have. */
export function parseEventType(type: unknown): TypeFacts {
  const segments = splitType(type)
  const [first = '', second = '', third] = segments
  const name = segments.join('.')
  if (first === 'external') return { type: name, kind: 'external' }
  if (first === 'pipeline') {
    requireVerb(name, 'pipeline', segments.slice(1))
    return { type: name, kind: 'pipeline' }
  }
  const node = checkNodeId(first)
  if (second === 'task' && third !== undefined) {
    requireVerb(name, 'task', segments.slice(2))
    return { type: name, kind: 'task', node }
  }
  requireVerb(name, 'node', segments.slice(1))
  return { type: name, kind: 'node', node }
}

/** Far from every bound; cheaper to tell than the rest. */
const PLAIN_TYPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){0,4}$/

/** Throws what `splitType` throws. */
export function checkType(type: unknown): void {
  if (typeof type === 'string' && type.length <= EVENT_TYPE_MAX_CHARS && PLAIN_TYPE.test(type)) return
  splitType(type)
}

/** The segments of a name that could be a type's. A name that nothing is called may be looked for, and is not found. */
export function splitType(type: unknown): readonly string[] {
  const segments = typeof type === 'string' ? type.split('.') : []
  if (
    typeof type !== 'string' ||
    segments.length < 2 ||
    !segments.every((segment) => SEGMENT.test(segment))
  ) {
    throw badType(type, 'it has two or more segments of letters, digits, "_" and "-", joined by dots')
  }
  if (type.length > EVENT_TYPE_MAX_CHARS || segments.length > EVENT_TYPE_SEGMENTS_MAX) {
    throw badType(type, `at most ${EVENT_TYPE_SEGMENTS_MAX} segments and ${EVENT_TYPE_MAX_CHARS} characters`)
  }
  return segments
}

function requireVerb(type: string, kind: keyof typeof EVENT_VERBS, rest: readonly string[]): void {
  const verbs: readonly string[] = EVENT_VERBS[kind]
  const verb = rest.join('.')
  if (!verbs.includes(verb)) {
    throw badType(type, `"${verb}" is nothing that happens to a ${kind}; there are ${verbs.join(', ')}`)
  }
}

function badType(type: unknown, why: string): InvalidError {
  return new InvalidError('core/bad-event-type', `read ${show(type)} as an event type: ${why}`, {
    next: 'Correct the type; what outside systems report begins with "external.".',
  })
}
