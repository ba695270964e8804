/** What can be said about a Conductor without changing anything in it. */

import { systemClock, type Clock } from '../base/clock.ts'
import {
  CONDUCTOR_PAYLOAD_MAX_BYTES,
  CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES,
  CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES,
} from '../base/limits.ts'
import type { Logger } from '../base/logger.ts'
import type { RetryPolicy } from '../base/retry.ts'
import { createDefinitionRegistry } from '../conductor/definitions.ts'
import { conductorSettings, openConductor } from './conductor-connection.ts'
import type { PeragoConfiguration } from './configuration.ts'

export interface ConductorExamination {
  readonly endpoint: string
  /** As the server calls itself. */
  readonly version: string
  /** What it says of itself; a stock server is well. */
  readonly isHealthy: boolean
  readonly answeredInMs: number
  /** What perago refuses before it is sent, so that nobody is handed a path instead of a value. */
  readonly limits: {
    readonly taskOutputBytes: number
    readonly workflowInputBytes: number
    /** Above it a server fails the task for good. */
    readonly payloadBytes: number
  }
}

/** Asks the server what it is; throws what the client throws when it is unreachable, refuses us, or is no Conductor. */
export async function examineConductor(
  configuration: PeragoConfiguration,
  options: {
    readonly logger: Logger
    readonly retry?: Partial<RetryPolicy>
    readonly signal: AbortSignal
    readonly clock?: Clock
  },
): Promise<ConductorExamination> {
  const { signal, clock = systemClock, ...connection } = options
  const { endpoint } = conductorSettings(configuration)
  const client = openConductor(configuration, connection)
  const registry = createDefinitionRegistry(client)
  try {
    const startMs = clock.monotonicMs()
    const version = await registry.readVersion({ signal })
    const answeredInMs = Math.round(clock.monotonicMs() - startMs)
    return {
      endpoint,
      version,
      isHealthy: await registry.isHealthy({ signal }),
      answeredInMs,
      limits: {
        taskOutputBytes: CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES,
        workflowInputBytes: CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES,
        payloadBytes: CONDUCTOR_PAYLOAD_MAX_BYTES,
      },
    }
  } finally {
    await client.close()
  }
}
