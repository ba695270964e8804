/**
 * The only module that builds keys.
 *
 * Every key of an execution begins with a prefix that ends with its id and a separator that no id may contain: the prefix
 * of one execution is never the beginning of another's.
 */

import { createHash } from 'node:crypto'
import { InvalidError } from '../base/errors.ts'
import type { Branded } from '../base/ids.ts'

export type ExecutionId = Branded<'ExecutionId'>
export type TenantId = Branded<'TenantId'>

/** An execution and its tenant. The default tenant appears in no key. */
export interface ExecutionScope {
  readonly tenant?: TenantId
  readonly execution: ExecutionId
}

const ID = /^[A-Za-z0-9_-]{1,128}$/
/** Enough for every safe integer, so that texts sort as their numbers do. */
const SEQUENCE_DIGITS = 16

/** Letters, digits, `_` and `-`: nothing that separates parts of a key, and no wildcard. */
export function executionId(text: string): ExecutionId {
  return checkId(text, 'execution') as ExecutionId
}

export function tenantId(text: string): TenantId {
  return checkId(text, 'tenant') as TenantId
}

/** Every key of one execution. */
export type ExecutionKeys = ReturnType<typeof executionKeys>

/** Throws `core/bad-id` where the execution or the tenant is not an id. */
export function executionKeys(scope: ExecutionScope) {
  const place = address(scope)
  // Prefixes: the keys of one kind, and nothing else, begin with it.
  const [events, variables, log] = [`events:${place}:`, `variables:${place}:`, `log:${place}:`]
  const [marks, idempotency] = [`marks:${place}:`, `idempotency:${place}:`]
  const history = `history:${place}:`
  /** Of the entries of the outbox that are about this execution. */
  const waiting = `${OUTBOX_PREFIX}${place}:`
  const checkpoints = `checkpoints:${place}:`
  return {
    ...{ events, variables, history, log, marks, idempotency, waiting, checkpoints },
    /** The records of its checkpoints, the oldest first. */
    checkpointRecords: `${checkpoints}at:`,
    checkpointRecord: (sequence: number): string => `${checkpoints}at:${sequenceText(sequence)}`,
    /** Where the store itself keeps their bodies, in parts. */
    checkpointBodies: `${checkpoints}body:`,
    checkpointParts: (id: string): string => `${checkpoints}body:${checkId(id, 'checkpoint')}:`,
    checkpointPart: (id: string, part: number): string =>
      `${checkpoints}body:${checkId(id, 'checkpoint')}:${sequenceText(part)}`,
    /** A rollback that has begun and not ended. */
    rollback: `${checkpoints}rollback`,
    /** What the engine keeps of it, but for the entries of indexes. */
    engine: `engine:${place}:`,
    /** Which execution the tasks with these first digits belong to. */
    engineTasks: (): string => engineTasksKey(taskDigits(scope)),
    /** In the engine's list of executions by their start. */
    listed: (startedAt: string): string =>
      `${engineIndexPrefix('started', scope.tenant)}${checkTime(startedAt)}:${scope.execution}`,
    /** The execution's record in the registry. */
    record: `${EXECUTIONS_PREFIX}${place}`,
    /** The end of a log whose entries expire, so that no sequence number is used twice. */
    logEnd: `log-end:${place}`,
    /** The latest event of a type. */
    event: (type: string): string => events + checkName(type, 'event type'),
    /** One event in the append-only log; keys sort as their sequence numbers do. */
    entry: (sequence: number): string => log + sequenceText(sequence),
    variable: (name: string): string => variables + checkName(name, 'variable name'),
    /** What was written to a variable, or together to variables of a namespace. */
    historyOf: (subject: string): string => `${history}${checkName(subject, 'variable name')}:`,
    /** Set by an event that its sender may send again; the digest is that of the sender's key. */
    idempotent: (digest: string): string => idempotency + checkId(digest, 'digest'),
    /** An event that webhooks are still to be told of; put together with the event. */
    outbox: (sequence: number): string => waiting + sequenceText(sequence),
    /** In the index of ended executions: this part is still to be done. Sorts by the time of the end, in ISO 8601. */
    ended: (job: EndedJob, endedAt: string): string => `${endedPrefix(job)}${checkTime(endedAt)}:${place}`,
  } as const
}

/** All executions, of every tenant; for maintenance only. */
export const EXECUTIONS_PREFIX = 'executions:'

/**
 * Executions of a tenant that the engine knows: `open` for those that have not ended, `waiting` for those that wait for a
 * place, `rollback` for those whose rollback has begun and not ended, `started` for all of them by the time of their start.
 */
export function engineIndexPrefix(
  index: 'open' | 'waiting' | 'rollback' | 'started',
  tenant: TenantId | undefined,
): string {
  return `engine-${index}:${tenant === undefined ? '' : checkId(tenant, 'tenant')}:`
}

/** Open executions of the engine, of every tenant; to find the tenants only. */
export const ENGINE_OPEN_PREFIX = 'engine-open:'

