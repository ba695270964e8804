/** Everything that a server has over one store. Each door, such as HTTP or the CLI, takes what it shows from here. */

import { BoundedMap } from '../base/bounded-map.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import type { Logger } from '../base/logger.ts'
import { once } from '../base/once.ts'
import { Progress } from '../base/progress.ts'
import type { EventArchive } from '../core/events/archive-port.ts'
import { executionId, executionKeys, tenantId } from '../core/keys.ts'
import { openCore, type Core } from '../core/life-cycle/core.ts'
import type { Execution } from '../core/life-cycle/execution.ts'
import { keepMaintained } from '../core/life-cycle/keep-maintained.ts'
import { openMaintenance, type Maintenance } from '../core/life-cycle/maintenance.ts'
import { MAINTENANCE_STILL_MS } from '../core/limits.ts'
import type { Retention } from '../core/life-cycle/sweep-execution.ts'
import type { Store } from '../core/ports.ts'
import type { WebhookDispatcher } from '../webhooks/delivering/dispatcher.ts'
import { WEBHOOK_STILL_MS } from '../webhooks/limits.ts'
import { openWebhooks, type Webhooks } from '../webhooks/webhooks.ts'
import { openEngines, type EngineSetup, type Engines } from './engines.ts'
import { EXECUTION_TENANTS_REMEMBERED } from './limits.ts'
import { openExamination } from './stores/store-health.ts'
import { openStoreReporter, type StoreReport } from './stores/store-report.ts'

export interface HostParts {
  readonly store: Store
  /** Where events of ended executions are moved to, and read from afterwards. */
  readonly archive?: EventArchive | undefined
  readonly retention?: Partial<Retention>
  /** Whether webhooks may call private addresses. */
  readonly allowPrivateWebhooks?: boolean
  /** Whether it runs executions as well; engines that are given stay open. */
  readonly engine?: boolean | EngineSetup | Engines
  readonly logger: Logger
  readonly clock?: Clock
}

export interface Host {
  readonly store: Store
  readonly executions: Executions
  readonly webhooks: Webhooks
  readonly maintenance: Maintenance
  /** `undefined`: this server runs no executions. */
  readonly engines: Engines | undefined
  /** What keeps the server from working, or stands still, one sentence each; empty when all is well. */
  examine(): Promise<readonly string[]>
  /** What is known of the store and the archive, and of the last passes over them. */
  describeStore(): Promise<StoreReport>
  /** Starts to deliver webhooks, to archive and to sweep, until it closes. */
  startWork(): void
  /** Ends that work. The store and the archive stay open. May be called twice. */
  close(): Promise<void>
}

export interface Executions {
  /** Throws `core/bad-id` or `core/no-such-execution`. */
  open(place: ExecutionPlace): Promise<OpenedExecution>
}

export interface ExecutionPlace {
  /** `undefined`: the default one. */
  readonly tenant: string | undefined
  readonly execution: string
}

export interface OpenedExecution extends Pick<Execution, 'id' | 'events' | 'variables'> {
  /** Yields once when it has begun to watch, and then whenever events may have been recorded. */
  changes(signal: AbortSignal): AsyncIterable<unknown>
}

export function openHost(parts: HostParts): Host {
  const { store, archive, retention, allowPrivateWebhooks: allowPrivate, logger, clock } = parts
  const webhooks = openWebhooks({ store, logger, ...defined({ allowPrivate, clock }) })
  const maintenance = openMaintenance({
    store,
    logger,
    forget: (executions) => webhooks.forgetExecutions(executions),
    onProgress: (of) => work?.progress[of].note(),
    ...defined({ archive, retention, clock }),
  })
  const { own, given } = openGiven(parts)
  const closing = new AbortController()
  let work: Work | undefined
  const examination = openExamination(store, clock)
  const reporter = openStoreReporter({ store, archive, clock })
  return {
    store,
    executions: openExecutions(parts),
    webhooks,
    maintenance,
    engines: own ?? given,
    examine: async () => {
      const still = Object.values(work?.progress ?? {}).flatMap((progress) => progress.problem() ?? [])
      return [...(await examination()), ...still, ...((own ?? given)?.problems() ?? [])]
    },
    describeStore: () => reporter.report(),
    startWork() {
      own?.startWork()
      if (work !== undefined) return
      const progress = openProgress(clock)
      work = {
        progress,
        dispatcher: webhooks.startDelivering({ onProgress: () => progress.webhooks.note() }),
        maintained: keepMaintained({
          ...{ maintenance, signal: closing.signal, logger, onPass: reporter.note },
          ...defined({ clock }),
        }),
      }
    },
    close: once(async () => {
      closing.abort()
      await Promise.all([work?.dispatcher.close(), work?.maintained, own?.close()])
    }),
  }
}

interface Work {
  readonly progress: Readonly<Record<'webhooks' | 'archive' | 'sweep', Progress>>
  readonly dispatcher: WebhookDispatcher
  readonly maintained: Promise<void>
}

function openProgress(clock: Clock = systemClock): Work['progress'] {
  const progressOf = (what: string, stillMs: number): Progress => new Progress({ what, stillMs, clock })
  return {
    webhooks: progressOf('the delivery of webhooks', WEBHOOK_STILL_MS),
    archive: progressOf('the archiving of ended executions', MAINTENANCE_STILL_MS),
    sweep: progressOf('the sweeping of ended executions', MAINTENANCE_STILL_MS),
  }
}

function openGiven({ engine = false, store, logger, clock }: HostParts) {
  if (engine === false) return {}
  if (engine === true) return { own: openEngines({ store, logger, ...defined({ clock }) }) }
  if (isOpened(engine)) return { given: engine }
  return { own: openEngines({ store, logger, setup: engine, ...defined({ clock }) }) }
}

function isOpened(engine: EngineSetup | Engines): engine is Engines {
  return 'of' in engine
}

function openExecutions({ store, archive, logger, clock }: HostParts): Executions {
  const cores = new BoundedMap<string | undefined, Core>({
    max: EXECUTION_TENANTS_REMEMBERED,
    evict: 'least-recently-used',
  })
  const coreOf = (tenant: string | undefined): Core =>
    cores.getOrAdd(tenant, () =>
      openCore({ store, logger, outbox: true, ...defined({ archive, tenant, clock }) }),
    )
  return {
    open: async ({ tenant, execution }) => {
      const { id, events, variables } = await coreOf(tenant).openExecution(execution)
      const scope = {
        execution: executionId(id),
        ...defined({ tenant: tenant === undefined ? undefined : tenantId(tenant) }),
      }
      const changes = (signal: AbortSignal) => store.watch({ prefix: executionKeys(scope).log, signal })
      return { id, events, variables, changes }
    },
  }
}
