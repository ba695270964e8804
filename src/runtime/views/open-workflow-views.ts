/** Where workflows are looked at: an engine of this process, by its API of Conductor, or the configured Conductor. */

import type { Clock } from '../../base/clock.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { openConductorClient } from '../../conductor/client.ts'
import type { ExecutionReader } from '../../engine/host/execution-list.ts'
import { conductorSettings } from '../connections/conductor-connection.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'
import { graphOfUnits } from './workflow-graph.ts'
import { openWorkflowView, type WorkflowView } from './workflow-view.ts'

/** The API of Conductor that an engine of this process speaks. */
export type InProcess = (request: Request) => Response | Promise<Response>

export interface EngineWorkflowViewParts {
  readonly answer: InProcess
  readonly readerOf: () => Promise<Pick<ExecutionReader, 'read'>>
  readonly clock?: Clock
}

export function openEngineWorkflowView({
  answer,
  readerOf,
  ...parts
}: EngineWorkflowViewParts): WorkflowView {
  return openWorkflowView({
    client: openConductorClient({ endpoint: 'http://localhost', answer, retry: { maxAttempts: 1 } }),
    readGraph: async (workflowId) => {
      const execution = await (await readerOf()).read(workflowId)
      return execution && graphOfUnits(execution.graph)
    },
    ...parts,
  })
}

/** Whoever looks is waiting. */
const LOOK_RETRY = { maxAttempts: 2 }

/** Of the configured one. Sends nothing yet. */
export function openConductorView(
  configuration: Pick<PeragoConfiguration, 'conductor'>,
  { logger = silentLogger, connections }: { readonly logger?: Logger; readonly connections: number },
): WorkflowView {
  const settings = conductorSettings(configuration)
  return openWorkflowView({
    client: openConductorClient({ ...settings, logger, connectionsMax: connections, retry: LOOK_RETRY }),
  })
}
