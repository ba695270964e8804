// A process that runs tasks of perago in the SDK's loop; with the package as it was built.
import { createRequire } from 'node:module'
import { conductorWorkers } from 'perago/conductor-sdk'

const { sdkPath, tasks, settings, root, domain } = JSON.parse(process.argv[2])
const { TaskManager, createConductorClient, noopLogger } = createRequire(import.meta.url)(sdkPath)

const perago = await conductorWorkers(tasks, { settings, root })
const { serverUrl } = settings.conductor
const client = await createConductorClient({ serverUrl, useEnvVars: false, logger: noopLogger })
const workers = perago.workers.map((worker) => ({ ...worker, domain }))
new TaskManager(client, workers, { logger: noopLogger }).startPolling()
