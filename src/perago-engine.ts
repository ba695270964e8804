/**
 * Graphs of work, and what runs them.
 *
 * @module perago/engine
 */

export {
  walkUnits,
  type ChildUnit,
  type Demand,
  type EachUnit,
  type EndUnit,
  type Graph,
  type HumanUnit,
  type JoinUnit,
  type Planning,
  type Policy,
  type Recovery,
  type SetUnit,
  type SwitchUnit,
  type TaskUnit,
  type Undo,
  type Unit,
  type UnitBase,
  type UnitType,
  type Verification,
  type WaitUnit,
  type WhileUnit,
} from './engine/graph/graph.ts'
export {
  describeExecution,
  type CheckpointDescription,
  type ExecutionDescription,
  type UnitDescription,
} from './engine/protocol/describe-execution.ts'
export { namesReadBy } from './engine/protocol/effects.ts'
export {
  STAGE_MOVES,
  STAGES,
  STATUSES_OF_STAGE,
  type Stage,
  type UnitState,
} from './engine/protocol/stages.ts'
export {
  analyseGraph,
  type AnalysisOptions,
  type Basis,
  type GraphAnalysis,
  type PredictDuration,
  type UnitAnalysis,
} from './engine/graph/analysis.ts'
export { AnalysisCache, digestGraph } from './engine/graph/analysis-cache.ts'
export { addUnit } from './engine/graph/add-unit.ts'
export {
  criticalPath,
  isCritical,
  phasesOf,
  slackMs,
  totalMs,
  type Phase,
} from './engine/graph/critical-path.ts'
export { recordRuns, type GraphHistory, type RecordedRun, type UnitHistory } from './engine/graph/history.ts'
export type { GraphProblem } from './engine/graph/problem.ts'
export { findGraphProblems, requireSoundGraph, type GraphLimits } from './engine/graph/problems.ts'
export { DEFAULT_POOL, type ResourcePool } from './engine/graph/resources.ts'
export { riskScore, type RiskFactors } from './engine/graph/risk.ts'
export type { BreakerOptions, BreakerState } from './engine/scheduling/breaker.ts'
export type { BreakerStates } from './engine/scheduling/breakers.ts'
export { ENGINE_SCHEDULING, PLAIN_SCHEDULING, type SchedulingOptions } from './engine/scheduling/options.ts'
export {
  Schedule,
  type HandOut,
  type ChangedRows,
  type SchedulePoll,
  type ScheduleSettings,
} from './engine/scheduling/schedule.ts'
export { executorOf } from './engine/scheduling/tracked-row.ts'

export {
  definePipeline,
  workspaceInput,
  type PipelineSettings,
  type PolicySettings,
} from './engine/definitions/define-pipeline.ts'
export type { PipelineBuilder } from './engine/definitions/pipeline-builder.ts'
export type {
  TaskHandle,
  TaskOptions,
  TaskSettings,
  UnitHandle,
  UnitOptions,
  UntypedHandle,
  WaitOptions,
  WorkspaceTaskHandle,
  WorkspaceValue,
} from './engine/definitions/pipeline-units.ts'
export { isPipelineDefinition, type PipelineDefinition } from './engine/definitions/pipeline-definition.ts'
export {
  condition,
  text,
  type Given,
  type Reference,
  type Resolved,
  type UntypedReference,
} from './engine/definitions/typed-reference.ts'
export type { PipelineDocument, ScheduleDocument } from './engine/definitions/document.ts'
export { dueTimes, nextTime } from './engine/definitions/schedule.ts'
export { pipelineSchema } from './engine/definitions/document-shape.ts'
export type { TextPosition, TextProblem } from './engine/definitions/parse-text.ts'
export {
  loadPipelineText,
  printFileProblem,
  readPipelineText,
  type PipelineFile,
  type PipelineFileReading,
} from './engine/definitions/read-pipeline-file.ts'

