/**
 * A client for one Conductor server. What is asked of the server is in `http-task-queue.ts` and `definitions.ts`.
 */

import { systemClock, type Clock } from '../base/clock.ts'
import { InvalidError, RefusedError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import type { RetryPolicy } from '../base/retry.ts'
import type { Call } from '../remote/call.ts'
import { Connection, type Authorization, type RequestNotice } from '../remote/connection.ts'
import { parseAddress } from '../remote/address.ts'
import type { AnswerHead } from '../remote/http-exchange.ts'
import { createTokenSource, type ConductorKey } from './auth.ts'
import {
  CONDUCTOR_ANSWER_MAX_BYTES,
  CONDUCTOR_ANSWER_TIMEOUT_MS,
  CONDUCTOR_CONNECT_TIMEOUT_MS,
  CONDUCTOR_CONNECTIONS_MAX,
} from './limits.ts'
import { CONDUCTOR, type ConductorContract, type ConductorRows, type OperationName } from './operations.ts'

export interface ConductorClientOptions {
  /** With or without `/api`. */
  readonly endpoint: string
  /** Nothing else is consulted: no environment variable overrides or supplies it. */
  readonly key?: ConductorKey
  /** Connections to the server, and so parallel requests and polls. Default: 64. */
  readonly connectionsMax?: number
  /** Longest time to open a connection. Default: 10 s. */
  readonly connectTimeoutMs?: number
  /** Longest time for a whole request; a poll gets the time that the server waits on top. Default: 30 s. */
  readonly answerTimeoutMs?: number
  /** How failed requests are tried again. Default: 6 tries within 60 s, with random waits of up to 100 ms at first, 10 s later. */
  readonly retry?: Partial<RetryPolicy>
  /** Gets a line for each request that is sent again. Default: nothing is logged. */
  readonly logger?: Logger
  /** For waits between tries and the lifetime of tokens. Default: the machine's clock. */
  readonly clock?: Clock
  /** For the waits between tries. Default: the operating system's randomness. */
  readonly random?: Random
  /** Called for every request that was made, those for a token included: for metrics. */
  readonly onExchange?: (notice: ExchangeNotice) => void
  /** Of a server in this process, which is asked instead of the endpoint. */
  readonly answer?: ((request: Request) => Response | Promise<Response>) | undefined
}

export type ExchangeNotice = RequestNotice<OperationName>

/** One operation of Conductor, with what it takes in its path, query and body. */
export type ConductorCall<Name extends OperationName = OperationName> = Name extends OperationName
  ? Call<Name, ConductorContract[Name]>
  : never

export interface ConductorClient {
  /** The body of the response, or what `read` makes of it; `undefined` when what was named does not exist. */
  call<Value = unknown>(
    request: ConductorCall,
    read?: (body: unknown, head: AnswerHead) => Value,
  ): Promise<Value | undefined>
  /** Cuts all requests that are running. May be called twice. */
  close(): Promise<void>
}

/**
 * ```ts
 * const client = openConductorClient({ endpoint: 'http://localhost:8080/api' })
 * const task = await client.call({ operation: 'getTask', path: { taskId } })
 * ```
 */
export function openConductorClient(options: ConductorClientOptions): ConductorClient {
  const { origin, prefix } = parseEndpoint(options.endpoint)
  const { clock = systemClock, key } = options
  const connection = new Connection<ConductorRows, ConductorContract>({
    ...options,
    table: CONDUCTOR,
    origin,
    prefix,
    clock,
    connections: options.connectionsMax ?? CONDUCTOR_CONNECTIONS_MAX,
    connectTimeoutMs: options.connectTimeoutMs ?? CONDUCTOR_CONNECT_TIMEOUT_MS,
    bound: { bounds: 'whole', boundMs: options.answerTimeoutMs ?? CONDUCTOR_ANSWER_TIMEOUT_MS },
    bodyIdleMs: 0,
    answerMaxBytes: CONDUCTOR_ANSWER_MAX_BYTES,
    headers: { accept: 'application/json, text/plain' },
    authorization: key && authorizationBy(() => tradeKey(key), clock),
    secrets: key === undefined ? [] : [key.keyId, key.keySecret],
    onRequest: options.onExchange,
  })

  async function tradeKey({ keyId, keySecret }: ConductorKey): Promise<string | undefined> {
    const call = { operation: 'createToken', json: { keyId, keySecret }, target: {} } as const
    const traded = await connection.once(call, readToken)
    return traded.is === 'done' ? traded.value : undefined
  }

  return {
    async call<Value = unknown>(
      request: ConductorCall,
      read: (body: unknown, head: AnswerHead) => Value = (body) => body as Value,
    ): Promise<Value | undefined> {
      requireNames(request.path)
      const outcome = await connection.call(request, read)
      return outcome.is === 'done' ? outcome.value : undefined
    },
    close: () => connection.close(),
  }
}

/** A field of any body. */
export function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
}

/** Where the API is. `prefix` is the path before `/api`: empty, or with a slash at its start and none at its end. */
export function parseEndpoint(text: string): { readonly origin: string; readonly prefix: string } {
  const { origin, pathname } = parseAddress(
    text,
    (why) =>
      new InvalidError('conductor/bad-endpoint', `read the Conductor endpoint: ${why}`, {
        next: 'Give the address of the API, such as http://localhost:8080/api.',
      }),
  )
  return { origin, prefix: pathname.replace(/\/api$/, '').replace(/\/+$/, '') }
}

const TOKEN_HEADER = 'x-authorization'

function authorizationBy(trade: () => Promise<string | undefined>, clock: Clock): Authorization {
  const tokens = createTokenSource({ trade, clock })
  return {
    async headers({ operation, signal }): Promise<Record<string, string>> {
      if (operation === 'createToken') return {}
      const token = await tokens.get(signal)
      return token === undefined ? {} : { [TOKEN_HEADER]: token }
    },
    renew({ [TOKEN_HEADER]: token }) {
      if (token !== undefined) tokens.discard(token)
      return token !== undefined
    },
    renewed: {
      kind: 'unavailable',
      code: 'conductor/unauthorized',
      next: 'Try again: nothing was done, and the next request gets a new token.',
    },
  }
}

function readToken(body: unknown): string {
  const token = fieldOf(body, 'token')
  if (typeof token === 'string' && token !== '') return token
  throw new RefusedError('conductor/unauthorized', 'trade the key for a token: the answer has no token', {
    next: 'Check the endpoint and the key.',
  })
}

function requireNames(path: object = {}): void {
  for (const name of Object.values(path)) {
    // A server's address parser takes a dot alone for a folder, encoded or not.
    if (typeof name === 'string' && name !== '' && !/^\.{1,2}$/.test(name)) continue
    throw new InvalidError('conductor/bad-name', `use ${JSON.stringify(name)} as a name in an address`, {
      next: 'Give a name that is neither empty nor made of dots alone.',
    })
  }
}
