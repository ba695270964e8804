/**
 * The one module that forms keys. Nobody else knows how a tenant, an execution or a name enters an address.
 *
 * An execution's part of the store lies under a few prefixes that all name it, followed by a separator no id may contain:
 * the prefix of one execution can never be the beginning of another's.
 */

import { InvalidError } from '../base/errors.ts'
import type { Branded } from '../base/ids.ts'

export type ExecutionId = Branded<'ExecutionId'>
export type TenantId = Branded<'TenantId'>

/** Whose data a key holds. Without a tenant it is the default one, which no key shows. */
export interface ExecutionScope {
  readonly tenant?: TenantId
  readonly execution: ExecutionId
}

const ID = /^[A-Za-z0-9_-]{1,128}$/
/** Wide enough for every safe integer, so that the order of the text is the order of the numbers. */
const SEQUENCE_DIGITS = 16

/** Letters, digits, `_` and `-`: nothing that separates parts of a key, and no wildcard. */
export function executionId(text: string): ExecutionId {
  return checkId(text, 'execution') as ExecutionId
}

export function tenantId(text: string): TenantId {
  return checkId(text, 'tenant') as TenantId
}

/** Where the latest event of a type is found. */
export function eventKey(scope: ExecutionScope, type: string): string {
  return eventKeysOf(scope)(type)
}

/** `eventKey` for one execution, whose id is checked once. */
export function eventKeysOf(scope: ExecutionScope): (type: string) => string {
  const prefix = eventsPrefix(scope)
  return (type) => prefix + checkName(type, 'event type')
}

export function eventsPrefix(scope: ExecutionScope): string {
  return `events:${address(scope)}:`
}

export function variableKey(scope: ExecutionScope, name: string): string {
  return variableKeysOf(scope)(name)
}

export function variableKeysOf(scope: ExecutionScope): (name: string) => string {
  const prefix = variablesPrefix(scope)
  return (name) => prefix + checkName(name, 'variable name')
}

export function variablesPrefix(scope: ExecutionScope): string {
  return `variables:${address(scope)}:`
}

/** Where one event stands in the append-only log; keys sort as their sequence numbers do. */
export function logKey(scope: ExecutionScope, sequence: number): string {
  return logKeysOf(scope)(sequence)
}

export function logKeysOf(scope: ExecutionScope): (sequence: number) => string {
  const prefix = logPrefix(scope)
  return (sequence) => {
    if (!Number.isSafeInteger(sequence) || sequence < 0) {
      throw new InvalidError('core/bad-sequence', `form a log key: ${sequence} is no sequence number`)
    }
    return prefix + String(sequence).padStart(SEQUENCE_DIGITS, '0')
  }
}

export function logPrefix(scope: ExecutionScope): string {
  return `log:${address(scope)}:`
}

/** Where a log ends whose entries expire, so that no place in it is given out twice. */
export function logEndKey(scope: ExecutionScope): string {
  return `log-end:${address(scope)}`
}

/** Under which an event was published that its sender may send again; the digest stands for a key of the sender's own. */
export function idempotencyKey(scope: ExecutionScope, digest: string): string {
  return idempotencyPrefix(scope) + checkId(digest, 'digest')
}

export function idempotencyPrefix(scope: ExecutionScope): string {
  return `idempotency:${address(scope)}:`
}

/** What one atomic change leaves behind for a while, so that its writer recognises it. */
export function markKey(scope: ExecutionScope, token: string): string {
  return marksPrefix(scope) + checkId(token, 'mark')
}

export function marksPrefix(scope: ExecutionScope): string {
  return `marks:${address(scope)}:`
}

export function checkpointsPrefix(scope: ExecutionScope): string {
  return `checkpoints:${address(scope)}:`
}

/** The record of one execution in the registry, which serves maintenance alone. */
export function executionKey(scope: ExecutionScope): string {
  return `executions:${address(scope)}`
}

/** All executions, of every tenant; for maintenance alone. */
export const EXECUTIONS_PREFIX = 'executions:'

