/**
 * What became of a publication, what may be done about it, and doing it.
 *
 * @module perago/recovery
 */

export {
  examine,
  recover,
  type Examination,
  type Recovered,
  type RecoverRequest,
} from './recovery/recover.ts'
export {
  FACT_VALUES,
  judgeSituation,
  SITUATIONS,
  type Situation,
  type SituationFacts,
} from './recovery/situation.ts'
export {
  isNormal,
  planRecovery,
  RECOVERY_ACTIONS,
  type OfferedAction,
  type RecoveryAction,
  type RecoveryPlan,
  type RecoveryStep,
} from './recovery/plan.ts'
export { blame, diffOfRun, type BlameRequest, type Maker, type RunChanges } from './recovery/blame.ts'
export { collectStaging, type Collected, type CollectRequest } from './recovery/collect.ts'
export { VERIFIED_CHECKS, type VerifiedCheck, type VerifyFinding } from './recovery/history-judge.ts'
export type { UnfencedPublisher } from './recovery/publishers.ts'
export { verify, type Verification, type VerifyRequest } from './recovery/verify.ts'
export type { Findings } from './recovery/gather.ts'
export type { StepDone } from './recovery/carry-out.ts'
export type { BranchPlace, RecordedWorkflow, RecoveryQueue, RecoveryWorld } from './recovery/ports.ts'
export { withRecovery, type RecoveryOptions } from './runtime/open-recovery.ts'
export { loadConfiguration } from './runtime/configuration/configuration.ts'
