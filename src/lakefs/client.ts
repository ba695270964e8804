/**
 * A client for one lakeFS server. What is asked of the server is in `versioned-repo.ts` and `administration.ts`; they work
 * over the `LakefsConnection` of a client, which its public type does not show.
 */

import { unlessAborted } from '../base/abort-signals.ts'
import { createAdaptiveLimit, type AdaptiveLimit } from '../base/adaptive-limit.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { DefectError, InvalidError, invariant } from '../base/errors.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import type { RetryPolicy } from '../base/retry.ts'
import type { CallOptions } from '../publication/ports.ts'
import { parseAddress } from '../remote/address.ts'
import type { Availability } from '../remote/availability.ts'
import { Connection, type RequestNotice } from '../remote/connection.ts'
import { readCapabilities, type Capabilities } from './capabilities.ts'
import {
  LAKEFS_ANSWER_TIMEOUT_MS,
  LAKEFS_BRANCH_WRITES_MAX,
  LAKEFS_BODY_IDLE_MS,
  LAKEFS_CONNECT_TIMEOUT_MS,
  LAKEFS_CONNECTIONS_MAX,
  LAKEFS_JSON_ANSWER_MAX_BYTES,
  LAKEFS_MULTIPART_THRESHOLD_BYTES,
  LAKEFS_PART_BYTES,
  LAKEFS_PARTS_IN_FLIGHT,
  LAKEFS_REFUSAL_MAX_BYTES,
} from './limits.ts'
import { OBJECT_STORE, type StoreConnection } from './object-store.ts'
import { LAKEFS, type LakefsServer, type OperationName } from './operations.ts'

export interface LakefsTimeouts {
  readonly connectMs: number
  /** The longest time without any progress until a response begins. */
  readonly answerMs: number
  /** The longest silence in the middle of a response. */
  readonly bodyIdleMs: number
}

/** When and how uploads go in parts, where the server offers it. */
export interface MultipartSizes {
  readonly thresholdBytes: number
  readonly partBytes: number
  readonly partsInFlight: number
}

export interface LakefsClientOptions {
  /** With or without `/api/v1`. */
  readonly endpoint: string
  /** The access key of a lakeFS user. */
  readonly accessKeyId: string
  /** The secret of this access key; never part of an error. */
  readonly secretAccessKey: string
  /** Connections, and so parallel requests. */
  readonly connectionsMax?: number
  /** Time limits of requests. Default of each field: 10 s to connect, 2 min until a response begins, 60 s of silence in it. */
  readonly timeouts?: Partial<LakefsTimeouts>
  /** How failed requests are tried again. Default: 6 tries within 60 s, with random waits of up to 100 ms at first, 10 s later. */
  readonly retry?: Partial<RetryPolicy>
  /** When uploads go in parts, and how. Default of each field: from 64 MiB on, parts of 16 MiB, 4 at once. */
  readonly multipart?: Partial<MultipartSizes>
  /** Gets a line for each request that is sent again, and for uploads that left parts behind. Default: nothing is logged. */
  readonly logger?: Logger
  /** For waits between tries and the speed of uploads. Default: the machine's clock. */
  readonly clock?: Clock
  /** For the waits between tries. Default: the operating system's randomness. */
  readonly random?: Random
  /** Called for every request to lakeFS that was made, not for those to the object store: for metrics. */
  readonly onExchange?: (notice: RequestNotice<OperationName>) => void
  /** Told of every exchange, also with the object store; see `openServerWatch`. */
  readonly availability?: Availability
}

export interface Endpoint {
  readonly origin: string
  /** The path of the API, without a slash at its end. */
  readonly apiPath: string
  /** Both together, safe to show. */
  readonly apiUrl: string
}

export interface LakefsClient {
  readonly endpoint: Endpoint
  readonly logger: Logger
  /** Asked once, then remembered. */
  capabilities(options?: CallOptions): Promise<Capabilities>
  /** Cuts all requests that are running. May be called twice. */
  close(): Promise<void>
}

/** What the operations work over. */
export interface LakefsConnection extends LakefsClient {
  readonly server: LakefsServer
  /** For branch writes alone: the same server over connections of their own, one for each place. */
  readonly writes: { readonly server: LakefsServer; readonly places: AdaptiveLimit }
  /** No credentials are sent here. */
  readonly store: StoreConnection
  readonly multipart: MultipartSizes
  readonly clock: Clock
  /** The longest silence of a connection that waits for a response, or for the rest of it. */
  readonly silenceMs: number
}

