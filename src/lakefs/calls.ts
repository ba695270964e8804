/**
 * One operation from start to answer: wait for a place, send, judge, try again where that is right.
 *
 * - Only what was surely not done, or is harmless to repeat, is tried again (`operations.ts`).
 * - When an earlier answer was lost, no later "surely not done" may stand for the whole: it ends `uncertain`.
 */

import type { Readable } from 'node:stream'
import { createAdaptiveLimit, type AdaptiveLimit } from '../base/adaptive-limit.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { isPeragoError, type PeragoError } from '../base/errors.ts'
import { ExchangeBrokenError, TextCollector, type AnswerReceiver } from '../remote/http-exchange.ts'
import { LAKEFS_JSON_ANSWER_MAX_BYTES, LAKEFS_REFUSAL_MAX_BYTES } from './limits.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import type { Redactor } from '../base/redaction.ts'
import { parseRetryAfter } from '../remote/retry-after.ts'
import { isRetryable, retry, type RetryOptions, type RetryPolicy } from '../base/retry.ts'
import { classifyAnswer, type Answer, type Verdict } from './answers.ts'
import { API, type Api, type CallInit } from './api.ts'
import { requestPath, type Endpoint } from './endpoint.ts'
import { breakFailure, failureOf, lostEarlier, shapeFailure, type Call } from './failures.ts'
import { operationRow, type ExpectedRefusal, type OperationName, type RefusalOf } from './operations.ts'
import { ShapeError } from './readers.ts'
import type { RawAnswer, RawRequest, Transport } from './transport.ts'

export interface TypedAnswer<Body> {
  readonly data?: Body
  readonly error?: unknown
}

/** Success, or one of the refusals the table foresees for this very operation. */
export type CallResult<Value, Refusal extends ExpectedRefusal> =
  { readonly is: 'done'; readonly value: Value } | RefusalResult<Refusal>

type RefusalResult<Refusal extends ExpectedRefusal> = Refusal extends unknown
  ? { readonly is: Refusal; readonly message: string }
  : never

export interface Calls {
  /** A request and an answer in JSON. `read` makes sure of what came. */
  json<Name extends OperationName, Body, Value>(
    call: Call<Name>,
    send: (api: Api, init: CallInit) => Promise<TypedAnswer<Body>>,
    read: (body: Body | undefined) => Value,
  ): Promise<CallResult<Value, RefusalOf<Name>>>
  /** The same, one try only: to be used inside `attempts`. */
  jsonOnce<Name extends OperationName, Body, Value>(
    call: Call<Name>,
    send: (api: Api, init: CallInit) => Promise<TypedAnswer<Body>>,
    read: (body: Body | undefined) => Value,
  ): Promise<CallResult<Value, RefusalOf<Name>>>
  /** One try of one exchange with a body of bytes, judged but not repeated: to be used inside `attempts`. */
  once<Name extends OperationName>(
    call: Call<Name>,
    request: RawRequest,
  ): Promise<CallResult<RawAnswer, RefusalOf<Name>>>
  /** One try with a body that is there as a whole, and an answer in JSON: to be used inside `attempts`. */
  documentOnce<Name extends OperationName, Value>(
    call: Call<Name>,
    request: RawRequest,
    read: (json: never) => Value,
  ): Promise<CallResult<Value, RefusalOf<Name>>>
  /** One try, with the body handed on as it arrives. `receive` is called once the status says "done". */
  deliverOnce<Name extends OperationName>(
    call: Call<Name>,
    request: RawRequest,
    receive: (answer: Pick<RawAnswer, 'status' | 'header'>) => AnswerReceiver['write'],
  ): Promise<CallResult<undefined, RefusalOf<Name>>>
  /** Takes a place, tries, tries again where that is right. */
  attempts<Value>(call: Call, once: () => Promise<Value>): Promise<Value>
  /** The retry policy alone, for what is made of several requests and takes no place of its own. */
  repeat<Value>(
    once: () => Promise<Value>,
    options: { readonly signal: AbortSignal | undefined; readonly shouldRetry: (error: unknown) => boolean },
  ): Promise<Value>
}

export interface ExchangeNotice {
  readonly operation: OperationName
  /** `undefined` when no answer came. */
  readonly status: number | undefined
  /** Until the answer began. */
  readonly durationMs: number
}

export interface CallsOptions {
  readonly endpoint: Endpoint
  readonly transport: Transport
  readonly authorization: string
  readonly concurrency: number
  readonly retry: Partial<RetryPolicy>
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly logger: Logger
  readonly redactor: Redactor
  readonly onExchange: ((notice: ExchangeNotice) => void) | undefined
}

export function createCalls(options: CallsOptions): Calls {
  const limit = createAdaptiveLimit({ max: options.concurrency, initial: options.concurrency })

  return {
    json: (call, send, read) => attempts(options, limit, call, () => sendJson(options, call, send, read)),
    jsonOnce: (call, send, read) => sendJson(options, call, send, read),
    once: (call, request) => sendRaw(options, call, request),
    documentOnce: (call, request, read) => sendDocument(options, call, request, read),
    deliverOnce: (call, request, receive) => deliverRaw(options, call, request, receive),
    attempts: (call, once) => attempts(options, limit, call, once),
    repeat: (once, { signal, shouldRetry }) => retry(once, { ...retryBasis(options, signal), shouldRetry }),
  }
}

