import { join } from 'node:path'
import { createConductorClient, TaskManager } from '@io-orkes/conductor-javascript'
import { conductorWorkers } from 'perago/conductor-sdk'

const perago = await conductorWorkers(join(import.meta.dirname, 'tasks.ts'))

const tell = {
  taskDefName: 'letters.tell',
  execute: async ({ inputData }) => ({
    status: 'COMPLETED',
    outputData: { text: `there are ${inputData.lines} lines` },
  }),
}

const client = await createConductorClient({ serverUrl: process.env.CONDUCTOR_SERVER_URL })
const manager = new TaskManager(client, [...perago.workers, tell], { options: { concurrency: 4 } })
manager.startPolling()
console.log('polling')

process.once('SIGTERM', async () => {
  await manager.stopPolling()
  await perago.stop()
  process.exit()
})