export type { CheckpointBodies, BodyPlace } from './engine/checkpoints/ports.ts'
export type { Checkpoint, CheckpointReason, CheckpointRecord } from './engine/checkpoints/checkpoint.ts'
export {
  openCheckpoints,
  type Checkpoints,
  type CheckpointsOptions,
  type LastGood,
  type TakeRequest,
} from './engine/checkpoints/checkpoints.ts'
export { openDirectoryBodies } from './engine/checkpoints/directory-bodies.ts'
export { dueCheckpoint, type CheckpointFrequency } from './engine/checkpoints/due-checkpoint.ts'
export type { CheckpointLimits } from './engine/checkpoints/retention.ts'
export { openStoreBodies } from './engine/checkpoints/store-bodies.ts'
export { planRollback, type RollbackPlan } from './engine/checkpoints/plan-rollback.ts'
export type { RollbackPreview } from './engine/checkpoints/preview-rollback.ts'
export type { AfterRollback } from './engine/checkpoints/restore-state.ts'
export {
  resumeRollback,
  rollBackExecution,
  type RollbackHost,
  type RollbackParts,
  type RollbackReport,
  type RollbackRequest,
} from './engine/checkpoints/roll-back-execution.ts'
export type { RollbackScope } from './engine/checkpoints/undone-units.ts'
export type { BranchCommit } from './engine/checkpoints/written-branches.ts'
export { Plan, PLAN_EXTRAS } from './engine/plans/plan.ts'
export { ControlledPlan, NewPlan, type TaskRequest } from './engine/plans/control-surface.ts'
export { PlanRegistry, type PlanPlace, type PlanRegistryOptions } from './engine/plans/plan-registry.ts'
export type { PlanOptions, PlanStatuses, TaskTimes } from './engine/plans/plan-core.ts'
export {
  handlers,
  HandlerRegistry,
  type Handler,
  type RegisteredHandler,
} from './engine/plans/handler-registry.ts'
export {
  PLAN_STATUSES,
  PLAN_TRANSITIONS,
  type PlanEvent,
  type PlanStatus,
} from './engine/plans/plan-status.ts'
export type {
  PlanRetry,
  PlanTaskView,
  TaskContext,
  TaskDeclaration,
  TaskFunction,
} from './engine/plans/plan-task.ts'
export { MemorySharedSpace } from './engine/plans/memory-shared-space.ts'
export {
  BUILT_IN_EVENTS,
  type BuiltInEvent,
  type ChangeKind,
  type PlanBacking,
  type SharedSpace,
  type SharedSpaceExtras,
  type SpaceCallback,
} from './engine/plans/shared-space.ts'
export { PlanSpace } from './engine/plans/plan-space.ts'
export type { SubscriberOptions } from './engine/plans/subscribers.ts'
export { SignalChannel, type PlanSignal } from './engine/plans/signal-channel.ts'
export { PlanFailedError, type TaskFailure } from './engine/plans/plan-errors.ts'
export { time } from './engine/plans/time.ts'
export { waitFor, type WaitForOptions, type WaitSource } from './engine/plans/wait-for.ts'
export { openEngine, type Engine, type EngineOptions } from './engine/host/open-engine.ts'
export type { EngineCheckpoints } from './engine/host/engine-checkpoints.ts'
export type { EngineRollback } from './engine/host/rollbacks.ts'
export type { EngineControl } from './engine/host/engine-control.ts'
export type {
  ExecutionReader,
  ListedExecution,
  ListedPage,
  ListRequest,
} from './engine/host/execution-list.ts'
export type { OneStart, StartedAs, StartedOnce } from './engine/host/start-once.ts'
export type { Signal } from './engine/protocol/signal.ts'

export { openDataRollback, type RollBackOptions } from './publication/roll-back.ts'
export type {
  BranchRollback,
  BranchRolledBack,
  DataRollback,
  OwnCommits,
  PathsRollback,
  PathsRolledBack,
} from './publication/rollback-port.ts'
export { openVariableSharedSpace, VariableSharedSpace } from './engine/plans/variable-shared-space.ts'
export { declareTask } from './engine/plans/task-handler.ts'
export {
  lintPlan,
  type LintOptions,
  type PlanFinding,
  type PlanFindingRule,
} from './engine/plans/lint-plan.ts'
export {
  SHARING_PATTERNS,
  SharedSpaceDecisionMaker,
  validateDecision,
  type DecisionJudgement,
  type SharingDecision,
  type SharingPattern,
  type SharingRecommendation,
  type SharingRequirements,
} from './engine/plans/decisions.ts'
export { quickDecisionTool, type QuickDecisionOptions } from './engine/plans/quick-decision-tool.ts'
export {
  buildETLPlan,
  independentDataExample,
  pipelineExample,
  realtimeCollaborationExample,
} from './engine/plans/sharing-examples.ts'
export {
  PlanBuilder,
  type BuilderTaskConfig,
  type BuiltTask,
  type IndependentOutcome,
  type PlanBuilderOptions,
  type SyncWait,
} from './engine/plans/plan-builder.ts'
export {
  findBranchConflicts,
  requireFreeBranches,
  type BranchConflict,
  type GraphStart,
  type OpenGraph,
} from './engine/definitions/branch-conflicts.ts'
export { findGraphWriters, type WriterConflict } from './engine/definitions/graph-writers.ts'
export { drawSvg, type UnitStates } from './engine/graph-drawing/svg.ts'
export { drawText } from './engine/graph-drawing/text.ts'
export type {
  CheckpointTaken,
  EngineEvent,
  EngineObserver,
  GraphParsed,
  StepStored,
  TaskHandedOut,
} from './engine/telemetry/engine-events.ts'
export { LOG_EVENTS, type LogEvent } from './engine/telemetry/log-records.ts'
export {
  ENGINE_METRICS,
  openEngineMetrics,
  type EngineMetrics,
  type EngineMetricsOptions,
} from './runtime/telemetry/engine-metrics.ts'
export {
  serveMetrics,
  type ServedMetrics,
  type ServeMetricsOptions,
} from './runtime/telemetry/serve-metrics.ts'
export { exportSpans, type ExportSpansOptions, type SpanExport } from './runtime/telemetry/export-spans.ts'
export {
  openExecutorPool,
  type ClosePoolOptions,
  type ExecutorPool,
  type ExecutorPoolOptions,
  type RegisteredExecutor,
} from './worker/executors/executor-pool.ts'
export type {
  Executor,
  ExecutorCall,
  ExecutorHealth,
  ExecutorStatus,
  ExecutorUnit,
  RunningUnit,
} from './worker/executors/executor-port.ts'
export { ExecutorLostError } from './tasks/author-errors.ts'
