/**
 * The one way to call a server: a pool of connections, and for each operation one row of the server's table, one loop of
 * tries, one exchange, and one verdict on the response.
 */

import type { Dispatcher } from 'undici'
import type { Readable } from 'node:stream'
import type { AdaptiveLimit } from '../base/adaptive-limit.ts'
import { abortReason, systemClock, type Clock } from '../base/clock.ts'
import { DefectError, invariant } from '../base/errors.ts'
import { createRedactor, type Redactor } from '../base/redaction.ts'
import { renderRequest, type Call, type Headers } from './call.ts'
import type { AnswerOf } from './contract.ts'
import { breakFailure, describe, failureOf, quote, ShapeError, shapeFailure } from './failures.ts'
import {
  exchangeOver,
  ExchangeBrokenError,
  fillableStream,
  TextCollector,
  type AnswerHead,
  type Break,
  type ExchangeBound,
  type ExchangeRequest,
  type TakePiece,
} from './http-exchange.ts'
import { answerInProcess } from './in-process.ts'
import { loadPool } from './load-pools.ts'
import { parseRetryAfter } from './retry-after.ts'
import { classifyAnswer, isDone, type Answer, type FailureRow, type OperationRow } from './server-table.ts'
import { tryUntilSettled, type Attempted, type TriesOptions } from './tries.ts'

type Rows = Readonly<Record<string, OperationRow>>

/** The operations of a contract, by the names that the table gives them. */
type ContractOf<Of extends Rows> = Readonly<Record<keyof Of, object>>

/** A success, or one of the values that the row of the operation has. */
export type Outcome<Value, Row> = { readonly is: 'done'; readonly value: Value } | ValueOutcome<ValuesOf<Row>>

type ValuesOf<Row> = Row extends { readonly values: infer Values } ? Values[keyof Values] : never
type ValueOutcome<Value> = Value extends string ? { readonly is: Value; readonly message: string } : never

/** The head of a response, and its body as it arrives: to be read to its end or destroyed. */
export interface OpenedAnswer {
  readonly head: AnswerHead
  readonly body: Readable
}

export interface RequestNotice<Name extends string = string> {
  readonly operation: Name
  /** `undefined` when no response came. */
  readonly status: number | undefined
  /** Until the response began; where the time is bounded for the whole exchange, until it ended. */
  readonly durationMs: number
}

/** Headers that prove who calls, where they change with time. */
export interface Authorization {
  headers(call: { readonly operation: string; readonly signal?: AbortSignal | undefined }): Promise<Headers>
  /** The server refused these headers; false when there are no others. */
  renew(refused: Headers): boolean
  /** How a request ends whose headers were refused and renewed, where it is sent once only. */
  readonly renewed: FailureRow
}

export interface ConnectionOptions<Name extends string> extends Omit<TriesOptions<Name>, 'clock'> {
  /** Left out, each call names its own address. */
  readonly origin?: string
  /** Added in front of the paths of the table. */
  readonly prefix?: string
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly bound: ExchangeBound
  /** The longest silence in the middle of a response. */
  readonly bodyIdleMs: number
  /** The longest response that is held in memory. */
  readonly answerMaxBytes: number
  /** Sent with every request. */
  readonly headers?: Headers
  readonly authorization?: Authorization | undefined
  /** Never part of an error, even when the server quotes them. */
  readonly secrets?: readonly string[]
  /** How many requests may run at once. */
  readonly limit?: AdaptiveLimit | undefined
  readonly clock?: Clock | undefined
  readonly onRequest?: ((notice: RequestNotice<Name>) => void) | undefined
  /** Instead of connections: a server in this process. */
  readonly answer?: ((request: Request) => Response | Promise<Response>) | undefined
}

export class Connection<Of extends Rows, Contract extends ContractOf<Of>> {
  readonly #options: ConnectionOptions<keyof Of & string> & { readonly clock: Clock }
  readonly #clock: Clock
  readonly #redactor: Redactor
  #pool: Promise<Way> | undefined
  #closing: Promise<void> | undefined

  constructor(options: ConnectionOptions<keyof Of & string>) {
    this.#clock = options.clock ?? systemClock
    this.#options = { ...options, clock: this.#clock }
    this.#redactor = createRedactor(options.secrets ?? [])
  }

  /** Sends a request, again where that is right. `read` makes sure of the body of a success. */
  call<Name extends keyof Of & string, Value>(
    call: Call<Name, Contract[Name]>,
    read: (body: AnswerOf<Contract[Name]>, head: AnswerHead) => Value,
  ): Promise<Outcome<Value, Of[Name]>> {
    return this.attempts(call, () => this.once(call, read))
  }