function retryBasis(options: CallsOptions, signal: AbortSignal | undefined): RetryOptions {
  return {
    policy: options.retry,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.random === undefined ? {} : { random: options.random }),
    ...(signal === undefined ? {} : { signal }),
  }
}

async function attempts<Value>(
  options: CallsOptions,
  limit: AdaptiveLimit,
  call: Call,
  once: () => Promise<Value>,
): Promise<Value> {
  const { signal } = call
  const repeatable = operationRow(call.operation).class === 'idempotent'
  const earlier = { lost: false }
  try {
    return await retry(() => limit.run(once, { signal }), {
      ...retryBasis(options, signal),
      shouldRetry: (error) => {
        if (isUncertain(error)) earlier.lost = true
        return isRetryable(error) || (repeatable && isUncertain(error))
      },
      onRetry: ({ attempt, error, delayMs }) => {
        options.logger.debug('a lakeFS request is tried again', {
          operation: call.operation,
          attempt,
          delayMs,
          error,
        })
      },
    })
  } catch (error) {
    throw earlier.lost && !isUncertain(error) && !isDefinite(error) ? lostEarlier(call, error) : error
  }
}

async function sendJson<Name extends OperationName, Body, Value>(
  options: CallsOptions,
  call: Call<Name>,
  send: (api: Api, init: CallInit) => Promise<TypedAnswer<Body>>,
  read: (body: Body | undefined) => Value,
): Promise<CallResult<Value, RefusalOf<Name>>> {
  let judged: { readonly verdict: Exclude<Verdict, { is: 'error' }>; readonly answer: Answer } | undefined
  const travel: CallInit['send'] = async ({ method, template, names, query, headers, json }) => {
    const { answer, text } = await deliverText(options, call, {
      method,
      path: requestPath(options.endpoint, template, names, query),
      headers: json === undefined ? headers : { 'content-type': JSON_TYPE, ...headers },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
    judged = judge(options, call, answer, text)
    return judged.verdict.is === 'done' ? { data: parse(text) } : {}
  }

  const { data } = await send(API, { send: travel })
  if (judged === undefined) throw shapeFailure(call, 'no request was made')
  const { verdict, answer } = judged
  if (verdict.is !== 'done') return refusal<Name>(verdict.is, answer)
  return { is: 'done', value: readValue(call, () => read(data)) }
}

async function sendRaw<Name extends OperationName>(
  options: CallsOptions,
  call: Call<Name>,
  request: RawRequest,
): Promise<CallResult<RawAnswer, RefusalOf<Name>>> {
  const raw = await exchange(options, call, request)
  if (operationRow(call.operation).done.includes(raw.status)) return { is: 'done', value: raw }
  const text = await readText(call, raw, LAKEFS_REFUSAL_MAX_BYTES)
  const { verdict, answer } = judge(options, call, raw, text)
  if (verdict.is === 'done') throw shapeFailure(call, `status ${raw.status}`)
  return refusal<Name>(verdict.is, answer)
}

async function sendDocument<Name extends OperationName, Value>(
  options: CallsOptions,
  call: Call<Name>,
  request: RawRequest,
  read: (json: never) => Value,
): Promise<CallResult<Value, RefusalOf<Name>>> {
  const { answer: head, text } = await deliverText(options, call, request)
  const { verdict, answer } = judge(options, call, head, text)
  if (verdict.is !== 'done') return refusal<Name>(verdict.is, answer)
  return { is: 'done', value: readDocument(call, text, read) }
}

async function deliverRaw<Name extends OperationName>(
  options: CallsOptions,
  call: Call<Name>,
  request: RawRequest,
  receive: (answer: Pick<RawAnswer, 'status' | 'header'>) => AnswerReceiver['write'],
): Promise<CallResult<undefined, RefusalOf<Name>>> {
  let write: AnswerReceiver['write'] | undefined
  const refused = new TextCollector(LAKEFS_REFUSAL_MAX_BYTES)
  const answered = await deliver(options, call, request, {
    begin: (answer) => {
      if (operationRow(call.operation).done.includes(answer.status)) write = receive(answer)
    },
    write: (piece) => (write === undefined ? refused.add(piece) : write(piece)),
  })
  if (write !== undefined) return { is: 'done', value: undefined }
  const { verdict, answer } = judge(options, call, answered, refused.text())
  if (verdict.is === 'done') throw shapeFailure(call, `status ${answered.status}`)
  return refusal<Name>(verdict.is, answer)
}

type Answered = Pick<RawAnswer, 'status' | 'header'>

/** The whole answer, which is no larger than a document may be. */
async function deliverText(
  options: CallsOptions,
  call: Call,
  request: RawRequest,
): Promise<{ readonly answer: Answered; readonly text: string }> {
  const collected = new TextCollector(LAKEFS_JSON_ANSWER_MAX_BYTES)
  const answer = await deliver(options, call, request, {
    begin: () => undefined,
    write: (piece) => collected.add(piece),
  })
  return { answer, text: collected.text() }
}

async function deliver(
  options: CallsOptions,
  call: Call,
  request: RawRequest,
  receiver: AnswerReceiver,
): Promise<Answered> {
  let answered: Answered | undefined
  const note = noteFor(options, call)
  try {
    await options.transport.deliver(
      {
        ...request,
        headers: { ...request.headers, authorization: options.authorization },
        signal: call.signal,
      },
      {
        begin: (answer) => {
          answered = answer
          note(answer.status)
          receiver.begin(answer)
        },
        write: (piece) => receiver.write(piece),
      },
    )
  } catch (error) {
    if (answered === undefined) note(undefined)
    throw error instanceof ExchangeBrokenError ? brokenOff(call, error) : error
  }
  if (answered === undefined) throw shapeFailure(call, 'no answer was begun')
  return answered
}

function refusal<Name extends OperationName>(
  is: ExpectedRefusal,
  answer: Answer,
): RefusalResult<RefusalOf<Name>> {
  // `classifyAnswer` took the value from this operation's own row; the compiler cannot follow it there.
  return { is, message: answer.message ?? '' } as unknown as RefusalResult<RefusalOf<Name>>
}

async function exchange(options: CallsOptions, call: Call, request: RawRequest): Promise<RawAnswer> {
  const note = noteFor(options, call)
  try {
    const answer = await options.transport.exchange({
      ...request,
      headers: { ...request.headers, authorization: options.authorization },
      signal: call.signal,
    })
    note(answer.status)
    return answer
  } catch (error) {
    note(undefined)
    if (!(error instanceof ExchangeBrokenError)) throw error
    throw brokenOff(call, error)
  }
}

function noteFor(
  { clock = systemClock, onExchange }: CallsOptions,
  { operation }: Call,
): (status: number | undefined) => void {
  const startMs = clock.monotonicMs()
  return (status) => onExchange?.({ operation, status, durationMs: clock.monotonicMs() - startMs })
}

/** An abort by the caller is handed back as it is, unless it leaves behind that nobody knows what happened. */
function brokenOff(call: Call, error: ExchangeBrokenError): unknown {
  const { broken } = error
  const harmless = !broken.sent || operationRow(call.operation).class === 'safe'
  if (broken.how === 'aborted' && harmless) return call.signal?.reason
  return breakFailure(call, broken, error.cause)
}

const JSON_TYPE = 'application/json'

/** Throws what is an error; returns what is a value. */
function judge(
  options: CallsOptions,
  call: Call,
  raw: Pick<RawAnswer, 'status' | 'header'>,
  text: string,
): { verdict: Exclude<Verdict, { is: 'error' }>; answer: Answer } {
  const json = raw.header('content-type')?.includes(JSON_TYPE) === true ? parse(text) : undefined
  const message = (json as { message?: unknown } | undefined)?.message
  const answer: Answer = {
    status: raw.status,
    isJson: json !== undefined,
    message: typeof message === 'string' ? options.redactor.text(message) : undefined,
  }
  const verdict = classifyAnswer(call.operation, answer)
  if (verdict.is !== 'error') return { verdict, answer }
  const now = (options.clock ?? systemClock).now()
  throw failureOf(call, verdict, answer, {
    retryAfterMs: parseRetryAfter(raw.header('retry-after'), now),
    requestId: raw.header('x-request-id'),
  })
}

/** An object or a list; every lakeFS answer is one. */
function parse(text: string): object | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? json : undefined
  } catch {
    return undefined
  }
}