/** What is still to be done for an execution that is over, a part of it at a time; see `namespaces/ended-index.ts`. */
export type EndedJob = 'archive' | 'events' | 'variables' | 'checkpoints'

/** Sorts by the time of the end, which is in ISO 8601. */
export function endedKey(scope: ExecutionScope, job: EndedJob, endedAt: string): string {
  return `${endedPrefix(job)}${checkTime(endedAt)}:${address(scope)}`
}

export function endedPrefix(job: EndedJob): string {
  return `ended:${job}:`
}

/** The parts of such a key. */
export function readEndedKey(key: string): { readonly endedAt: string; readonly scope: ExecutionScope } {
  const [, endedAt = '', place = ''] = /^ended:[a-z]+:(.+):([^:]+)$/.exec(key) ?? []
  const [, tenant, execution = ''] = /^(?:([^/]+)\/)?(.*)$/.exec(place) ?? []
  return {
    endedAt,
    scope: {
      ...(tenant === undefined ? {} : { tenant: tenantId(tenant) }),
      execution: executionId(execution),
    },
  }
}

/** What instances hold in turn, such as the right to sweep. */
export function leaseKey(name: string): string {
  return `leases:${checkId(name, 'lease')}`
}

/** An event that those outside are still to be told of; put with the event itself. */
export function outboxKey(scope: ExecutionScope, sequence: number): string {
  return OUTBOX_PREFIX + logKey(scope, sequence).slice('log:'.length)
}

/** What of one execution those outside are still to be told of. */
export function executionOutboxPrefix(scope: ExecutionScope): string {
  return OUTBOX_PREFIX + logPrefix(scope).slice('log:'.length)
}

/** All of it, of every tenant; for whoever tells those outside. */
export const OUTBOX_PREFIX = 'outbox:'

/** Whose event a key of the outbox stands for; `undefined` is the default tenant. */
export function tenantOfOutboxKey(key: string): string | undefined {
  const [place = ''] = key.slice(OUTBOX_PREFIX.length).split(':')
  return place.includes('/') ? place.split('/')[0] : undefined
}

/** What belongs to the server and to no execution, such as its tokens. */
export function serverKey(shelf: string, id: string): string {
  return serverPrefix(shelf) + checkId(id, 'record')
}

export function serverPrefix(shelf: string): string {
  return `server:${checkId(shelf, 'shelf')}:`
}

function checkTime(text: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return text
  throw new InvalidError('core/bad-time', `form a key of ${show(text)}: it is no time`, {
    next: 'Give a time in ISO 8601, in UTC and with milliseconds.',
  })
}

function address({ tenant, execution }: ExecutionScope): string {
  // Checked again: at run time a brand is a promise that any caller can break.
  const id = checkId(execution, 'execution')
  return tenant === undefined ? id : `${checkId(tenant, 'tenant')}/${id}`
}

function checkId(text: unknown, what: string): string {
  if (typeof text === 'string' && ID.test(text)) return text
  throw new InvalidError(
    'core/bad-id',
    `read ${show(text)} as the id of ${what === 'execution' ? 'an' : 'a'} ${what}: it has 1 to 128 letters, digits, "_" and "-"`,
    { next: 'Correct the id.' },
  )
}

/** Nearly every name; cheaper to tell than the rest. */
const PLAIN_NAME = /^[\w.-]+$/

/** The grammar of names is their owners'; here only what would blur a key is refused. */
function checkName(text: unknown, what: string): string {
  if (typeof text === 'string' && (PLAIN_NAME.test(text) || /^[^\s:*/\p{C}]+$/u.test(text))) return text
  throw new InvalidError(
    'core/bad-name',
    `read ${show(text)} as ${what === 'event type' ? 'an' : 'a'} ${what}: it is not empty and has no white space, ":", "*" or "/"`,
    { next: 'Correct the name.' },
  )
}

function show(text: unknown): string {
  const shown = typeof text === 'string' ? JSON.stringify(text) : `a value of type ${typeof text}`
  return shown.length > 80 ? `${shown.slice(0, 80)}…` : shown
}
