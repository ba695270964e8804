/**
 * The embedded lakeFS-compatible server, started inside this process: on a data directory or in memory.
 *
 * It has the parts of lakeFS' API that publishing needs, and answers as the real server was measured to answer.
 */

import type { AddressInfo } from 'node:net'

import { systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError } from '../../base/errors.ts'
import {
  EMBEDDED_CLOSE_MS,
  EMBEDDED_HEADERS_MS,
  EMBEDDED_HOOK_MEMORY_BYTES,
  EMBEDDED_HOOK_MS,
  EMBEDDED_IDLE_MS,
  EMBEDDED_JSON_MAX_BYTES,
  EMBEDDED_OBJECT_MAX_BYTES,
  EMBEDDED_OPEN_BODY_MS,
} from '../limits.ts'
import { isLoopbackAddress, listen } from '../../base/listen.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { ActionRuns } from './actions/action-runs.ts'
import { createHookRunner } from './actions/hook-runner.ts'
import { LuaPool } from './actions/lua-pool.ts'
import { loadCredentials } from './credentials.ts'
import { EngineError } from './engine/engine.ts'
import { openEngine, type LakefsEngine } from './engine/open-engine.ts'
import { FaultPlan } from './faults.ts'
import { createAuthenticator } from './http/authenticate.ts'
import { connectionLimit, createHttpDoor, type HttpDoor } from './http/http-door.ts'
import { PresignedUploads } from './http/presigned-uploads.ts'
import { createRequestListener, type Fallback } from './http/request-listener.ts'
import { createSignatures } from './http/signatures.ts'
import { explainListenError, isLongSecret, readKeyPair, shortSecret, warnAboutHost } from './start-checks.ts'

export interface EmbeddedLakefsLimits {
  /** The largest object, however it is uploaded. */
  readonly objectBytes: number
  /** The largest JSON body; only JSON bodies are held in memory. */
  readonly jsonBytes: number
  /** How long `close()` lets running requests end before it cuts them. */
  readonly closeMs: number
  /** How long a connection may stay silent in the middle of a request or an answer. */
  readonly idleMs: number
  /** How long the headers of a request may take to arrive. */
  readonly headersMs: number
  /** How long the body of a request that needs no credentials may take to arrive. */
  readonly openBodyMs: number
  /** Connections served at a time; one more is answered 503. */
  readonly connections: number
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
  /** The secret of `accessKeyId`. Other hosts than loopback need at least 16 characters. */
  readonly secretAccessKey?: string
  /** Made, with a branch `main`, before the server listens; existing ones are left as they are. */
  readonly repositories?: readonly string[]
  /** Offer presigned addresses, as lakeFS does over an object store. */
  readonly presign?: boolean
  /** Limits of size, time and number; each that is left out has its default. */
  readonly limits?: Partial<EmbeddedLakefsLimits>
  /** Which requests fail on purpose, for tests of clients; none unless given. */
  readonly faults?: FaultPlan
  /** Answers what is no operation of lakeFS, such as a page in a browser; resolves with false to leave it. */
  readonly fallback?: Fallback
  /** Time of commits, sessions and signatures; the machine's own clock unless given. */
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
  /** Begins no request, lets running ones end, then closes the files. May be called twice. */
  close(): Promise<void>
}

const DEFAULT_LIMITS: Omit<EmbeddedLakefsLimits, 'connections'> = {
  objectBytes: EMBEDDED_OBJECT_MAX_BYTES,
  jsonBytes: EMBEDDED_JSON_MAX_BYTES,
  closeMs: EMBEDDED_CLOSE_MS,
  idleMs: EMBEDDED_IDLE_MS,
  headersMs: EMBEDDED_HEADERS_MS,
  openBodyMs: EMBEDDED_OPEN_BODY_MS,
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
  const limits = { ...DEFAULT_LIMITS, connections: connectionLimit(), ...options.limits }
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
    const refusesForwarded = !isLongSecret(credentials.secretAccessKey)
    if (refusesForwarded && !isLoopbackAddress(host)) throw shortSecret(host)
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
      openBodyMs: limits.openBodyMs,
      refusesForwarded,
      userId: USER_ID,
      startedAt: Math.floor(clock.now().getTime() / 1000),
      faults,
      logger,
      closing: closing.signal,
      fallback: options.fallback,
    })
    const door = createHttpDoor({
      handle: (request, response) => {
        listener(request, response).catch((error: unknown) => {
          logger.error('a request failed without an answer', { error })
          request.socket.destroy()
        })
      },
      ...limits,
    })
    const port = options.port ?? 0
    const reached = await listen(door.server, { host, port }, (error) =>
      explainListenError(error, host, port),
    )
    const address = door.server.address() as AddressInfo
    return {
      url: `http://${reached}`,
      host,
      port: address.port,
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      generated: credentials.generated,
      warnings: [...credentials.warnings, ...warnAboutHost(host, address)],
      faults,
      close: once(() => stop({ door, engine, lua, closing, closeMs: limits.closeMs })),
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

interface RunningParts {
  readonly door: HttpDoor
  readonly engine: LakefsEngine
  readonly lua: LuaPool
  readonly closing: AbortController
  readonly closeMs: number
}

async function stop({ door, engine, lua, closing, closeMs }: RunningParts): Promise<void> {
  const reason = new Error('the server is closing')
  await door.close(closeMs, () => closing.abort(reason))
  closing.abort(reason)
  await lua.close()
  await engine.close()
}
