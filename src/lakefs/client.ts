/**
 * A client for one lakeFS server: a pool of connections, the credentials, what the server can do. What is asked of the
 * server lives in `versioned-repo.ts` and `administration.ts`.
 */

import type { Clock } from '../base/clock.ts'
import { InvalidError } from '../base/errors.ts'
import {
  LAKEFS_ANSWER_TIMEOUT_MS,
  LAKEFS_BODY_IDLE_MS,
  LAKEFS_CONNECT_TIMEOUT_MS,
  LAKEFS_CONNECTIONS_MAX,
  LAKEFS_MULTIPART_THRESHOLD_BYTES,
  LAKEFS_PART_BYTES,
  LAKEFS_PARTS_IN_FLIGHT,
} from './limits.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import { createRedactor } from '../base/redaction.ts'
import type { RetryPolicy } from '../base/retry.ts'
import type { CallOptions } from '../publication/ports.ts'
import { createCalls, type Calls, type ExchangeNotice } from './calls.ts'
import { readCapabilities, type Capabilities } from './capabilities.ts'
import { parseEndpoint, type Endpoint } from './endpoint.ts'
import { createStoreTransport, type StoreTransport } from './store-transport.ts'
import { createTransport } from './transport.ts'

export interface LakefsTimeouts {
  readonly connectMs: number
  /** The longest stretch without any progress before an answer begins. */
  readonly answerMs: number
  /** The longest silence in the middle of an answer. */
  readonly bodyIdleMs: number
}

/** When and how uploads go in parts, where the server offers it. */
export interface MultipartSizes {
  readonly thresholdBytes: number
  readonly partBytes: number
  readonly partsInFlight: number
}

export interface LakefsClientOptions {
  /** As people write it: with or without `/api/v1`. */
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Connections, and so requests in flight. */
  readonly connectionsMax?: number
  readonly timeouts?: Partial<LakefsTimeouts>
  readonly retry?: Partial<RetryPolicy>
  readonly multipart?: Partial<MultipartSizes>
  readonly logger?: Logger
  readonly clock?: Clock
  readonly random?: Random
  /** Told of every request to lakeFS that was made: for metrics. What goes straight to the object store is not told. */
  readonly onExchange?: (notice: ExchangeNotice) => void
}

export interface LakefsClient {
  readonly endpoint: Endpoint
  readonly calls: Calls
  /** The way to the object store: no credentials ever travel on it. */
  readonly store: StoreTransport
  readonly multipart: MultipartSizes
  readonly logger: Logger
  /** Asked once, then remembered. */
  capabilities(options?: CallOptions): Promise<Capabilities>
  /** Cuts whatever is under way. May be called twice. */
  close(): Promise<void>
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
  const connections = options.connectionsMax ?? LAKEFS_CONNECTIONS_MAX
  const timeouts: LakefsTimeouts = {
    connectMs: LAKEFS_CONNECT_TIMEOUT_MS,
    answerMs: LAKEFS_ANSWER_TIMEOUT_MS,
    bodyIdleMs: LAKEFS_BODY_IDLE_MS,
    ...options.timeouts,
  }
  const wire = {
    connections,
    connectTimeoutMs: timeouts.connectMs,
    answerTimeoutMs: timeouts.answerMs,
    bodyIdleMs: timeouts.bodyIdleMs,
  }
  const transport = createTransport({ ...wire, origin: endpoint.origin })
  const store = createStoreTransport(wire)
  const logger = options.logger ?? silentLogger
  const calls = createCalls({
    endpoint,
    transport,
    authorization: basicAuthorization(options),
    concurrency: connections,
    retry: options.retry ?? {},
    clock: options.clock,
    random: options.random,
    logger,
    redactor: createRedactor([options.secretAccessKey]),
    onExchange: options.onExchange,
  })

  let known: Capabilities | undefined
  let asking: Promise<void> | undefined
  let closing: Promise<void> | undefined
  return {
    endpoint,
    calls,
    store,
    logger,
    multipart: {
      thresholdBytes: LAKEFS_MULTIPART_THRESHOLD_BYTES,
      partBytes: LAKEFS_PART_BYTES,
      partsInFlight: LAKEFS_PARTS_IN_FLIGHT,
      ...options.multipart,
    },
    capabilities: async (callOptions = {}) => {
      const { signal } = callOptions
      for (;;) {
        signal?.throwIfAborted()
        if (known !== undefined) return known
        if (asking === undefined) {
          // Only a success is remembered. One who fails, be it by an abort of its own, leaves it to the next to ask.
          const own = readCapabilities(calls, callOptions)
          asking = own
            .then(
              () => undefined,
              () => undefined,
            )
            .finally(() => (asking = undefined))
          return (known = await own)
        }
        await Promise.race([asking, untilAborted(signal)])
      }
    },
    close() {
      closing ??= Promise.all([transport.close(), store.close()]).then(() => undefined)
      return closing
    },
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return new Promise(() => undefined)
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

function basicAuthorization(options: LakefsClientOptions): string {
  const { accessKeyId, secretAccessKey } = options
  if (accessKeyId === '' || secretAccessKey === '' || accessKeyId.includes(':')) {
    throw new InvalidError(
      'lakefs/bad-credentials',
      'read the lakeFS credentials: one is empty, or the key id has a colon',
      { next: 'Set both the access key id and the secret access key.' },
    )
  }
  return `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`
}
