import { setTimeout as wait } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { openConductorClient } from '../../src/conductor/client.ts'
import { createHttpTaskQueue } from '../../src/conductor/http-task-queue.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { conductorControl } from './conductor-control.ts'
import { definitionConformance } from './task-queue-definitions.ts'
import { taskQueueConformance, type QueueScene } from './task-queue.ts'
import { workflowDefinitionConformance } from './workflow-definitions.ts'

const conductor = useRealServer('conductor')

const open = (context: TestContext): Promise<QueueScene> => {
  const { url } = conductor(context)
  const client = openConductorClient({ endpoint: `${url}/api` })
  return Promise.resolve({
    queue: createHttpTaskQueue(client),
    control: conductorControl(url),
    pass: (durationMs: number) => wait(durationMs),
    settle: <T>(promise: Promise<T>) => promise,
    close: () => client.close(),
  })
}

taskQueueConformance('Conductor', { open })
workflowDefinitionConformance('Conductor', { open })
definitionConformance(conductor)
