/**
 * Servers and helpers for users' tests.
 *
 * @module perago/testing
 */

export { openTestLakefs, type TestLakefs } from './lakefs.ts'
export {
  startEmbeddedLakefs,
  type EmbeddedLakefs,
  type EmbeddedLakefsLimits,
  type EmbeddedLakefsOptions,
} from '../embedded/lakefs/server.ts'
export {
  FaultPlan,
  type Fault,
  type FaultRule,
  type FaultTarget,
  type SeenRequest,
} from '../embedded/lakefs/faults.ts'
export type { OperationName } from '../embedded/lakefs/http/operations.ts'
export {
  openTestQueue,
  type QueueCall,
  type QueueLink,
  type TestQueue,
  type TestQueueOptions,
} from './open-test-queue.ts'
export type { Deficiencies } from './memory-queue.ts'
export type { QueueControl, WorkflowStartRequest, WorkflowView } from '../engine/protocol/control.ts'
export type { TestTaskDef, TestWorkflowDef, TestWorkflowTask } from '../engine/protocol/definitions.ts'
export { ScriptedRepo, calmScript, type ScriptedRepoOptions } from './scripted-repo.ts'
export type {
  BranchUpdate,
  HeadReading,
  RepoCall,
  RepoFault,
  RepoRequest,
  RepoScript,
} from './scripted-world.ts'
export type { VersionedRepo } from '../publication/ports.ts'
export { mockOutputs, runPipelineAlone, type AloneRun } from './executions.ts'
export {
  answer,
  call,
  fail,
  failTimes,
  hang,
  inTurn,
  loseWorker,
  real,
  type AttemptScript,
  type Behaviour,
  type StandIn,
  type StandInContext,
  type TestDuration,
  type Timing,
  type UnitBehaviour,
} from './pipelines/behaviours.ts'
export type { StoreFault, StoreFaults } from './pipelines/failing-store.ts'
export type { AttemptRun, PipelineRun, UnitRun, UnitStatus } from './pipelines/pipeline-run.ts'
export type { SourceOptions, TestedPipeline, UntypedPipeline } from './pipelines/source.ts'
export type { StartedPipeline } from './pipelines/started-pipeline.ts'
export {
  openTestEngine,
  type StartOptions,
  type TestEngine,
  type TestEngineOptions,
  type TestInput,
} from './pipelines/test-engine.ts'
export { testPipeline, type TestEvent, type TestPipelineOptions } from './pipelines/test-pipeline.ts'
export type { Publication, TestRepository } from './pipelines/test-repository.ts'
export {
  CrashCaseError,
  tryEveryCrash,
  type CrashFigures,
  type CrashOptions,
} from './crashes/try-every-crash.ts'
export type { CrashOutcome } from './crashes/crash-case.ts'
export { ManualClock } from './manual-clock.ts'
export { openTestWorker, registerModule, type TestWorker, type TestWorkerOptions } from './test-worker.ts'
export type { LoadedModule } from '../worker/bodies/load-tasks.ts'
export type { AttemptStepEvent, AttemptSummary, WorkerEvent, WorkerObserver } from '../worker/events.ts'
export type { RunningWorker, StopReport, WorkerStatus } from '../worker/worker.ts'
export type { TaskQueue, TaskRecord, TaskResult } from '../worker/ports.ts'