/** Reads what comes, as far as the error can be told from a broken connection. */
async function readText(call: Call, raw: RawAnswer, maxBytes: number): Promise<string> {
  try {
    return await collect(raw.body, maxBytes)
  } catch (error) {
    const how = call.signal?.aborted === true ? 'aborted' : 'dropped'
    throw brokenOff(call, new ExchangeBrokenError({ sent: true, how }, error))
  }
}

async function collect(body: Readable, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** For callers that read a success themselves. */
export function readValue<Value>(call: Call, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof ShapeError) throw shapeFailure(call, error.message)
    throw error
  }
}

/** The JSON document of a raw success. */
export async function readJson<Value>(
  call: Call,
  raw: RawAnswer,
  read: (json: never) => Value,
): Promise<Value> {
  return readDocument(call, await readText(call, raw, LAKEFS_JSON_ANSWER_MAX_BYTES), read)
}

function readDocument<Value>(call: Call, text: string, read: (json: never) => Value): Value {
  const json = parse(text)
  if (json === undefined) throw shapeFailure(call, 'it is no JSON document')
  // `never` is the one type every reader accepts; each of them makes sure of what it gets.
  return readValue(call, () => read(json as never))
}

function isUncertain(error: unknown): boolean {
  return isPeragoError(error) && error.kind === 'uncertain'
}

/** The server gave a clear answer to the last try. */
function isDefinite(error: unknown): error is PeragoError {
  return isPeragoError(error) && error.kind !== 'unavailable' && error.kind !== 'uncertain'
}
