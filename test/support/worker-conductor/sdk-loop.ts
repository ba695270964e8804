// The polling loop of Conductor's JavaScript SDK, in each of its versions, with tasks of perago as its workers.
import { createRequire } from 'node:module'
import * as three from '@io-orkes/conductor-javascript'
import {
  conductorWorkers,
  type ConductorWorkers,
  type WorkersSettings,
} from '../../../src/perago-conductor-sdk.ts'
import { TASKS_PATH, type WorkerWorld } from './world.ts'

export type Sdk = typeof three

const NAME = '@io-orkes/conductor-javascript'
const fromRoot = createRequire(import.meta.url)
const fromApart = createRequire(new URL('../conductor-sdk-4/package.json', import.meta.url))

export const SDKS: readonly { readonly version: string; readonly sdk: Sdk; readonly path: string }[] = [
  { version: '3.1', sdk: three, path: fromRoot.resolve(NAME) },
  // It has the same names.
  { version: '4.0', sdk: fromApart(NAME) as Sdk, path: fromApart.resolve(NAME) },
]

export interface SdkLoop {
  readonly perago: ConductorWorkers
  /** How many of its updates were answered as accepted. */
  readonly updates: number
  /** As their own method: waits for nothing. */
  stopPolling(): Promise<void>
  close(): Promise<void>
}

export function settingsOf(world: WorkerWorld): WorkersSettings {
  const { lakefs } = world.configuration
  const { accessKeyId, secretAccessKey } = lakefs.credentials ?? {}
  if (accessKeyId === undefined || secretAccessKey === undefined || lakefs.endpoint === undefined)
    throw new Error('the world has no credentials')
  return {
    lakefs: { endpoint: lakefs.endpoint, accessKeyId, secretAccessKey },
    conductor: { serverUrl: world.front.url },
  }
}

/** `url`: where their loop asks; ours asks at the world's front. */
export async function startSdkLoop(
  world: WorkerWorld,
  { sdk, version }: (typeof SDKS)[number],
  { url = world.front.url, root = world.root }: { readonly url?: string; readonly root?: string } = {},
): Promise<SdkLoop> {
  const perago = await conductorWorkers(TASKS_PATH, { settings: settingsOf(world), root })
  const workers = perago.workers.map((worker) => ({
    ...worker,
    domain: world.domain,
    concurrency: 2,
    pollInterval: 50,
  }))
  const client = await sdk.createConductorClient({
    serverUrl: url,
    useEnvVars: false,
    logger: sdk.noopLogger,
  })
  let updates = 0
  const onTaskUpdateCompleted = (): void => {
    updates++
  }
  const eventListeners = [{ onTaskUpdateCompleted }]
  const stopPolling = startLoop({ sdk, version, client, workers, eventListeners })
  return {
    perago,
    get updates() {
      return updates
    },
    stopPolling,
    async close() {
      await stopPolling()
      await perago.stop({ deadlineMs: 0 })
    },
  }
}

/** Either version has both ways to start. */
function startLoop(of: {
  readonly sdk: Sdk
  readonly version: string
  readonly client: Awaited<ReturnType<Sdk['createConductorClient']>>
  readonly workers: ConstructorParameters<Sdk['TaskManager']>[1]
  readonly eventListeners: { onTaskUpdateCompleted: () => void }[]
}): () => Promise<void> {
  const { sdk, version, client, workers, eventListeners } = of
  const { noopLogger: logger } = sdk
  if (version.startsWith('3')) {
    const manager = new sdk.TaskManager(client, workers, { logger, eventListeners })
    manager.startPolling()
    return () => manager.stopPolling()
  }
  const handler = new sdk.TaskHandler({ client, workers, logger, eventListeners, scanForDecorated: false })
  const started = handler.startWorkers()
  return () => started.then(() => handler.stopWorkers())
}
