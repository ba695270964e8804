/** What units demand of the resource pool, which describes the machines that workers run on. */

import { formatSize } from '../../base/quantities.ts'
import { POOL_CPU_CORES, POOL_GPUS, POOL_MEMORY_BYTES } from '../limits.ts'
import type { Demand } from './graph.ts'

export interface ResourcePool {
  readonly cpu: number
  readonly memoryBytes: number
  /** 0: there are none. */
  readonly gpu: number
}

export const DEFAULT_POOL: ResourcePool = {
  cpu: POOL_CPU_CORES,
  memoryBytes: POOL_MEMORY_BYTES,
  gpu: POOL_GPUS,
}

/** Where demands are not counted. */
export const UNLIMITED_POOL: ResourcePool = { cpu: Infinity, memoryBytes: Infinity, gpu: Infinity }

export const RESOURCES = ['cpu', 'memoryBytes', 'gpu'] as const satisfies readonly (keyof ResourcePool)[]
export type Resource = (typeof RESOURCES)[number]

/** The largest share of the pool that it demands of any resource: 1 for the whole pool, also for more than that. */
export function shareOfPool(demand: Demand | undefined, pool: ResourcePool): number {
  return Math.min(
    1,
    Math.max(...RESOURCES.map((resource) => shareOf(demand?.[resource] ?? 0, pool[resource]))),
  )
}

/** `101 CPU cores`, `1.0 GiB of memory`, `no GPUs`. */
export function showAmount(resource: Resource, amount: number): string {
  const unit = { cpu: 'CPU cores', memoryBytes: 'memory', gpu: 'GPUs' }[resource]
  if (amount === 0) return `no ${unit}`
  return resource === 'memoryBytes' ? `${formatSize(amount)} of ${unit}` : `${amount} ${unit}`
}

function shareOf(demanded: number, available: number): number {
  if (demanded === 0) return 0
  return available === 0 ? Infinity : demanded / available
}
