/**
 * A client of the HTTP API:
 *
 * ```ts
 * const client = openClient({ url: 'https://perago.example', token: process.env.PERAGO_TOKEN })
 * const { execution_id } = await client.start({ pipeline: 'orders.daily', input: { day: '2026-01-16' } })
 * const { ended, execution } = await client.wait(execution_id)
 * ```
 *
 * - CL-A A request is sent again only where that is safe: where nothing was done, or where doing it twice is doing it once. A start
 *   always has an idempotency key.
 */

import { randomUUID } from 'node:crypto'
import { systemClock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { components } from './generated/perago-api.ts'
import { CLIENT_WAIT_MS, CLIENT_WAIT_STEP_MS } from './limits.ts'
import { queryOf, readOn } from './pages.ts'
import { Sender, type Call, type ClientCallOptions, type ClientOptions } from './sender.ts'

type Schemas = components['schemas']
export type ExecutionSummary = Schemas['ExecutionSummary']
export type ExecutionState = Omit<Schemas['Execution'], 'input' | 'output'> & {
  readonly input?: JsonObject
  /** Once it has ended. */
  readonly output?: JsonObject
}
export type ExecutionPage = Schemas['ExecutionPage']
export type ClientEvent = Omit<Schemas['Event'], 'payload'> & { readonly payload: JsonObject }
/** It may be empty although there are more: only a page without `next_after` is the last one. */
export interface ClientEventPage {
  readonly events: readonly ClientEvent[]
  /** The `after` of the next page. */
  readonly next_after?: number
}
export interface ClientVariable {
  readonly name: string
  readonly value: Json
}
/** One write of a variable. `unknown`: the present value, of whose write nothing is known. */
export type ClientVariableWrite = Omit<Schemas['VariableWrite'], 'value'> & { readonly value?: Json }
/** The latest write first. */
export interface ClientVariableHistory {
  readonly name: string
  readonly writes: readonly ClientVariableWrite[]
  /** Earlier writes may have been left out. */
  readonly may_lack: boolean
}
/** Only a page without `next_after` is the last one. */
export interface ClientVariablePage {
  readonly variables: readonly ClientVariable[]
  /** The `after` of the next page. */
  readonly next_after?: string
}
export interface WaitedExecution {
  readonly ended: boolean
  readonly execution: ExecutionState
}
export type RegisteredPipeline = Schemas['RegisteredPipeline']
export type ClientRollbackScope = Partial<Schemas['RollbackScope']>
export type ClientRollback = Partial<Schemas['Rollback']>
export type ClientRollbackReport = Schemas['RollbackReport']
export type ClientRollbackPreview = Schemas['RollbackPreview']
export type ClientCheckpoint = Schemas['CheckpointState']
export type ClientSchedule = Schemas['Schedule']
export type SchedulePage = Schemas['SchedulePage']

/** `pipeline` names a registered one; `definition` is a pipeline itself. */
export interface ClientStart {
  readonly pipeline?: string
  readonly version?: number
  readonly definition?: object
  readonly input?: object
  readonly priority?: number
  readonly correlation_id?: string
}

export interface UnitCompletion {
  /** Default: `COMPLETED`. */
  readonly status?: 'COMPLETED' | 'FAILED'
  readonly output?: object
  /** Of a failure. */
  readonly reason?: string
}

export interface ListQuery {
  readonly status?: readonly Schemas['Stage'][]
  readonly name?: string
  readonly after?: string
  readonly limit?: number
}

export interface ScheduleQuery {
  readonly pipeline?: string
  readonly after?: string
  readonly limit?: number
}

/** All given conditions must hold. */
export interface EventQuery {
  /** Types, or patterns of them: `*` is one segment, `**` any number. */
  readonly type?: readonly string[]
  readonly source_type?: Schemas['SourceType']
  readonly source_id?: string
  /** ISO 8601, included. */
  readonly from?: string
  /** ISO 8601, excluded. */
  readonly to?: string
  readonly order?: 'ascending' | 'descending'
  readonly after?: number
  /** Of one page. */
  readonly limit?: number
}

export interface VariableQuery {
  /** Only names that begin with this, such as `shared.`. */
  readonly prefix?: string
  readonly after?: string
  /** Of one page. */
  readonly limit?: number
}

/** Every method rejects with the error that the server answered with: the same kind and code. */
export interface PeragoClient {
  /** With a key of your own, the same start from another process counts as the same. */
  start(
    request: ClientStart,
    options?: ClientCallOptions & {
      readonly idempotencyKey?: string
      /** A W3C trace context: the execution then belongs to that trace. */
      readonly traceparent?: string | undefined
    },
  ): Promise<ExecutionSummary>
  /** One page. It may have fewer than its limit, or none, although there are more; see `next_after`. */
  list(query?: ListQuery, options?: ClientCallOptions): Promise<ExecutionPage>
  /** Goes on over the pages to the end. */
  all(query?: ListQuery, options?: ClientCallOptions): AsyncGenerator<ExecutionSummary, void, undefined>
  /** One page, in the order of the log. It may be empty although there are more; see `next_after`. */
  listEvents(executionId: string, query?: EventQuery, options?: ClientCallOptions): Promise<ClientEventPage>
  /** Goes on over the pages to the end. */
  allEvents(
    executionId: string,
    query?: EventQuery,
    options?: ClientCallOptions,
  ): AsyncGenerator<ClientEvent, void, undefined>
  /** One page, by name. */
  listVariables(
    executionId: string,
    query?: VariableQuery,
    options?: ClientCallOptions,
  ): Promise<ClientVariablePage>
  /** Goes on over the pages to the end. */
  allVariables(
    executionId: string,
    query?: VariableQuery,
    options?: ClientCallOptions,
  ): AsyncGenerator<ClientVariable, void, undefined>
  /** What was written to a variable, the latest first; bounded. */
  readVariableHistory(
    executionId: string,
    name: string,
    options?: ClientCallOptions,
  ): Promise<ClientVariableHistory>
  read(executionId: string, options?: ClientCallOptions): Promise<ExecutionState>
  /** Resolves when it has ended, or when the time is over; see `ended`. */
  wait(
    executionId: string,
    options?: ClientCallOptions & { readonly timeoutMs?: number },
  ): Promise<WaitedExecution>
  pause(executionId: string, options?: ClientCallOptions): Promise<ExecutionSummary>
  resume(executionId: string, options?: ClientCallOptions): Promise<ExecutionSummary>
  cancel(
    executionId: string,
    options?: ClientCallOptions & { readonly reason?: string },
  ): Promise<ExecutionSummary>
  retry(executionId: string, options?: ClientCallOptions): Promise<ExecutionSummary>
  /** Ends a human unit or a wait. */
  completeUnit(
    executionId: string,
    unit: string,
    completion?: UnitCompletion,
    options?: ClientCallOptions,
  ): Promise<ExecutionSummary>
  /**
   * Takes an execution back, its state and its branches together. Default: to the last good checkpoint. What others have written on a
   * branch refuses it. With a key of your own, the same request from another process counts as the same.
   */
  rollBack(
    executionId: string,
    rollback?: ClientRollback,
    options?: ClientCallOptions & { readonly idempotencyKey?: string },
  ): Promise<ClientRollbackReport>
  /** Changes nothing. */
  previewRollback(
    executionId: string,
    scope?: ClientRollbackScope,
    options?: ClientCallOptions,
  ): Promise<ClientRollbackPreview>
  /** Gives up a rollback that cannot end; the execution is ended as it is. */
  abandonRollback(executionId: string, reason: string, options?: ClientCallOptions): Promise<ExecutionSummary>
  /** The oldest first. */
  listCheckpoints(executionId: string, options?: ClientCallOptions): Promise<readonly ClientCheckpoint[]>
  /** Its `schedules` are those of the pipeline from now on. */
  registerPipeline(document: object, options?: ClientCallOptions): Promise<RegisteredPipeline>
  listSchedules(query?: ScheduleQuery, options?: ClientCallOptions): Promise<SchedulePage>
  pauseSchedule(pipeline: string, name: string, options?: ClientCallOptions): Promise<ClientSchedule>
  resumeSchedule(pipeline: string, name: string, options?: ClientCallOptions): Promise<ClientSchedule>
}

export function openClient(options: ClientOptions): PeragoClient {
  const sender = new Sender(options)
  const { clock = systemClock } = options
  const post = <T>(path: string, call: Partial<Call> = {}): Promise<T> =>
    sender.send({ method: 'POST', path, isRepeatable: true, ...call })
  const get = <T>(path: string, call: Partial<Call> = {}): Promise<T> =>
    sender.send({ method: 'GET', path, isRepeatable: true, ...call })
  const list: PeragoClient['list'] = ({ status = [], ...query } = {}, { signal } = {}) =>
    get('/executions', { query: queryOf({ status }, query), signal })
  const listEvents: PeragoClient['listEvents'] = (id, { type = [], ...query } = {}, { signal } = {}) =>
    get(`${placeOf(id)}/events`, { query: queryOf({ type }, query), signal })
  const listVariables: PeragoClient['listVariables'] = (id, query = {}, { signal } = {}) =>
    get(`${placeOf(id)}/variables`, { query: queryOf({}, query), signal })
  return {
    start: (body, { idempotencyKey = randomUUID(), traceparent, signal } = {}) => {
      const headers = { 'idempotency-key': idempotencyKey, ...defined({ traceparent }) }
      return post('/executions', { body, headers, signal })
    },
    list,
    all: (query, call) =>
      readOn(
        query,
        (page) => list(page, call),
        ({ executions }) => executions,
      ),
    listEvents,
    allEvents: (id, query, call) =>
      readOn(
        query,
        (page) => listEvents(id, page, call),
        ({ events }) => events,
      ),
    listVariables,
    allVariables: (id, query, call) =>
      readOn(
        query,
        (page) => listVariables(id, page, call),
        ({ variables }) => variables,
      ),
    readVariableHistory: (id, name, { signal } = {}) =>
      get(`${placeOf(id)}/variables/${encodeURIComponent(name)}/history`, { signal }),
    read: (id, { signal } = {}) => get(placeOf(id), { signal }),
    wait: async (id, { timeoutMs = CLIENT_WAIT_MS, signal } = {}) => {
      const endMs = clock.monotonicMs() + timeoutMs
      for (;;) {
        const leftMs = Math.max(0, endMs - clock.monotonicMs())
        const waitMs = Math.ceil(Math.min(leftMs, CLIENT_WAIT_STEP_MS))
        const waited = await get<WaitedExecution>(`${placeOf(id)}/wait`, {
          query: [['timeout_ms', waitMs]],
          ...{ waitMs, signal },
        })
        if (waited.ended || leftMs === 0) return waited
      }
    },
    pause: (id, { signal } = {}) => post(`${placeOf(id)}/pause`, { signal }),
    // Done twice, these would be refused, or would begin something again.
    resume: (id, { signal } = {}) => post(`${placeOf(id)}/resume`, { isRepeatable: false, signal }),
    retry: (id, { signal } = {}) => post(`${placeOf(id)}/retry`, { isRepeatable: false, signal }),
    cancel: (id, { reason, signal } = {}) =>
      post(`${placeOf(id)}/cancel`, { query: reason === undefined ? [] : [['reason', reason]], signal }),
    completeUnit: (id, unit, completion = {}, { signal } = {}) =>
      post(`${placeOf(id)}/units/${encodeURIComponent(unit)}/complete`, { body: completion, signal }),
    rollBack: (id, body = {}, { idempotencyKey = randomUUID(), signal } = {}) => {
      const headers = { 'idempotency-key': idempotencyKey }
      return post(`${placeOf(id)}/rollback`, { body, headers, signal })
    },
    previewRollback: (id, body = {}, { signal } = {}) =>
      post(`${placeOf(id)}/rollback/preview`, { body, signal }),
    // Done twice, it would be refused.
    abandonRollback: (id, reason, { signal } = {}) =>
      post(`${placeOf(id)}/rollback/abandon`, { body: { reason }, isRepeatable: false, signal }),
    listCheckpoints: async (id, { signal } = {}) =>
      (await get<Schemas['Checkpoints']>(`${placeOf(id)}/checkpoints`, { signal })).checkpoints,
    registerPipeline: (body, { signal } = {}) => post('/pipelines', { body, signal }),
    listSchedules: (query = {}, { signal } = {}) => get('/schedules', { query: queryOf({}, query), signal }),
    pauseSchedule: (pipeline, name, { signal } = {}) =>
      post(`${placeOfSchedule(pipeline, name)}/pause`, { signal }),
    resumeSchedule: (pipeline, name, { signal } = {}) =>
      post(`${placeOfSchedule(pipeline, name)}/resume`, { signal }),
  }
}

function placeOf(executionId: string): string {
  return `/executions/${encodeURIComponent(executionId)}`
}

function placeOfSchedule(pipeline: string, name: string): string {
  return `/pipelines/${encodeURIComponent(pipeline)}/schedules/${encodeURIComponent(name)}`
}
