/**
 * Event types: dotted names whose beginning tells what caused the event.
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

/** The verbs of each kind; external events may have any name. */
export const EVENT_VERBS = {
  pipeline: ['started', 'completed', 'failed', 'cancelled', 'paused', 'resumed'],
  node: ['started', 'completed', 'failed', 'retrying', 'skipped', 'cancelled'],
  task: ['started', 'running', 'completed', 'failed'],
} as const satisfies Record<Exclude<SourceKind, 'external'>, readonly string[]>

const SEGMENT = /^[A-Za-z0-9_-]+$/

/** What an event type tells. */
export interface TypeFacts {
  readonly type: string
  readonly kind: SourceKind
  /** The node, for events of a node or its task. */
  readonly node?: string
}

/** Parses a type. Throws `core/bad-event-type` for a malformed name, or a verb that its kind does not have. */
export function parseEventType(type: unknown): TypeFacts {
  if (isPlain(type) && type.startsWith('external.')) return { type, kind: 'external' }
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

/** Well within every limit, and faster to check. */
const PLAIN_TYPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){0,4}$/

/** Throws what `splitType` throws. */
export function checkType(type: unknown): void {
  if (!isPlain(type)) splitType(type)
}

function isPlain(type: unknown): type is string {
  return typeof type === 'string' && type.length <= EVENT_TYPE_MAX_CHARS && PLAIN_TYPE.test(type)
}

/** The segments of a well-formed type, known or not. */
function splitType(type: unknown): readonly string[] {
  const segments = typeof type === 'string' ? type.split('.') : []
  if (
    typeof type !== 'string' ||
    segments.length < 2 ||
    !segments.every((segment) => SEGMENT.test(segment))
  ) {
    throw badType(type, 'it must have two or more segments of letters, digits, "_" and "-", joined by dots')
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
    throw badType(type, `"${verb}" is not an event of a ${kind}; valid are ${verbs.join(', ')}`)
  }
}

function badType(type: unknown, why: string): InvalidError {
  return new InvalidError('core/bad-event-type', `read ${show(type)} as an event type: ${why}`, {
    next: 'Correct the type. Events of outside systems begin with "external.".',
  })
}
