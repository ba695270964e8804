/** The engines of a server: one for each tenant that has executions, over one store. */

import type { Clock } from '../base/clock.ts'
import { systemClock } from '../base/clock.ts'
import { isAborted } from '../base/abort-signals.ts'
import { defined } from '../base/defined.ts'
import { UnavailableError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import { once } from '../base/once.ts'
import { ENGINE_OPEN_PREFIX, tenantOfOpenKey } from '../core/keys.ts'
import type { Store } from '../core/ports.ts'
import type { EngineCheckpoints } from '../engine/host/engine-checkpoints.ts'
import { openEngine, type Engine, type EngineOptions } from '../engine/host/open-engine.ts'
import type { Stage } from '../engine/protocol/stages.ts'
import type { DataRollback } from '../publication/rollback-port.ts'
import { ENGINE_TENANTS_MAX, ENGINE_TENANTS_LOOK_MS } from './limits.ts'

export interface Engines {
  /** Opened when it is first asked for. */
  readonly of: (tenant: string | undefined) => Promise<Engine>
  /** Of the executions that it runs, of every tenant, for a metric. */
  readonly stages: () => readonly Stage[]
  /** What stands still, for the health; of which tenant is not told. */
  readonly problems: () => readonly string[]
}

export interface OpenEngines extends Engines {
  /** Continues what is open, of every tenant, and what another instance leaves behind. */
  startWork(): void
  /** May be called twice. */
  close(): Promise<void>
}

/** How the engine of each tenant is opened. */
export interface EngineSetup extends Pick<
  EngineOptions,
  'atOnceMax' | 'scheduling' | 'observers' | 'traceShare'
> {
  /** Default: one at the start, and one after each phase, in the store. */
  readonly checkpoints?: Omit<EngineCheckpoints, 'data'>
  /** Moves branches of a tenant back. `undefined`: what has published nothing can be rolled back all the same. */
  readonly dataOf?: (tenant: string | undefined) => DataRollback | undefined
}

export interface EnginesOptions {
  readonly store: Store
  readonly setup?: EngineSetup
  readonly logger: Logger
  readonly clock?: Clock
  readonly leaseMs?: number
  readonly tenantsMax?: number
}

export function openEngines(options: EnginesOptions): OpenEngines {
  const { store, logger, clock = systemClock, tenantsMax = ENGINE_TENANTS_MAX } = options
  const opened = new Map<string | undefined, Promise<Engine>>()
  const ready: Engine[] = []
  const closing = new AbortController()
  const open = (tenant: string | undefined): Promise<Engine> => {
    const { checkpoints, dataOf, ...setup } = options.setup ?? {}
    const engine = openEngine({
      ...{ store, logger, clock, outbox: true, ...setup },
      ...defined({ tenant, leaseMs: options.leaseMs }),
      checkpoints: { ...checkpoints, ...defined({ data: dataOf?.(tenant) }) },
    })
    engine.then(
      (one) => ready.push(one),
      // One that could not be opened is tried again by the next request.
      () => opened.delete(tenant),
    )
    return engine
  }
  const of = (tenant: string | undefined): Promise<Engine> => {
    const known = opened.get(tenant)
    if (known !== undefined) return known
    if (closing.signal.aborted) return Promise.reject(closed())
    if (opened.size >= tenantsMax) return Promise.reject(tooMany(tenantsMax))
    const engine = open(tenant)
    opened.set(tenant, engine)
    return engine
  }
  let work: Promise<void> | undefined
  return {
    of,
    stages: () => ready.flatMap((engine) => engine.stages()),
    problems: () => ready.flatMap((engine) => engine.problem() ?? []).slice(0, 1),
    startWork() {
      work ??= openForAll({ store, of, clock, logger, signal: closing.signal })
    },
    close: once(async () => {
      closing.abort()
      await work
      const engines = await Promise.allSettled([...opened.values()])
      const open = engines.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      await Promise.all(open.map((engine) => engine.close()))
    }),
  }
}

interface WorkParts extends Pick<EnginesOptions, 'store' | 'logger'>, Pick<Engines, 'of'> {
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Again and again: another instance may begin executions of a tenant that nobody asks about here, and die. */
async function openForAll({ store, of, clock, logger, signal }: WorkParts): Promise<void> {
  while (!isAborted(signal)) {
    try {
      for await (const tenant of tenantsWithWork(store)) {
        if (isAborted(signal)) return
        await of(tenant)
      }
    } catch (error) {
      logger.warn('the engine of a tenant could not be opened', { error })
    }
    await clock.sleep(ENGINE_TENANTS_LOOK_MS, signal).catch(() => undefined)
  }
}

/** One read for each, however many executions it has. */
async function* tenantsWithWork(store: Store): AsyncGenerator<string | undefined, void, undefined> {
  for (let after: string | undefined; ;) {
    const { entries } = await store.range({ prefix: ENGINE_OPEN_PREFIX, limit: 1, after })
    const [entry] = entries
    if (entry === undefined) return
    const { tenant, last } = tenantOfOpenKey(entry.key)
    yield tenant
    after = last
  }
}

function closed(): UnavailableError {
  return new UnavailableError(
    'runtime/engines-closed',
    'open the engine of a tenant: the server is closing',
    {
      next: 'Ask another instance, or this one when it is back.',
    },
  )
}

function tooMany(tenantsMax: number): UnavailableError {
  return new UnavailableError(
    'runtime/too-many-tenants',
    `open the engine of a tenant: this server already runs those of ${tenantsMax} tenants`,
    { retryAfterMs: 60_000, next: 'Run another server, over another store, for some of the tenants.' },
  )
}
