/** Archiving and sweeping of a store, as a server does it from time to time and a command once. */

import type { Logger } from '../../base/logger.ts'
import { keepMaintained } from '../../core/life-cycle/keep-maintained.ts'
import { openMaintenance, type Maintenance } from '../../core/life-cycle/maintenance.ts'
import type { Retention } from '../../core/life-cycle/sweep-execution.ts'
import type { Store } from '../../core/ports.ts'
import { resealStore, type SealOptions } from '../../stores/sealed/sealed-store.ts'
import { openWebhooks } from '../../webhooks/webhooks.ts'
import type { OpenedStores } from './open-store.ts'

export type { DueExecution, Maintenance } from '../../core/life-cycle/maintenance.ts'

export interface MaintainedStore extends Pick<OpenedStores, 'store' | 'archive'> {
  readonly retention: Retention
  readonly logger: Logger
}

export function maintenanceOf({ store, archive, retention, logger }: MaintainedStore): Maintenance {
  return openMaintenance({
    store,
    retention,
    logger,
    forget: (executions) => openWebhooks({ store, logger }).forgetExecutions(executions),
    ...(archive === undefined ? {} : { archive }),
  })
}

/** Until the signal; resolves when the step that is under way then is done. */
export function maintainStore(parts: MaintainedStore, signal: AbortSignal): Promise<void> {
  return keepMaintained({ maintenance: maintenanceOf(parts), signal, logger: parts.logger })
}

/** Encrypts every value anew that is not encrypted with the key in use; tells how many those were. */
export function encryptAnew(store: Store, seal: SealOptions, signal: AbortSignal): Promise<number> {
  return resealStore(store, { ...seal, signal })
}
