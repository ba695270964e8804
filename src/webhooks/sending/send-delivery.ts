/** One call of a receiver. */

import { createHmac } from 'node:crypto'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { DeliveryRecord, WebhookRecord } from '../records.ts'
import { followSignals } from '../../base/abort-signals.ts'
import { defined } from '../../base/defined.ts'
import { isPeragoError } from '../../base/errors.ts'
import { WEBHOOK_TIMEOUT_MS } from '../limits.ts'
import { findAddress, type FoundAddress, type Resolve } from './check-address.ts'

export interface SendOptions {
  readonly allowPrivate: boolean
  readonly resolve?: Resolve
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
    'perago-delivery': id,
    'perago-event': eventType,
    'perago-signature': `t=${timestamp},v1=${signDelivery(secret, timestamp, body)}`,
    ...defined({ traceparent }),
  }
  try {
    const status = await post(new URL(url), headers, body, options)
    // A redirect is not followed: its address was not checked.
    return status >= 200 && status < 300 ? undefined : `it answered ${status}`
  } catch (error) {
    if (isPeragoError(error)) return `${error.message} [${error.code}]`
    return error instanceof Error ? error.message : 'it could not be called'
  }
}

/** HMAC-SHA256 over the time, a dot and the body, in hexadecimal, so that an old delivery cannot be given a new time. */
function signDelivery(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
}

async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  { signal, timeoutMs = WEBHOOK_TIMEOUT_MS, ...where }: SendOptions,
): Promise<number> {
  const found = await findAddress(url, where)
  const bounded = followSignals(signal)
  // A limit for the whole exchange: a receiver that answers byte by byte is slow too.
  const timer = setTimeout(() => bounded.abort(timedOut(timeoutMs)), timeoutMs)
  try {
    return await exchange(url, { found, headers, body, signal: bounded.signal })
  } catch (error) {
    if (bounded.signal.aborted && !signal.aborted) throw timedOut(timeoutMs)
    throw error
  } finally {
    clearTimeout(timer)
    bounded.release()
  }
}

interface Exchange {
  readonly found: FoundAddress
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

function exchange(url: URL, { found, headers, body, signal }: Exchange): Promise<number> {
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: 'POST',
      headers,
      signal,
      agent: false,
      lookup: (_host, options, done) => {
        if (options.all === true) done(null, [found])
        else done(null, found.address, found.family)
      },
    })
    request.on('error', reject)
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      // The body is not needed, and may never end.
      response.destroy()
    })
    request.end(body)
  })
}

function timedOut(timeoutMs: number): Error {
  return new Error(`it did not answer within ${timeoutMs} ms`)
}
