/**
 * What `perago dev` serves: an engine that speaks Conductor's API, over a store of one file, and a lakeFS. A lakeFS that is
 * configured is used instead of the embedded one.
 */

import { resolve } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { MissingError, RefusedError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { once } from '../../base/once.ts'
import { startEmbeddedLakefs } from '../../embedded/lakefs/server.ts'
import { openEngine, type Engine } from '../../engine/host/open-engine.ts'
import type { PeragoConfiguration } from '../../runtime/configuration/configuration.ts'
import type { EngineConfiguration } from '../../runtime/configuration/engine-settings.ts'
import type { Engines } from '../../runtime/engines.ts'
import { openHost } from '../../runtime/host.ts'
import { openLakefsRollback } from '../../runtime/lakefs-rollback.ts'
import { openStores } from '../../runtime/stores/open-store.ts'
import { openRepositoryView } from '../../runtime/views/repository-view.ts'
import { openWorkersView } from '../../runtime/views/workers-view.ts'
import { openDefinitionShelf } from '../../server/conductor/definition-shelf.ts'
import type { DefinitionShelf } from '../../server/conductor/served-queue.ts'
import { BUILT_PAGE } from '../../server/http/page-routes.ts'
import type { PageParts } from '../../server/http/app.ts'
import { LOOKS_IN_FLIGHT } from '../../server/limits.ts'
import { serveDev } from '../../server/serve-dev.ts'
import { DEFAULT_STORE } from '../store-options.ts'
import { DEV_ENGINE_LEASE_MS, DEV_ENGINE_LOOK_MS } from '../limits.ts'
import { DEV_DATA_DIR, EMBEDDED_DATA_DIR, workRootOf } from '../options.ts'
import { serveMetrics } from '../../runtime/telemetry/serve-metrics.ts'
import { pageAddress, newPageKey } from '../page-address.ts'
import { forgetServerAddress, recordServerAddress } from '../server-address.ts'
import type { Terminal } from '../terminal.ts'
import { openDevTelemetry } from './dev-telemetry.ts'

export interface DevServersOptions {
  readonly configuration: PeragoConfiguration
  readonly engine: EngineConfiguration
  /** Made on the embedded lakeFS unless they are there. */
  readonly repositories: readonly string[]
  readonly port: number
  readonly lakefsPort: number
  /** A port for metrics alone. */
  readonly metricsPort: number | undefined
  readonly logger: Logger
  readonly terminal: Terminal
}

export interface DevServers {
  readonly engine: Engine
  readonly definitions: DefinitionShelf
  /** Executions of tasks that only read may share a branch. */
  readonly knowReadOnly: (taskNames: readonly string[]) => void
  /** For workers: the engine, and the lakeFS. */
  readonly configuration: PeragoConfiguration
  readonly metricsUrl: string
  /** With the key that opens a session. */
  readonly pageUrl: string
  /** The secret of the embedded lakeFS. */
  readonly secrets: readonly string[]
  close(): Promise<void>
}

export async function openDevServers(options: DevServersOptions): Promise<DevServers> {
  const closing: (() => Promise<void>)[] = []
  const close = once(async () => {
    for (const part of closing.reverse()) await part()
  })
  try {
    const lakefsOpening = openLakefs(options, closing)
    const opening = [lakefsOpening, openServed(options, closing, lakefsOpening)] as const
    // When one fails, what the other opens must be closed as well.
    await Promise.allSettled(opening)
    const [lakefs, { url, ...served }] = await Promise.all(opening)
    const configuration: PeragoConfiguration = {
      ...options.configuration,
      lakefs: lakefs.settings,
      conductor: { serverUrl: `${url}/api`, auth: undefined },
    }
    const secret = lakefs.settings.credentials?.secretAccessKey
    return { ...served, configuration, secrets: secret === undefined ? [] : [secret], close }
  } catch (error) {
    await close()
    throw error
  }
}

type Closing = (() => Promise<void>)[]

async function openServed(
  { configuration, engine: engineOptions, terminal, logger, port, metricsPort }: DevServersOptions,
  closing: Closing,
  lakefs: ReturnType<typeof openLakefs>,
) {
  const stores = await openStores({ store: DEFAULT_STORE }, terminal)
  closing.push(() => stores.close())
  const { store } = stores
  const settings = async () => ({ ...configuration, lakefs: (await lakefs).settings })
  const rollback = openLakefsRollback(settings, { logger })
  closing.push(() => rollback.close())
  const checkpoints = { data: rollback.data }
  const known = { tasks: new Map<string, { readonly workspace: { readonly readOnly: true } }>() }
  const knowReadOnly = (taskNames: readonly string[]): void => {
    known.tasks = new Map(taskNames.map((name) => [name, { workspace: { readOnly: true } }]))
  }
  const { metrics, seen, close } = openDevTelemetry({
    ...{ environment: terminal.environment, logger, stages: () => engine.stages() },
    file: resolve(terminal.directory, DEFAULT_STORE),
  })
  closing.push(close)
  const engine: Engine = await openEngine({
    ...{ store, logger, leaseMs: DEV_ENGINE_LEASE_MS, outbox: true, ...seen },
    tasks: () => known.tasks,
    ...engineOptions,
    checkpoints: { ...engineOptions.checkpoints, ...checkpoints },
  })
  closing.push(() => engine.close())
  await untilItRuns(engine)
  const { queue, control, reader } = engine
  const definitions = openDefinitionShelf(store, control)
  // Whoever can run this can call every address of this machine anyway.
  const host = openHost({ store, logger, engine: onlyEngine(engine), allowPrivateWebhooks: true })
  closing.push(() => host.close())
  const key = newPageKey(terminal)
  const shown = (await lakefs).settings
  const page = {
    ...openPage({ lakefs: shown, key, logger }, closing),
    workers: openWorkersView({ root: workRootOf({}, terminal) }),
  }
  const served = { queue, control, reader, definitions, host, metrics }
  const door = await serveDev({ ...served, page, lakefs: shown, port, logger })
  closing.push(() => door.close())
  host.startWork()
  const dataDir = resolve(terminal.directory, DEV_DATA_DIR)
  makeDirectory(dataDir)
  await recordServerAddress(dataDir, door.url)
  closing.push(() => forgetServerAddress(dataDir))
  const alone = metricsPort === undefined ? undefined : await serveMetrics({ metrics, port: metricsPort })
  if (alone !== undefined) closing.push(() => alone.close())
  const metricsUrl = `${(alone ?? door).url}/metrics`
  const pageUrl = pageAddress(door.url, key)
  return { engine, definitions, knowReadOnly, url: door.url, metricsUrl, pageUrl }
}

interface ShownParts {
  readonly lakefs: PeragoConfiguration['lakefs']
  readonly key: string
  readonly logger: Logger
}

function openPage({ lakefs, key, logger }: ShownParts, closing: Closing): PageParts {
  const { credentials } = lakefs
  const page = { files: BUILT_PAGE, keys: { address: key, lakefs: credentials } }
  if (credentials === undefined) return page
  const repositories = openRepositoryView({ lakefs: { ...lakefs, connections: LOOKS_IN_FLIGHT } }, { logger })
  closing.push(() => repositories.close())
  return { ...page, repositories }
}

/** Of the default tenant: there is nobody else on this machine. */
function onlyEngine(engine: Engine): Engines {
  return {
    stages: () => engine.stages(),
    problems: () => [engine.problem() ?? []].flat(),
    of: (tenant) =>
      tenant === undefined
        ? Promise.resolve(engine)
        : Promise.reject(
            new MissingError('cli/no-tenants', `run executions of "${tenant}": perago dev has no tenants`, {
              next: 'Send the request without a token.',
            }),
          ),
  }
}

/** After a kill, the lease of the earlier run ends first. */
async function untilItRuns(engine: Engine): Promise<void> {
  const untilMs = systemClock.monotonicMs() + 3 * DEV_ENGINE_LEASE_MS
  while (!engine.isRunning()) {
    if (systemClock.monotonicMs() > untilMs) {
      throw new RefusedError(
        'cli/engine-taken',
        `run the executions of ${DEFAULT_STORE}: another process does`,
        {
          next: 'Stop the other "perago dev" of this directory.',
        },
      )
    }
    await systemClock.sleep(DEV_ENGINE_LOOK_MS)
  }
}

async function openLakefs(options: DevServersOptions, closing: Closing) {
  const { configuration, terminal, logger, repositories, lakefsPort } = options
  if (configuration.lakefs.endpoint !== undefined) return { settings: configuration.lakefs }
  const dataDir = resolve(terminal.directory, EMBEDDED_DATA_DIR)
  const server = await startEmbeddedLakefs({ dataDir, port: lakefsPort, repositories, logger })
  closing.push(() => server.close())
  terminal.keepSecret(server.secretAccessKey)
  await recordServerAddress(dataDir, server.url)
  closing.push(() => forgetServerAddress(dataDir))
  const { accessKeyId, secretAccessKey } = server
  return {
    settings: {
      ...configuration.lakefs,
      endpoint: server.url,
      credentials: { accessKeyId, secretAccessKey },
    },
  }
}