/**
 * ```ts
 * const client = createLakefsClient({ endpoint: 'http://127.0.0.1:8000', accessKeyId, secretAccessKey })
 * const repo = openLakefsRepo(client, repositoryName('my-data'))
 * await client.close()
 * ```
 */
export function createLakefsClient(options: LakefsClientOptions): LakefsClient {
  const endpoint = parseEndpoint(options.endpoint)
  const { logger = silentLogger, timeouts } = options
  const connections = options.connectionsMax ?? LAKEFS_CONNECTIONS_MAX
  const shared = {
    ...options,
    logger,
    connections,
    connectTimeoutMs: timeouts?.connectMs ?? LAKEFS_CONNECT_TIMEOUT_MS,
    bound: { bounds: 'answer', boundMs: timeouts?.answerMs ?? LAKEFS_ANSWER_TIMEOUT_MS },
    bodyIdleMs: timeouts?.bodyIdleMs ?? LAKEFS_BODY_IDLE_MS,
  } as const
  const lakefs = {
    ...shared,
    table: LAKEFS,
    origin: endpoint.origin,
    prefix: endpoint.apiPath,
    headers: { authorization: basicAuthorization(options) },
    secrets: [options.secretAccessKey],
    answerMaxBytes: LAKEFS_JSON_ANSWER_MAX_BYTES,
    onRequest: options.onExchange,
  }
  const limit = createAdaptiveLimit({ max: connections, initial: connections })
  const server: LakefsServer = new Connection({ ...lakefs, limit })
  const writes = {
    server: new Connection({ ...lakefs, connections: LAKEFS_BRANCH_WRITES_MAX }) satisfies LakefsServer,
    // A fixed number: that others write the same branch says nothing of how much the server can do.
    places: createAdaptiveLimit({
      max: LAKEFS_BRANCH_WRITES_MAX,
      initial: LAKEFS_BRANCH_WRITES_MAX,
      isOverload: () => false,
    }),
  }
  const store: StoreConnection = new Connection({
    ...shared,
    table: OBJECT_STORE,
    answerMaxBytes: LAKEFS_REFUSAL_MAX_BYTES,
  })
  const closing = new AbortController()
  let capabilities: Promise<Capabilities> | undefined
  const connection: LakefsConnection = {
    endpoint,
    logger,
    server,
    writes,
    store,
    clock: options.clock ?? systemClock,
    silenceMs: Math.min(shared.bound.boundMs, shared.bodyIdleMs),
    multipart: {
      thresholdBytes: LAKEFS_MULTIPART_THRESHOLD_BYTES,
      partBytes: LAKEFS_PART_BYTES,
      partsInFlight: LAKEFS_PARTS_IN_FLIGHT,
      ...options.multipart,
    },
    capabilities({ signal } = {}) {
      // One request for all callers that wait. Only a success is remembered.
      capabilities ??= readCapabilities(server, closing.signal).catch((error: unknown) => {
        capabilities = undefined
        throw error
      })
      return unlessAborted(capabilities, signal)
    },
    async close() {
      closing.abort(new DefectError('lakefs/client-closed', 'use the lakeFS client: it is closed'))
      await Promise.all([server.close(), writes.server.close(), store.close()])
    },
  }
  return connection
}

/** The connection of a client that this package made. */
export function connectionOf(client: LakefsClient): LakefsConnection {
  invariant('server' in client && 'store' in client, 'a lakeFS client is made by createLakefsClient')
  return client as LakefsConnection
}

const API_PATH = '/api/v1'

export function parseEndpoint(text: string): Endpoint {
  const { origin, pathname } = parseAddress(
    text,
    (why) =>
      new InvalidError('lakefs/bad-endpoint', `read the lakeFS endpoint: ${why}`, {
        next: 'Write it like http://127.0.0.1:8000.',
      }),
  )
  const apiPath = pathname.endsWith(API_PATH) ? pathname : `${pathname}${API_PATH}`
  return { origin, apiPath, apiUrl: `${origin}${apiPath}` }
}

function basicAuthorization({ accessKeyId, secretAccessKey }: LakefsClientOptions): string {
  if (accessKeyId === '' || secretAccessKey === '' || accessKeyId.includes(':')) {
    throw new InvalidError(
      'lakefs/bad-credentials',
      'read the lakeFS credentials: one is empty, or the key id has a colon',
      { next: 'Set both the access key id and the secret access key.' },
    )
  }
  return `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`
}