/** The tenant of an entry there, and a key behind all entries of this tenant. */
export function tenantOfOpenKey(key: string): { readonly tenant: string | undefined; readonly last: string } {
  const [place = ''] = key.slice(ENGINE_OPEN_PREFIX.length).split(':')
  const tenant = place === '' ? undefined : place
  return { tenant, last: `${ENGINE_OPEN_PREFIX}${place}:~` }
}

/**
 * Definitions of the engine: registered under a name, or stored by their digest for the executions that run them. And what it learned
 * from runs of them, and the time it has come to.
 */
export function engineDefinitionPrefix(
  kind: 'graph' | 'task' | 'digest' | 'schedule' | 'history' | 'breakers' | 'time',
  tenant: TenantId | undefined,
): string {
  return `engine-definitions:${tenant === undefined ? '' : checkId(tenant, 'tenant')}:${kind}:`
}

export function engineTasksKey(digits: string): string {
  return `engine-tasks:${checkId(digits, 'task')}`
}

/** The first digits of the ids of an execution's tasks, which are UUIDs: by them the execution of a task is found. */
export function taskDigits(scope: ExecutionScope): string {
  return createHash('sha256').update(address(scope)).digest('hex').slice(0, 15)
}

/** What the keys of latest events and of variables begin with, those of every execution and tenant. */
export const FACT_PREFIXES = ['events:', 'variables:'] as const

/** A part of the clean-up of an ended execution; see `namespaces/ended-index.ts`. */
export type EndedJob = 'archive' | 'events' | 'variables' | 'checkpoints'

export function endedPrefix(job: EndedJob): string {
  return `ended:${job}:`
}

/** The parts of a key of that index. */
export function readEndedKey(key: string): { readonly endedAt: string; readonly scope: ExecutionScope } {
  const [, endedAt = '', place = ''] = /^ended:[a-z]+:(.+):([^:]+)$/.exec(key) ?? []
  return { endedAt, scope: readPlace(place) }
}

/** What a key of an execution has behind its first part. */
export function readPlace(place: string): ExecutionScope {
  const [, tenant, execution = ''] = /^(?:([^/]+)\/)?(.*)$/.exec(place) ?? []
  return {
    ...(tenant === undefined ? {} : { tenant: tenantId(tenant) }),
    execution: executionId(execution),
  }
}

/** A lease that one instance at a time holds, such as the one for sweeping. */
export function leaseKey(name: string): string {
  return `leases:${checkId(name, 'lease')}`
}

/** The whole outbox, of every tenant. */
export const OUTBOX_PREFIX = 'outbox:'

/** The tenant of an entry of the outbox; `undefined` is the default tenant. */
export function tenantOfOutboxKey(key: string): string | undefined {
  const [place = ''] = key.slice(OUTBOX_PREFIX.length).split(':')
  return place.includes('/') ? place.split('/')[0] : undefined
}

/** A record of the server that belongs to no execution, such as a token. */
export function serverKey(kind: string, id: string): string {
  return serverPrefix(kind) + checkId(id, 'record')
}

export function serverPrefix(kind: string): string {
  return `server:${checkId(kind, 'kind')}:`
}

function sequenceText(sequence: number): string {
  if (Number.isSafeInteger(sequence) && sequence >= 0) return String(sequence).padStart(SEQUENCE_DIGITS, '0')
  throw new InvalidError('core/bad-sequence', `form a log key: ${sequence} is not a sequence number`)
}

function checkTime(text: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return text
  throw new InvalidError('core/bad-time', `form a key of ${show(text)}: it must be a time`, {
    next: 'Give a time in ISO 8601, in UTC and with milliseconds.',
  })
}

function address({ tenant, execution }: ExecutionScope): string {
  // Checked again: at run time callers can pass any text as a branded id.
  const id = checkId(execution, 'execution')
  return tenant === undefined ? id : `${checkId(tenant, 'tenant')}/${id}`
}

export function isId(text: unknown): text is string {
  return typeof text === 'string' && ID.test(text)
}

function checkId(text: unknown, what: string): string {
  if (isId(text)) return text
  throw new InvalidError(
    'core/bad-id',
    `read ${show(text)} as the id of ${what === 'execution' ? 'an' : 'a'} ${what}: it must have 1 to 128 letters, digits, "_" and "-"`,
    { next: 'Correct the id.' },
  )
}

/** Matches nearly every name, and is faster than the full check. */
const PLAIN_NAME = /^[\w.-]+$/

/** Refuses only what would make a key ambiguous; the grammar of names is checked by their owners. */
function checkName(text: unknown, what: string): string {
  if (typeof text === 'string' && (PLAIN_NAME.test(text) || /^[^\s:*/\p{C}]+$/u.test(text))) return text
  throw new InvalidError(
    'core/bad-name',
    `read ${show(text)} as ${what === 'event type' ? 'an' : 'a'} ${what}: it must not be empty, nor contain white space, ":", "*" or "/"`,
    { next: 'Correct the name.' },
  )
}

function show(text: unknown): string {
  const shown = typeof text === 'string' ? JSON.stringify(text) : `a value of type ${typeof text}`
  return shown.length > 80 ? `${shown.slice(0, 80)}…` : shown
}
