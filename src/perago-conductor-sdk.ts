/**
 * Tasks of perago as workers of Conductor's JavaScript SDK.
 *
 * @module perago/conductor-sdk
 */

export { conductorWorkers } from './runtime/conductor-sdk/conductor-workers.ts'
export type {
  ConductorSdkWorker,
  ConductorWorkers,
  ConductorWorkersOptions,
} from './runtime/conductor-sdk/conductor-workers.ts'
export type { ConductorSdkReply } from './runtime/conductor-sdk/task-replies.ts'
export type { WorkersSettings } from './runtime/open-here.ts'
export type { HealthAddress } from './runtime/telemetry/worker-health.ts'
export type { WorkerHealth } from './worker/health.ts'
export type { StopOptions } from './worker/worker.ts'
