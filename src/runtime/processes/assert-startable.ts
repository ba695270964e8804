/** What would keep workers of a module from starting, looked at before any of them takes work. */

import { defined } from '../../base/defined.ts'
import type { Logger } from '../../base/logger.ts'
import { createDefinitionRegistry } from '../../conductor/definitions.ts'
import { withConductor } from '../connections/conductor-connection.ts'
import { openLakefs } from '../connections/lakefs-connection.ts'
import { loadWithBuiltIns } from '../modules/built-in-tasks.ts'
import { assertMayStart, examineRegistration } from '../modules/task-registration.ts'
import type { WorkerOrder } from './worker-processes.ts'

export async function assertStartable(
  { modulePath, configuration, options }: WorkerOrder,
  { logger, signal }: { readonly logger: Logger; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { tasks } = await loadWithBuiltIns(modulePath)
  // Only to find out whether it is configured; nothing is sent.
  await openLakefs(configuration, { logger }).close()
  const registrations = await withConductor(configuration, { logger }, (client) =>
    examineRegistration(createDefinitionRegistry(client), tasks, defined({ signal })),
  )
  assertMayStart(registrations, options)
}
