/** What a connection is asked to send, and the request that this is. */

import type { Readable } from 'node:stream'
import type { RequestOf } from './contract.ts'
import type { Subject } from './failures.ts'
import type { ExchangeRequest } from './http-exchange.ts'
import type { OperationRow } from './server-table.ts'

export type Headers = Readonly<Record<string, string>>

/** An operation of the table with what the contract says it takes. */
export type Call<Name extends string, Operation = object> = Subject<Name> &
  RequestOf<Operation> & {
    readonly signal?: AbortSignal | undefined
    readonly headers?: Headers | undefined
    /** A body that is not JSON. */
    readonly body?: string | Uint8Array | Readable | undefined
    /** Is given a function to call whenever a piece of the body was taken. */
    readonly onStart?: ((progress: () => void) => void) | undefined
    /** In place of the path in the table. */
    readonly address?: URL | undefined
    /** How long the server was asked to wait before it responds. */
    readonly serverWaitMs?: number | undefined
    /** Asked in the moment before the first byte is sent. `false`: nothing is sent, and the server was not reached. */
    readonly mayBegin?: (() => boolean) | undefined
    /** The same by time: what has not begun to be sent after it, counted from the try, is not sent. */
    readonly sendWithinMs?: number | undefined
  }

/** `headers` go with every request; `authorized` says who calls, and wins over all others. */
export function renderRequest<Name extends string>(
  { method, path }: OperationRow,
  call: Call<Name>,
  {
    prefix = '',
    headers,
    authorized,
  }: {
    readonly prefix?: string | undefined
    readonly headers?: Headers
    readonly authorized?: Headers | undefined
  },
): ExchangeRequest {
  const { address, body, json, onStart, signal } = call
  return {
    origin: address?.origin,
    method,
    path:
      address === undefined
        ? prefix + renderPath(path, call.path) + renderQuery(call.query)
        : address.pathname + address.search,
    headers: {
      ...headers,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...call.headers,
      ...authorized,
    },
    body: json === undefined ? body : JSON.stringify(json),
    onStart,
    signal,
  }
}

type Names = Readonly<Record<string, unknown>>

function renderPath(template: string, names: object = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((names as Names)[name])),
  )
}

function renderQuery(query: object = {}): string {
  const pairs = Object.entries(query as Names)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}
