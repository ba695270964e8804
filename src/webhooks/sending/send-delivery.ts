/** One call of a receiver. */

import { createHmac } from 'node:crypto'
import { request as plainRequest, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { TcpNetConnectOpts } from 'node:net'
import { WEBHOOK_SECRET_PREFIX, type DeliveryRecord, type WebhookRecord } from '../records.ts'
import { defined } from '../../base/defined.ts'
import { isPeragoError } from '../../base/errors.ts'
import { followSignals, unlessAborted } from '../../base/abort-signals.ts'
import { WEBHOOK_CONNECT_MS, WEBHOOK_TIMEOUT_MS } from '../limits.ts'
import { findAddresses, type Resolve } from './check-address.ts'
import type { FoundAddress } from './host-names.ts'

export interface SendOptions {
  readonly allowPrivate: boolean
  readonly resolve: Resolve
  readonly timeoutMs?: number
  readonly signal: AbortSignal
  readonly now: Date
}

/** `undefined` when the receiver accepted it, else what was wrong, in a few words. Never rejects. */
export async function sendDelivery(
  { url, secret }: Pick<WebhookRecord, 'url' | 'secret'>,
  { id, eventType, body, traceparent }: Pick<DeliveryRecord, 'id' | 'eventType' | 'body' | 'traceparent'>,
  options: SendOptions,
): Promise<string | undefined> {
  const timestamp = String(Math.floor(options.now.getTime() / 1_000))
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'perago',
    'perago-event': eventType,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${sign(secret, `${id}.${timestamp}.${body}`)}`,
    ...defined({ traceparent }),
  }
  try {
    const status = await post(new URL(url), headers, body, options)
    // A redirect is not followed: its address was not checked.
    return status >= 200 && status < 300 ? undefined : `it answered ${status}`
  } catch (error) {
    if (isPeragoError(error)) return `${error.message} [${error.code}]`
    return describe(error)
  }
}

/** As Standard Webhooks says: id and time are signed too, so that an old delivery cannot be given new ones. */
function sign(secret: string, signed: string): string {
  return createHmac('sha256', keyOf(secret)).update(signed).digest('base64')
}

/** Secrets of webhooks that were added before there was a prefix are keys as they stand. */
function keyOf(secret: string): Buffer {
  return secret.startsWith(WEBHOOK_SECRET_PREFIX)
    ? Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret)
}

async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  { signal, timeoutMs = WEBHOOK_TIMEOUT_MS, ...where }: SendOptions,
): Promise<number> {
  const bounded = followSignals(signal)
  // A limit for the whole: a name that is not found and a receiver that answers byte by byte are slow too.
  const timer = setTimeout(() => bounded.abort(timedOut(timeoutMs)), timeoutMs)
  try {
    const finding = findAddresses(url, { ...where, signal: bounded.signal })
    const found = await unlessAborted(finding, bounded.signal)
    return await exchange(url, { found, headers, body, signal: bounded.signal })
  } catch (error) {
    if (bounded.signal.aborted && !signal.aborted) throw timedOut(timeoutMs)
    throw error
  } finally {
    clearTimeout(timer)
    bounded.release()
  }
}

type Connecting = Pick<RequestOptions, 'agent' | 'lookup'> &
  Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'>

interface Exchange {
  readonly found: readonly FoundAddress[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

function exchange(url: URL, { found, headers, body, signal }: Exchange): Promise<number> {
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest
  const connecting: Connecting = {
    agent: false,
    // An address that does not accept a connection in time is left for the next one.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: WEBHOOK_CONNECT_MS,
    lookup: (_host, options, done) => {
      const [{ address, family } = { address: '', family: 0 }] = found
      if (options.all === true) done(null, [...found])
      else done(null, address, family)
    },
  }
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST', headers, signal, ...connecting })
    request.on('error', reject)
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      // The body is not needed, and may never end.
      response.destroy()
    })
    request.end(body)
  })
}

/** Of several addresses each has its own error, and all of them together no message. */
function describe(error: unknown): string {
  const [first = error] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : []
  return first instanceof Error ? first.message : 'it could not be called'
}

function timedOut(timeoutMs: number): Error {
  return new Error(`it did not answer within ${timeoutMs} ms`)
}
