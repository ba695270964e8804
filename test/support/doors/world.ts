// The HTTP API over a core in memory, called without a socket; every response is checked against the contract.
import { buildHttpApp, type HttpAppParts } from '../../../src/server/http/app.ts'
import { openTokens, type Tokens } from '../../../src/server/access/tokens.ts'
import type { DeliveryRecord } from '../../../src/webhooks/records.ts'
import type { Role } from '../../../src/server/access/callers.ts'
import { defined } from '../../../src/base/defined.ts'
import { openEngineWorkflows } from '../../../src/server/http/engine-workflows.ts'
import { openApps } from '../../../src/server/http/worker-door.ts'
import { plainRedactor } from '../../../src/base/redaction.ts'
import { silentLogger } from '../../../src/base/logger.ts'
import { openCore, type Core } from '../../../src/core/life-cycle/core.ts'
import type { Store } from '../../../src/core/ports.ts'
import { openHost, type Host } from '../../../src/runtime/host.ts'
import { DeliveryStore } from '../../../src/webhooks/delivering/delivery-store.ts'
import { openMemoryStore } from '../../../src/stores/memory/memory-store.ts'
import { judgeAnswer, type Judged } from './contract.ts'

export interface DoorWorld {
  readonly store: Store
  readonly core: Core
  readonly tokens: Tokens
  readonly host: Host
  readonly deliveries: DeliveryStore
  readonly judged: Judged[]
  tokenFor(role: Role, tenant?: string): Promise<string>
  ask(path: string, request?: AskRequest): Promise<Response>
  close(): Promise<void>
}

export interface AskRequest {
  readonly method?: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown
  readonly address?: string
  readonly signal?: AbortSignal
}

/** What of the host is replaced. */
export interface GivenHost {
  readonly host?: Partial<HttpAppParts['host']>
  /** Shows the workflows of its engines. */
  readonly hasWorkflows?: boolean
}

export function openDoorWorld(
  { hasWorkflows = false, ...parts }: Partial<Omit<HttpAppParts, 'host'>> & GivenHost = {},
  { allowPrivate = false }: { readonly allowPrivate?: boolean } = {},
): DoorWorld {
  const store = openMemoryStore()
  const core = openCore({ store })
  const tokens = openTokens(store)
  const deliveries = new DeliveryStore(store)
  const host = openHost({ store, logger: silentLogger, allowPrivateWebhooks: allowPrivate, engine: true })
  const closing = new AbortController()
  const logger = silentLogger
  const judged: Judged[] = []
  const { engines } = host
  const workflows =
    hasWorkflows && engines !== undefined
      ? openEngineWorkflows({
          appOf: openApps({ engines, store, logger, redactor: plainRedactor, closing: closing.signal }),
          engines,
        })
      : undefined
  const app = buildHttpApp({
    tokens,
    closing: closing.signal,
    logger,
    ...parts,
    page: { ...defined({ workflows }), ...parts.page },
    host: { ...host, ...parts.host },
  })
  return {
    store,
    core,
    tokens,
    host,
    deliveries,
    judged,
    tokenFor: async (role, tenant) =>
      (await tokens.create({ name: role, role, ...(tenant === undefined ? {} : { tenant }) })).token,
    async ask(path, { method = 'GET', token, headers = {}, body, address = '192.0.2.7', signal } = {}) {
      const response = await app.request(
        path,
        {
          method,
          headers: {
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...headers,
          },
          ...(body === undefined
            ? {}
            : { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
          ...(signal === undefined ? {} : { signal }),
        },
        { address },
      )
      judged.push(await judgeAnswer(method, path, response))
      return response
    },
    async close() {
      closing.abort()
      await host.close()
      await store.close()
    },
  }
}

/** A delivery of one webhook that was given up; gives its id. */
export async function giveUpDelivery(
  { store, deliveries }: Pick<DoorWorld, 'store' | 'deliveries'>,
  webhook: string,
  event = 'evt_1',
): Promise<string> {
  const waiting: DeliveryRecord = {
    id: `${webhook}-${event}`,
    webhook,
    executionId: 'exec_1',
    eventType: 'a.completed',
    body: JSON.stringify({ execution_id: 'exec_1', event_type: 'a.completed' }),
    attempts: 0,
    nextAt: new Date(0).toISOString(),
  }
  const key = `outbox:exec_1:${event}`
  await store.commit({ operations: [{ do: 'put', key, value: new Uint8Array() }] })
  const isTold = await deliveries.fanOut({ key }, [waiting])
  if (!isTold) throw new Error(`there is no webhook ${webhook}`)
  const gaveUpAt = new Date(1_000).toISOString()
  await deliveries.giveUp(waiting, { ...waiting, attempts: 1, lastProblem: 'it answered 500', gaveUpAt })
  return waiting.id
}
