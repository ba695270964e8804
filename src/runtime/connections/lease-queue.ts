/** The queue client of the lease thread: the same Conductor, over its own connections. */

import { openConductorClient } from '../../conductor/client.ts'
import { createHttpTaskQueue } from '../../conductor/http-task-queue.ts'
import type { LeaseQueue, LeaseQueueModule } from '../../worker/leases/threaded-leases.ts'
import { entryUrl } from '../../base/module-entry.ts'
import type { ConductorSettings } from './conductor-connection.ts'

/** Describes this module for the lease thread. */
export function leaseQueueModule(settings: ConductorSettings): LeaseQueueModule {
  return { url: entryUrl(import.meta.url, './lease-queue.ts').href, options: settings }
}

/** Called in the lease thread. */
export function openLeaseQueue(options: unknown): LeaseQueue {
  // The options come from `leaseQueueModule`.
  const client = openConductorClient(options as ConductorSettings)
  return { ...createHttpTaskQueue(client), close: () => client.close() }
}
