/** Moves branches of the configured lakeFS back, on behalf of executions. */

import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { LakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import { openHardFences } from '../publication/hard-fences.ts'
import { openDataRollback } from '../publication/roll-back.ts'
import type { DataRollback } from '../publication/rollback-port.ts'
import type { LoadedConfiguration, PeragoConfiguration } from './configuration/configuration.ts'
import { openLakefs } from './connections/lakefs-connection.ts'

export interface TenantRollbacks {
  /** `undefined`: no lakeFS is configured for this tenant. */
  readonly dataOf: (tenant: string | undefined) => DataRollback | undefined
  close(): Promise<void>
}

/**
 * Each tenant has its own lakeFS, or at least its own key: what an execution names as its branch comes from its tenant, and must
 * not be done with the rights of somebody else.
 */
export function openTenantRollbacks(
  { configuration, tenantLakefs }: Pick<LoadedConfiguration, 'configuration' | 'tenantLakefs'>,
  options: { readonly logger: Logger },
): TenantRollbacks {
  const opened = new Map<string | undefined, LakefsRollback>()
  const open = (tenant: string | undefined): LakefsRollback | undefined => {
    const own = tenant === undefined ? configuration.lakefs : tenantLakefs.get(tenant)
    if (own?.endpoint === undefined) return undefined
    const settings = { ...configuration, lakefs: { ...configuration.lakefs, ...own } }
    return openLakefsRollback(() => Promise.resolve(settings), options)
  }
  return {
    dataOf(tenant) {
      const rollback = opened.get(tenant) ?? open(tenant)
      if (rollback !== undefined) opened.set(tenant, rollback)
      return rollback?.data
    },
    close: async () => {
      await Promise.all([...opened.values()].map((one) => one.close()))
    },
  }
}

export interface LakefsRollback {
  readonly data: DataRollback
  close(): Promise<void>
}

/** The address may be known later, as that of a server that is being started; connects when it is first used. */
export function openLakefsRollback(
  settings: () => Promise<PeragoConfiguration>,
  options: { readonly logger: Logger },
): LakefsRollback {
  let client: LakefsClient | undefined
  let opened: Promise<DataRollback> | undefined
  const open = (): Promise<DataRollback> => (opened ??= connect())
  const connect = async (): Promise<DataRollback> => {
    try {
      const configuration = await settings()
      const { logger } = options
      const fences = openHardFences({ policy: configuration.lakefs.fence, clock: systemClock, logger })
      // The server that comes back after a lost connection may evaluate no fence.
      const onExchange = ({ status }: { readonly status: number | undefined }): void => {
        if (status === undefined) fences.forget()
      }
      const lakefs = (client ??= openLakefs(configuration, { ...options, onExchange }))
      return openDataRollback({ fences, repoOf: (repository) => openLakefsRepo(lakefs, repository) })
    } catch (error) {
      // The next use tries again.
      opened = undefined
      throw error
    }
  }
  return {
    data: {
      check: async (...asked) => (await open()).check(...asked),
      moveBack: async (...asked) => (await open()).moveBack(...asked),
      checkPaths: async (...asked) => (await open()).checkPaths(...asked),
      restorePaths: async (...asked) => (await open()).restorePaths(...asked),
    },
    close: async () => client?.close(),
  }
}
