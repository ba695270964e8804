/** The world of a recovery: the configured lakeFS and Conductor, and the outboxes below a worker's root. */

import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import type { RetryPolicy } from '../base/retry.ts'
import type { ConductorClient } from '../conductor/client.ts'
import { createHttpTaskQueue } from '../conductor/http-task-queue.ts'
import { createWorkflowOperator } from '../conductor/workflows.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import { openHardFences } from '../publication/hard-fences.ts'
import type { RecoveryQueue, RecoveryWorld } from '../recovery/ports.ts'
import { readHeldResults } from '../worker/results/outbox-entries.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { openConductor } from './connections/conductor-connection.ts'
import { openLakefs } from './connections/lakefs-connection.ts'
import { ledgerOf } from './ledger-settings.ts'
import { startWorkflow } from './start-workflow.ts'

export interface RecoveryOptions {
  /** Silent unless set. */
  readonly logger?: Logger
  /** The root of the workers of this machine; without one, no result that waits there is known. */
  readonly root: string | undefined
  /** Instead of the configured one; stays open. */
  readonly conductor?: ConductorClient | undefined
  /** How requests to lakeFS and the configured Conductor are repeated. Unless given: at most 6 tries within 60 s. */
  readonly retry?: Partial<RetryPolicy>
  /** Aborts requests of the recovery. */
  readonly signal?: AbortSignal | undefined
}

/** Without a configured Conductor no task is known. Closes the connections after the work. */
export async function withRecovery<T>(
  configuration: Pick<PeragoConfiguration, 'lakefs' | 'conductor' | 'ledger'>,
  options: RecoveryOptions,
  work: (world: RecoveryWorld) => Promise<T>,
): Promise<T> {
  const { logger = silentLogger, root, signal } = options
  const connection = { ...options, logger }
  const { keys: ledgerKeys } = ledgerOf(configuration)
  const fences = openHardFences({ policy: configuration.lakefs.fence, clock: systemClock, logger })
  const lakefs = openLakefs(configuration, connection)
  const hasConductor = configuration.conductor.serverUrl !== undefined
  const opened =
    hasConductor && options.conductor === undefined ? openConductor(configuration, connection) : undefined
  const conductor = options.conductor ?? opened
  try {
    return await work({
      queue: conductor && openRecoveryQueue(conductor),
      repoOf: (repository) => openLakefsRepo(lakefs, repository),
      ...{ fences, ledgerKeys },
      readHeldResults: () => (root === undefined ? Promise.resolve([]) : readHeldResults(resolve(root))),
      ...{ clock: systemClock, logger, signal },
    })
  } finally {
    await lakefs.close()
    await opened?.close()
  }
}

function openRecoveryQueue(client: ConductorClient): RecoveryQueue {
  const operator = createWorkflowOperator(client)
  return {
    ...createHttpTaskQueue(client),
    readWorkflow: (workflowId, call) => operator.read(workflowId, call),
    startWorkflow: (start) => startWorkflow(client, start),
  }
}
