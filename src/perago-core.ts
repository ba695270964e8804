/**
 * Executions, their events and variables, over one store.
 *
 * @module perago/core
 */

export { openCore, type Core, type CoreOptions } from './core/life-cycle/core.ts'
export type {
  EventReads,
  Execution,
  ExecutionEnd,
  ExecutionEvents,
  ExecutionPublishOptions,
  ExecutionState,
  ExecutionVariables,
  NodeScope,
  VariableReads,
} from './core/life-cycle/execution.ts'
export type { StartRequest } from './core/life-cycle/start-execution.ts'
export {
  runSubPipeline,
  type SubPipelineBody,
  type SubPipelineResult,
  type SubPipelineSpec,
  type SuppliedOutputs,
} from './core/life-cycle/sub-pipeline.ts'

export { keepMaintained, type KeepMaintainedOptions } from './core/life-cycle/keep-maintained.ts'
export {
  DEFAULT_RETENTION,
  openMaintenance,
  type DueExecution,
  type MaintainedExecution,
  type Maintenance,
  type MaintenanceOptions,
} from './core/life-cycle/maintenance.ts'
export type { Retention, SweptPart } from './core/life-cycle/sweep-execution.ts'
export type { PassReport } from './core/life-cycle/run-pass.ts'

export type { EventManager, PublishOptions } from './core/events/event-manager.ts'
export type { ClearRule } from './core/events/clear-events.ts'
export type { EventFilter } from './core/events/event-filter.ts'
export type { EventPage } from './core/events/event-pages.ts'
export { EVENT_VERBS, SOURCE_KINDS, type SourceKind } from './core/events/event-types.ts'
export type { EventSource, ExecutionEvent, NewEvent } from './core/events/event.ts'
export type { PayloadRule } from './core/events/payload-advice.ts'
export type {
  ArchivePlace,
  EventArchive,
  EventRow,
  EventRowQuery,
  RowPlace,
  WalkableArchive,
} from './core/events/archive-port.ts'

export { parseExpression } from './core/expressions/parse-expression.ts'
export { printExpression } from './core/expressions/print-expression.ts'
export { referencesOf, type ExpressionReferences } from './core/expressions/references.ts'
export {
  evaluateExpression,
  type ExpressionScope,
  type Verdict,
} from './core/expressions/evaluate-expression.ts'
export { evaluateInExecution, type ExecutionReads } from './core/expressions/evaluate-in-execution.ts'
export type { Condition, Expression } from './core/expressions/syntax.ts'

export type { ListedVariable, VariableFilter, VariablePage } from './core/variables/list-variables.ts'
export type { VariableHistory, VariableWriteRecord } from './core/variables/read-history.ts'
export type { WrittenBy } from './core/variables/variable-history.ts'
export type { VariableStore } from './core/variables/variable-store.ts'
export type { VariableNotice, WatchOptions } from './core/variables/watch-variables.ts'

export type { Json, JsonObject } from './base/json.ts'
export { executionId, tenantId, type ExecutionId, type TenantId } from './core/keys.ts'
export { EXECUTION_STATUSES, type ExecutionStatus } from './core/namespaces/execution-record.ts'
export { RESERVED_NODE_IDS } from './core/namespaces/names.ts'
export type { MakeId } from './core/namespaces/make-id.ts'
export type {
  CommitOutcome,
  RangePage,
  RangeRequest,
  Store,
  StoreBatch,
  StoreCallOptions,
  StoreChange,
  StoreCondition,
  StoreEntry,
  StoreOperation,
  WatchNotice,
  WatchRequest,
} from './core/ports.ts'

export { openMemoryStore, type MemoryStoreOptions } from './stores/memory/memory-store.ts'