  /** The loop of tries around any step; the class of `subject` decides what is repeated. */
  attempts<Value>(subject: Attempted<keyof Of & string>, once: () => Promise<Value>): Promise<Value> {
    return tryUntilSettled(this.#options, subject, once)
  }

  /** One try. With `receive`, the body of a success goes there as it arrives. */
  async once<Name extends keyof Of & string, Value>(
    call: Call<Name, Contract[Name]>,
    read: (body: AnswerOf<Contract[Name]>, head: AnswerHead) => Value,
    receive?: Receive,
  ): Promise<Outcome<Value, Of[Name]>> {
    const leave = await this.#options.limit?.enter(call.signal)
    try {
      const outcome = this.#judge(call, await this.#exchange(call, receive), read)
      leave?.()
      // The value was taken from the row of this operation; the compiler cannot follow it there.
      return outcome as Outcome<Value, Of[Name]>
    } catch (error) {
      leave?.(error)
      throw error
    }
  }

  /** One try, over as soon as the response begins: its body is a stream. */
  open<Name extends keyof Of & string>(
    call: Call<Name, Contract[Name]>,
  ): Promise<Outcome<OpenedAnswer, Of[Name]>> {
    return new Promise((resolve, reject) => {
      let body: Readable | undefined
      const receive = (head: AnswerHead): TakePiece => {
        const { stream, take } = fillableStream(() => head.cut(new Error('the body was closed')))
        body = stream
        resolve({ is: 'done', value: { head, body } })
        return take
      }
      const whole = this.once(call, () => undefined as never, receive)
      whole.then(
        (outcome) => (body === undefined ? resolve(outcome) : void body.push(null)),
        (error: unknown) => (body === undefined ? reject(error as Error) : void body.destroy(error as Error)),
      )
    })
  }

  /** What a call sends, for a thread that sends it over a connection of its own. */
  render<Name extends keyof Of & string>(call: Call<Name, Contract[Name]>): ExchangeRequest {
    return renderRequest(this.#options.table.operations[call.operation], call, this.#options)
  }

  /** Places for what a thread sends: at least one, at most `max`, and no more than half of those that there are now. */
  async takePlaces(max: number, signal: AbortSignal | undefined): Promise<readonly (() => void)[]> {
    const { limit } = this.#options
    if (limit === undefined) return Array.from({ length: max }, () => () => undefined)
    const places = [await limit.enter(signal)]
    const wanted = Math.min(max, Math.floor(limit.limit / 2))
    while (places.length < wanted && limit.running + limit.waiting < limit.limit)
      places.push(await limit.enter())
    return places.map((leave) => () => leave())
  }

  /** Counts a request that a thread has sent, and that was answered. */
  note(notice: RequestNotice<keyof Of & string> & { readonly status: number }): void {
    this.#options.onRequest?.(notice)
    this.#options.availability?.watch(this.#options.origin ?? '')(notice.status)
  }

  /** Cuts all requests that are running. May be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#pool === undefined ? Promise.resolve() : this.#pool.then((pool) => pool.destroy())
    return this.#closing
  }

  async #exchange(call: Call<keyof Of & string>, receive?: Receive, isRenewed = false): Promise<Answered> {
    const { authorization, bound, answerMaxBytes, table } = this.#options
    const mayBegin = this.#mayBegin(call)
    const authorized = await authorization?.headers(call)
    const collector = new TextCollector(answerMaxBytes)
    const startMs = this.#clock.monotonicMs()
    const note = (status: number | undefined): void => {
      const durationMs = this.#clock.monotonicMs() - startMs
      this.#options.onRequest?.({ operation: call.operation, status, durationMs })
    }
    const isNotedAtEnd = bound.bounds === 'whole'
    const tell = this.#options.availability?.watch(call.address?.origin ?? this.#options.origin ?? '')
    let head: AnswerHead | undefined
    const begin = (begun: AnswerHead): TakePiece => {
      head = begun
      if (!isNotedAtEnd) note(begun.status)
      const isReceived = receive !== undefined && isDone(table, call.operation, begun.status)
      return isReceived ? receive(begun) : (piece) => collector.add(piece)
    }
    try {
      const row = table.operations[call.operation]
      const request = { ...renderRequest(row, call, { ...this.#options, authorized }), mayBegin }
      await exchangeOver(await this.#dispatcher(call), request, {
        bounds: bound.bounds,
        boundMs: bound.boundMs + (call.serverWaitMs ?? 0),
        begin,
      })
    } catch (error) {
      tell?.(error instanceof ExchangeBrokenError && !isGivenUp(error.broken) ? 'no-answer' : 'given-up')
      const isBegun = !(error instanceof ExchangeBrokenError && error.broken.how === 'late')
      if (isBegun && (head === undefined || isNotedAtEnd)) note(undefined)
      throw error instanceof ExchangeBrokenError ? this.#broken(call, error) : error
    }
    invariant(head !== undefined, 'an exchange that has ended has begun')
    tell?.(head.status)
    if (isNotedAtEnd) note(head.status)
    // Refused before anything was done: with new headers it is still the same try.
    const isRefused = head.status === 401 && authorized !== undefined && !isRenewed
    if (isRefused && authorization?.renew(authorized) === true) {
      if (table.operations[call.operation].isSentOnce)
        throw failureOf(table, call, { failure: authorization.renewed, said: 'the credentials were refused' })
      return this.#exchange(call, receive, true)
    }
    return { head, text: collector.text() }
  }

  #mayBegin({ mayBegin, sendWithinMs = Infinity }: Call<keyof Of & string>): () => boolean {
    const startMs = this.#clock.monotonicMs()
    return () => this.#clock.monotonicMs() - startMs <= sendWithinMs && mayBegin?.() !== false
  }

  /** Throws what is an error; returns what is a value. */
  #judge<Value>(
    call: Call<keyof Of & string>,
    { head, text }: Answered,
    read: (body: never, head: AnswerHead) => Value,
  ): { readonly is: 'done'; readonly value: Value } | { readonly is: string; readonly message: string } {
    const { table } = this.#options
    const answer = readAnswer(head, text)
    const verdict = classifyAnswer(table, call.operation, answer)
    if (verdict.is === 'done')
      return { is: 'done', value: this.#read(call, answer, (body) => read(body, head)) }
    const message = table.messageOf(answer)
    const words = message === undefined ? undefined : this.#redactor.text(message)
    if (verdict.is === 'value') return { is: verdict.value, message: words ?? '' }
    const body = answer.status < 400 ? ` with a body of type "${answer.contentType}"` : ''
    const requestId = head.header('x-request-id')
    throw failureOf(table, call, {
      failure: verdict.failure,
      said: `the server answered ${answer.status}${body}${words === undefined ? '' : `: ${quote(words)}`}`,
      details: { status: answer.status, ...(requestId !== undefined && { requestId }) },
      retryAfterMs: parseRetryAfter(head.header('retry-after'), this.#clock.now()),
    })
  }

  #read<Value>(call: Call<keyof Of & string>, { json, text }: Answer, read: (body: never) => Value): Value {
    try {
      // `never` is the one type every reader accepts; each of them makes sure of what it gets.
      return read((json === undefined ? text : json) as never)
    } catch (error) {
      throw error instanceof ShapeError ? shapeFailure(this.#options.table, call, error.message) : error
    }
  }

  /** An abort by the caller is thrown as it is, unless it is unknown whether the request took effect. */
  #broken(call: Call<keyof Of & string>, { broken, cause }: ExchangeBrokenError): Error {
    const failure = breakFailure(this.#options.table, call, broken, cause)
    return broken.how === 'aborted' && failure.kind !== 'uncertain' ? abortReason(call.signal) : failure
  }

  #dispatcher(call: Call<keyof Of & string>): Promise<Way> {
    const { table } = this.#options
    if (this.#closing !== undefined)
      throw new DefectError(table.closed, `${describe(table, call)}: the client is closed`)
    return (this.#pool ??= openPool(this.#options))
  }
}

type Receive = (head: AnswerHead) => TakePiece

function isGivenUp({ how }: Break): boolean {
  return how === 'aborted' || how === 'late'
}

interface Answered {
  readonly head: AnswerHead
  readonly text: string
}

function readAnswer(head: AnswerHead, text: string): Answer {
  const contentType = head.header('content-type') ?? ''
  return {
    status: head.status,
    contentType,
    text,
    json: /\bjson\b/.test(contentType) ? parse(text) : undefined,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What carries requests. */
type Way = Pick<Dispatcher, 'dispatch' | 'destroy'>

async function openPool(options: ConnectionOptions<never>): Promise<Way> {
  if (options.answer !== undefined) return answerInProcess(options.answer, options.origin)
  const pool = {
    connections: options.connections,
    connect: { timeout: options.connectTimeoutMs },
    // The bound of the exchange also covers the queue and the connecting.
    headersTimeout: 0,
    bodyTimeout: options.bodyIdleMs,
  }
  // Loaded late: only those who talk to a server pay for it.
  if (options.origin === undefined) return new (await loadPool('Agent'))(pool)
  return new (await loadPool('Pool'))(options.origin, pool)
}
