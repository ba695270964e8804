/** The queue that the lease thread opens for itself: the same Conductor, over connections of its own. */

import { openConductorClient } from '../../conductor/client.ts'
import { createHttpTaskQueue } from '../../conductor/http-task-queue.ts'
import type { LeaseQueue, LeaseQueueModule } from '../../worker/leases/threaded-leases.ts'
import { entryUrl } from '../../base/module-entry.ts'
import type { ConductorSettings } from './conductor-connection.ts'

/** Names this module to the lease thread. */
export function leaseQueueModule(settings: ConductorSettings): LeaseQueueModule {
  return { url: entryUrl(import.meta.url, './lease-queue.ts').href, options: settings }
}

/** Called in the lease thread. */
export function openLeaseQueue(options: unknown): LeaseQueue {
  // The options are our own, passed through the thread by `leaseQueueModule`.
  const client = openConductorClient(options as ConductorSettings)
  return { ...createHttpTaskQueue(client), close: () => client.close() }
}
