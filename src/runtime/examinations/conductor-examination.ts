/** Examines a Conductor without changing anything in it. */

import { systemClock } from '../../base/clock.ts'
import {
  CONDUCTOR_PAYLOAD_MAX_BYTES,
  CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES,
  CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES,
  START_WORKFLOWS_MAX,
} from '../../worker/limits.ts'
import type { Logger } from '../../base/logger.ts'
import type { RetryPolicy } from '../../base/retry.ts'
import type { ConductorClient } from '../../conductor/client.ts'
import { createDefinitionRegistry } from '../../conductor/definitions.ts'
import { createHttpTaskQueue } from '../../conductor/http-task-queue.ts'
import { targetsIn, type BranchTarget } from '../../tasks/branch-targets.ts'
import { findSharedBranches } from '../../worker/branches/second-writers.ts'
import type { OpenWorkflow } from '../../worker/ports.ts'
import { conductorSettings, withConductor } from '../connections/conductor-connection.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'

export type ConductorExamination = Awaited<ReturnType<typeof examineConductor>>

/** Throws the error of the client if the server is unreachable, refuses the credentials, or is not a Conductor. */
export async function examineConductor(
  configuration: Pick<PeragoConfiguration, 'conductor'>,
  options: {
    readonly logger: Logger
    readonly retry?: Partial<RetryPolicy>
    readonly signal: AbortSignal
  },
) {
  const { signal, ...connection } = options
  const { endpoint } = conductorSettings(configuration)
  return withConductor(configuration, connection, async (client) => {
    const registry = createDefinitionRegistry(client)
    const startMs = systemClock.monotonicMs()
    const version = await registry.readVersion({ signal })
    const answeredInMs = Math.round(systemClock.monotonicMs() - startMs)
    return {
      endpoint,
      version,
      isHealthy: await registry.isHealthy({ signal }),
      answeredInMs,
      /** What perago refuses before it is sent, so that no task gets a path instead of a value. */
      limits: {
        taskOutputBytes: CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES,
        workflowInputBytes: CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES,
        /** Above it a server fails the task for good. */
        payloadBytes: CONDUCTOR_PAYLOAD_MAX_BYTES,
      },
      ...(await readBranches(client, signal)),
    }
  })
}

/**
 * The branches that open workflows name, and those that several of them may write, each with its workflows, the oldest first; both
 * `undefined` if the workflows could not be read. A server whose workflows cannot be searched is still a Conductor.
 */
async function readBranches(client: ConductorClient, signal: AbortSignal) {
  try {
    const { workflows } = await createHttpTaskQueue(client).readOpenWorkflows(START_WORKFLOWS_MAX, { signal })
    // A workflow with a branch in its input may write it: only workers know which tasks only read.
    const sharedBranches = findSharedBranches(workflows, new Map()).map(
      ({ repository, branch, workflows: sharing }) => ({
        ...{ repository, branch },
        workflows: sharing.map(({ name, workflowId }) => ({ name, workflowId })),
      }),
    )
    return { sharedBranches, namedBranches: namedBy(workflows) }
  } catch {
    signal.throwIfAborted()
    return { sharedBranches: undefined, namedBranches: undefined }
  }
}

function namedBy(workflows: readonly OpenWorkflow[]): readonly BranchTarget[] {
  const named = new Map<string, BranchTarget>()
  for (const { repository, branch } of workflows.flatMap(({ input }) => targetsIn(input)))
    named.set(`${repository}/${branch}`, { repository, branch })
  return [...named.values()]
}
