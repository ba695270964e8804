// Goal: our own server of Conductor's API behaves as Conductor does, seen through the client that is used for a real one.
import { setTimeout as wait } from 'node:timers/promises'
import { silentLogger } from '../../src/base/logger.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { openConductorClient } from '../../src/conductor/client.ts'
import { createHttpTaskQueue } from '../../src/conductor/http-task-queue.ts'
import { serveConductor } from '../support/doors/serve-conductor.ts'
import { openTestQueue } from '../../src/testing/open-test-queue.ts'
import { conductorControl } from './conductor-control.ts'
import { taskQueueConformance } from './task-queue.ts'

taskQueueConformance('the served in-process queue', {
  open: async () => {
    const queue = openTestQueue()
    const definitions = {
      readTask: () => Promise.resolve(undefined),
      writeTask: (document: JsonObject) => queue.registerTask(document),
      readWorkflow: () => Promise.resolve(undefined),
      writeWorkflow: (document: JsonObject) => queue.registerWorkflow(document),
    }
    const door = await serveConductor({ queue, control: queue, definitions, port: 0, logger: silentLogger })
    const client = openConductorClient({ endpoint: `${door.url}/api` })
    return {
      queue: createHttpTaskQueue(client),
      control: conductorControl(door.url),
      pass: (durationMs: number) => wait(durationMs),
      settle: <T>(promise: Promise<T>) => promise,
      close: async () => {
        await client.close()
        await door.close()
      },
    }
  },
})
