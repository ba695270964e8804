/**
 * The embedded lakeFS-compatible server, started inside this process: on a data directory or in memory.
 *
 * It has the parts of lakeFS' API that publishing needs, and answers as the real server was measured to answer.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

import { systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError, UnavailableError } from '../../base/errors.ts'
import {
  EMBEDDED_CLOSE_MS,
  EMBEDDED_HEADER_MAX_BYTES,
  EMBEDDED_HEADERS_MS,
  EMBEDDED_HOOK_MEMORY_BYTES,
  EMBEDDED_HOOK_MS,
  EMBEDDED_IDLE_MS,
  EMBEDDED_JSON_MAX_BYTES,
  EMBEDDED_OBJECT_MAX_BYTES,
} from '../limits.ts'
import { listen } from '../../base/listen.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { ActionRuns } from './actions/action-runs.ts'
import { createHookRunner } from './actions/hook-runner.ts'
import { LuaPool } from './actions/lua-pool.ts'
import { loadCredentials, type KeyPair } from './credentials.ts'
import { EngineError } from './engine/engine.ts'
import { openEngine, type LakefsEngine } from './engine/open-engine.ts'
import { FaultPlan } from './faults.ts'
import { createAuthenticator } from './http/authenticate.ts'
import { PresignedUploads } from './http/presigned-uploads.ts'
import { createRequestListener } from './http/request-listener.ts'
import { createSignatures } from './http/signatures.ts'

export interface EmbeddedLakefsLimits {
  /** The largest object, however it is uploaded. */
  readonly objectBytes: number
  /** The largest JSON body; only JSON bodies are held in memory. */
  readonly jsonBytes: number
  /** How long `close()` lets running requests end before it cuts them. */
  readonly closeMs: number
  /** How long a connection may stay silent in the middle of a request or an answer. */
  readonly idleMs: number
  /** How long one action hook may run. */
  readonly hookMs: number
  /** What one action hook may allocate. */
  readonly hookMemoryBytes: number
}

export interface EmbeddedLakefsOptions {
  /** Loopback unless named otherwise; any other host is warned about in `warnings`. */
  readonly host?: string
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** Where everything is stored. Left out: in memory, and gone after `close()`. */
  readonly dataDir?: string
  /** Both or neither. Without them the stored pair is used, or one is generated (and stored with a data directory). */
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
  /** Made, with a branch `main`, before the server listens; existing ones are left as they are. */
  readonly repositories?: readonly string[]
  /** Offer presigned addresses, as lakeFS does over an object store. */
  readonly presign?: boolean
  readonly limits?: Partial<EmbeddedLakefsLimits>
  readonly faults?: FaultPlan
  readonly clock?: Clock
  /** Gets internal errors; never credentials. */
  readonly logger?: Logger
}

export interface EmbeddedLakefs {
  /** `http://127.0.0.1:PORT`, without the API's base path. */
  readonly url: string
  readonly host: string
  readonly port: number
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** True when this start made the credentials: the only time to show them. */
  readonly generated: boolean
  /** What the user must be shown, one line each. */
  readonly warnings: readonly string[]
  readonly faults: FaultPlan
  /** Accepts no new connection, lets running requests end, then closes the files. May be called twice. */
  close(): Promise<void>
}

const DEFAULT_LIMITS: EmbeddedLakefsLimits = {
  objectBytes: EMBEDDED_OBJECT_MAX_BYTES,
  jsonBytes: EMBEDDED_JSON_MAX_BYTES,
  closeMs: EMBEDDED_CLOSE_MS,
  idleMs: EMBEDDED_IDLE_MS,
  hookMs: EMBEDDED_HOOK_MS,
  hookMemoryBytes: EMBEDDED_HOOK_MEMORY_BYTES,
}

/** The only user. */
const USER_ID = 'admin'

/**
 * Starts a server; it listens when the promise settles.
 *
 * ```ts
 * const server = await startEmbeddedLakefs({ dataDir: '.perago/lakefs' })
 * console.log(server.url)
 * await server.close()
 * ```
 */
