/**
 * The package's main entry: names are gathered here one by one.
 *
 * @module perago
 */

export {
  DefectError,
  ERROR_KINDS,
  EXIT_CODE,
  HTTP_STATUS,
  InvalidError,
  MissingError,
  PeragoError,
  RefusedError,
  UnavailableError,
  UncertainError,
  isPeragoError,
} from './base/errors.ts'
export type { ErrorCode, ErrorDetails, ErrorKind } from './base/errors.ts'

export type { Clock } from './base/clock.ts'
export type { Logger } from './base/logger.ts'
export type { Random } from './base/random.ts'
export type { RetryPolicy } from './base/retry.ts'

export { branchName, commitRef, isCommitRef, repositoryName } from './base/ids.ts'
export type { BranchName, CommitRef, MetaRangeId, RepositoryName } from './base/ids.ts'

export { createLakefsClient } from './lakefs/client.ts'
export type { LakefsClient, LakefsClientOptions, LakefsTimeouts, MultipartSizes } from './lakefs/client.ts'
export { openLakefsRepo } from './lakefs/versioned-repo.ts'
export {
  createRepository,
  deleteRepository,
  listRepositories,
  readBranchProtection,
  readRepository,
  readServerInfo,
  setBranchProtection,
} from './lakefs/administration.ts'
export type { RepositoryInfo, ServerInfo } from './lakefs/administration.ts'

export { openConductorClient } from './conductor/client.ts'
export type {
  ConductorCall,
  ConductorClient,
  ConductorClientOptions,
  ExchangeNotice,
} from './conductor/client.ts'
export type { ConductorKey } from './conductor/auth.ts'
export type { WorkflowStart } from './conductor/definitions.ts'
export { startWorkflow } from './runtime/start-workflow.ts'
export { startWorkers } from './runtime/start-workers.ts'
export type { StartWorkersOptions, Workers } from './runtime/start-workers.ts'
export type { WorkersSettings } from './runtime/open-here.ts'
export type { HealthAddress } from './runtime/telemetry/worker-health.ts'
export type { WorkerHealth } from './worker/health.ts'
export type { StopOptions } from './worker/worker.ts'

export type {
  BranchHead,
  ByteRange,
  CallOptions,
  Change,
  ChangeKind,
  CommitOutcome,
  CommitRecord,
  CommitRequest,
  DiffOptions,
  ListEntry,
  ListOptions,
  LogOptions,
  MergeOutcome,
  MergeRequest,
  Metadata,
  MoveOutcome,
  MoveRequest,
  ObjectStat,
  OpenedObject,
  TagOutcome,
  TagRequest,
  UploadBody,
  VersionedRepo,
  WriteOutcome,
  WriteRequest,
} from './publication/ports.ts'

export {
  assertCurrentAttemptSnapshot,
  DEFAULT_ATTEMPT_POLICY,
  judgeAttempt,
  StaleAttemptError,
  UnknownAttemptError,
} from './fences/attempt-fence.ts'
export type {
  AttemptDifference,
  AttemptField,
  AttemptPolicy,
  AttemptVerdict,
} from './fences/attempt-fence.ts'
export type { AttemptSnapshot, FreshAttempt, TaskStatus, WorkflowStatus } from './fences/attempt-snapshot.ts'
export {
  openHardFences,
  type FencePolicy,
  type HardFences,
  type HardFencesOptions,
} from './publication/hard-fences.ts'
export { relocate } from './publication/relocate.ts'
export type { RelocationRequest, RelocationResult } from './publication/relocate.ts'
export { readLedger } from './publication/ledger.ts'
export type {
  Ledger,
  LedgerActor,
  LedgerAttempt,
  LedgerReading,
  RecordedResult,
  ResultOmission,
} from './publication/ledger.ts'
export type { ActorAuthority } from './publication/authority.ts'
export { decidePublication, PublishFenceError } from './fences/publish-fence.ts'
export type { PublishDecision, PublishFacts, PublishRefusal } from './fences/publish-fence.ts'

export { defineCommandTask, defineTask, defineWorkspaceTask } from './tasks/task-definition.ts'
export type {
  AttemptInfo,
  BodyContext,
  BodyPlace,
  BodyWorkspace,
  CommandSpec,
  CommandTaskInput,
  PlainTaskInput,
  TaskDefinition,
  TaskWorkspaceSpec,
  WorkspaceBodyContext,
  WorkspaceTaskInput,
} from './tasks/task-definition.ts'
export type { PublishBudget, TaskControls, TaskControlsInput } from './tasks/task-controls.ts'
export { branchHead } from './tasks/branch-head.ts'
export type { BranchHeadTask } from './tasks/branch-head.ts'
export { RetryableError, TerminalError } from './tasks/author-errors.ts'
export { defineWorkflow } from './tasks/workflow-definition.ts'
export type {
  PlainStep,
  StepInput,
  TaskStep,
  WorkflowDefDocument,
  WorkflowDefinition,
  WorkflowInput,
} from './tasks/workflow-definition.ts'
export type { WorkflowStep } from './tasks/workflow-steps.ts'
export type { Json, JsonObject } from './base/json.ts'
export {
  forbidGlob,
  jsonMatches,
  maxBytes,
  maxFiles,
  requireDir,
  requireFile,
  requireGlob,
} from './workspace/comparing/guardrails.ts'
export { GuardrailError } from './tasks/guardrail-error.ts'
export type { GuardrailFailure, GuardrailPhase } from './tasks/guardrail-error.ts'
export type { Guardrail, GuardrailContext, GuardrailFunction, GuardrailRule } from './tasks/guardrails.ts'
export type { WorkspaceSpec } from './tasks/workspace-spec.ts'

export { openClient } from './client/open-client.ts'
export type { ClientCallOptions, ClientOptions } from './client/sender.ts'
export type {
  ClientCheckpoint,
  ClientEvent,
  ClientEventPage,
  ClientRollback,
  ClientRollbackPreview,
  ClientRollbackReport,
  ClientRollbackScope,
  ClientSchedule,
  ClientStart,
  ClientVariable,
  ClientVariableHistory,
  ClientVariablePage,
  ClientVariableWrite,
  EventQuery,
  ExecutionPage,
  ExecutionState,
  ExecutionSummary,
  ListQuery,
  PeragoClient,
  RegisteredPipeline,
  SchedulePage,
  ScheduleQuery,
  UnitCompletion,
  VariableQuery,
  WaitedExecution,
} from './client/open-client.ts'
export { startServer } from './server/start-server.ts'
export type { MetricsPlace, RunningServer, StartServerOptions } from './server/start-server.ts'
export type { EngineSetup } from './runtime/engines.ts'
export type { Role } from './server/access/callers.ts'
export type { NewToken, TokenRecord, Tokens } from './server/access/tokens.ts'