export async function startEmbeddedLakefs(options: EmbeddedLakefsOptions = {}): Promise<EmbeddedLakefs> {
  const given = readKeyPair(options)
  const host = options.host ?? '127.0.0.1'
  const clock = options.clock ?? systemClock
  const logger = options.logger ?? silentLogger
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const faults = options.faults ?? new FaultPlan()
  const runs = new ActionRuns()
  const lua = new LuaPool({ timeMs: limits.hookMs, memoryBytes: limits.hookMemoryBytes })
  const engine = await openEngine({
    dataDir: options.dataDir,
    clock,
    hooks: createHookRunner({ lua, runs, clock, userId: USER_ID }),
    onPostHookError: (error, event) => {
      logger.warn('a hook failed after its update', { event: event.type, error })
    },
  })
  try {
    for (const name of options.repositories ?? []) await makeRepository(engine, name)
    const credentials = await loadCredentials({ dataDir: options.dataDir, given })
    const closing = new AbortController()
    const listener = createRequestListener({
      engine,
      clock,
      authenticator: createAuthenticator({ ...credentials, clock }),
      signatures: createSignatures(credentials.signingSecret, clock),
      uploads: new PresignedUploads(),
      runs,
      presign: options.presign ?? false,
      objectMaxBytes: limits.objectBytes,
      jsonMaxBytes: limits.jsonBytes,
      userId: USER_ID,
      startedAt: Math.floor(clock.now().getTime() / 1000),
      faults,
      logger,
      closing: closing.signal,
    })
    const server = createServer(
      { maxHeaderSize: EMBEDDED_HEADER_MAX_BYTES, requestTimeout: 0 },
      (request, response) => {
        listener(request, response).catch((error: unknown) => {
          logger.error('a request failed without an answer', { error })
          request.socket.destroy()
        })
      },
    )
    watchConnections(server)
    server.headersTimeout = EMBEDDED_HEADERS_MS
    server.keepAliveTimeout = limits.idleMs
    server.timeout = limits.idleMs
    const port = options.port ?? 0
    const reached = await listen(server, { host, port }, (error) => explainListenError(error, host, port))
    const address = server.address() as AddressInfo
    return {
      url: `http://${reached}`,
      host,
      port: address.port,
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      generated: credentials.generated,
      warnings: [...credentials.warnings, ...warnAboutHost(host, address.address)],
      faults,
      close: once(() => stop({ server, engine, lua, closing, closeMs: limits.closeMs })),
    }
  } catch (error) {
    await lua.close()
    await engine.close()
    throw error
  }
}

async function makeRepository(engine: LakefsEngine, name: string): Promise<void> {
  try {
    await engine.createRepository({ name, storageNamespace: `local://${name}`, defaultBranch: 'main' })
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.reason === 'repository-exists') return
    throw new InvalidError('embedded/bad-repository', `start the embedded lakeFS: ${error.message}`, {
      next: 'Choose another name for the repository to make.',
      cause: error,
    })
  }
}

function readKeyPair(options: EmbeddedLakefsOptions): KeyPair | undefined {
  if (options.accessKeyId === undefined && options.secretAccessKey === undefined) return undefined
  const { accessKeyId = '', secretAccessKey = '' } = options
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new InvalidError(
      'embedded/half-credentials',
      'start the embedded lakeFS: the access key id or the secret is missing',
      { next: 'Give both, or neither to have a pair generated.' },
    )
  }
  if (accessKeyId.includes(':')) {
    throw new InvalidError(
      'embedded/bad-access-key',
      'start the embedded lakeFS: an access key id with a ":" cannot be sent in basic authentication',
      { next: 'Choose an access key id without a colon.' },
    )
  }
  return { accessKeyId, secretAccessKey }
}

function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const where = `listen on ${host}:${String(port)}`
  if (error.code === 'EADDRINUSE') {
    return new UnavailableError('embedded/port-in-use', `${where}: another program listens there already`, {
      details: { host, port },
      next: 'Stop that program, or choose another port; 0 takes a free one.',
      cause: error,
    })
  }
  return new InvalidError('embedded/cannot-listen', `${where}: ${error.message}`, {
    details: { host, port, code: error.code },
    next: 'Choose an address of this machine and a port this user may listen on.',
    cause: error,
  })
}

function warnAboutHost(host: string, address: string): readonly string[] {
  if (address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.')) return []
  return [
    `listening on ${host}, which is not loopback: everybody who reaches this machine can try credentials, and nothing is encrypted`,
  ]
}

/** Ends connections without use: silent ones, and while stopping those whose answer was sent. */
function watchConnections(server: Server): void {
  const latest = new WeakMap<
    Socket,
    { readonly request: IncomingMessage; readonly response: ServerResponse }
  >()
  server.on('request', (request, response) => {
    latest.set(request.socket, { request, response })
    response.once('close', () =>
      setImmediate(() => {
        if (!server.listening) server.closeIdleConnections()
      }),
    )
  })
  server.on('timeout', (socket: Socket) => {
    const exchange = latest.get(socket)
    // While we work on a request that arrived completely, the silence is ours and not the client's.
    const isOurs = exchange?.request.complete === true && !exchange.response.headersSent
    if (!isOurs) socket.destroy()
  })
}

interface RunningParts {
  readonly server: Server
  readonly engine: LakefsEngine
  readonly lua: LuaPool
  readonly closing: AbortController
  readonly closeMs: number
}

async function stop({ server, engine, lua, closing, closeMs }: RunningParts): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  server.closeIdleConnections()
  const deadline = setTimeout(() => {
    closing.abort(new Error('the server is closing'))
    server.closeAllConnections()
  }, closeMs)
  await stopped
  clearTimeout(deadline)
  closing.abort(new Error('the server is closing'))
  await lua.close()
  await engine.close()
}
