/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── graphs
/** Units of a graph, those inside loops included. */
export const EXECUTION_UNITS_MAX = 500
/** Expected duration of a task that never ran and states none. */
export const EXPECTED_DURATION_MS = 60_000
/** Past runs that a unit's failure rate and expected duration use. */
export const HISTORY_RUNS = 100
/** A unit on which this many wait, directly or not, has a scope of damage of one half. */
export const IMPACT_HALF_UNITS = 10
/** Graphs whose analysis is kept. */
export const ANALYSES_KEPT_MAX = 256

// ── scheduling
/** CPU cores of the resource pool. */
export const POOL_CPU_CORES = 100
/** Memory of the resource pool. */
export const POOL_MEMORY_BYTES = 536_870_912_000
/** GPUs of the resource pool. */
export const POOL_GPUS = 10
/** Tasks that run at once in one engine. */
export const CONCURRENT_TASKS_MAX = 100
/** Tasks of one phase that run at once. */
export const CONCURRENT_TASKS_PER_PHASE_MAX = 50
/** A task waiting this long goes in turn with more urgent ones, oldest first. */
export const AGE_AFTER_MS = 300_000
/** So many tasks that became due later go before the one of their type that is due longest; then it goes, if it fits. */
export const OVERTAKES_MAX = 10
/** @internal How long room is kept for a task that has waited so long, from the last poll that found none for it. */
export const AGED_HOLD_MS = 10_000
/** Longest time that a task waits for the worker that should have it. */
export const BALANCE_WAIT_MS = 2_000
/** No task waits for a worker that runs nothing and has not polled for this long. */
export const EXECUTOR_ALIVE_MS = 10_000
/** Failures of a target in a row after which its tasks are held back. */
export const BREAKER_FAILURES = 5
/** How long they are held back; doubles with each failed probe. */
export const BREAKER_OPEN_MS = 30_000
/** Longest wait before the next probe. */
export const BREAKER_OPEN_MAX_MS = 600_000
/** A critical task that starts this much late is logged at level `info`. */
export const CRITICAL_LATE_MS = 1_000
/** @internal How often executions that start get an analysis with the latest recorded runs. */
export const HISTORY_FRESH_MS = 10_000
/** Pipelines whose recorded runs are kept, those that ran last. */
export const HISTORIES_KEPT_MAX = 1_000
/** How often the engine's time is stored; so much of a wait is waited again where an engine was killed and the clock set back. */
export const ENGINE_TIME_SAVE_MS = 30_000
/** Share of its usual speed at which the engine's time goes while it is ahead of the clock. */
export const ENGINE_TIME_SPEED = 0.9
/** A stored time of the engine that is further ahead of the clock is not followed. */
export const ENGINE_TIME_AHEAD_MAX_MS = 172_800_000
/** @internal How far it may be ahead without a warning. */
export const ENGINE_TIME_TOLD_MS = 60_000
/** How long the engine may not get on with what is due before the server's health says so. */
export const ENGINE_STILL_MS = 60_000
/** How often what was learned from runs is stored; a killed engine loses this much. */
export const LEARNED_SAVE_MS = 5_000
/** @internal Workers, and targets of circuit breakers, of which something is remembered. */
export const SCHEDULING_NAMES_MAX = 10_000

// ── pipeline definitions
/** Largest pipeline file. */
export const PIPELINE_FILE_MAX_BYTES = 1_048_576
/** Nesting of brackets, and indentation in characters, of a pipeline file. */
export const PIPELINE_TEXT_DEPTH_MAX = 500
/** Nesting of cases, loops and templates in a pipeline. */
export const PIPELINE_DEPTH_MAX = 20
/** Units of a pipeline with its templates filled in, to protect the reader; an execution accepts fewer. */
export const PIPELINE_UNITS_READ_MAX = 5_000
/** Most iterations that a loop may declare. */
export const LOOP_MAX_ITERATIONS = 10_000
/** Missed starts that a schedule catches up on. */
export const SCHEDULE_CATCH_UP_MAX = 100
/** Most retries that a unit may declare. */
export const RETRIES_MAX = 1_000

// ── checkpoints
/** Largest checkpoint as stored; a larger one is refused, and earlier ones stay. */
export const CHECKPOINT_MAX_BYTES = 52_428_800
/** Checkpoints kept of one execution by default, besides the last good one of an unfinished one. */
export const CHECKPOINTS_KEPT = 5
/** How long checkpoints are kept by default, with the same exception. */
export const CHECKPOINT_RETENTION_MS = 604_800_000
/** Largest state that a checkpoint is unpacked to. */
export const CHECKPOINT_STATE_MAX_BYTES = 536_870_912
/** @internal Part of a checkpoint in one value of the store. */
export const CHECKPOINT_PART_BYTES = 786_432
/** @internal Parts of one checkpoint that are written at the same time. */
export const CHECKPOINT_PARTS_IN_FLIGHT = 4
/** A stored checkpoint without a record is removed after this time, in which its record may still come. */
export const CHECKPOINT_UNRECORDED_MS = 3_600_000
/** @internal Tries to find a free place for the record of a checkpoint. */
export const CHECKPOINT_RECORD_TRIES_MAX = 8
/** Time between two rounds that remove old checkpoints. */
export const CHECKPOINT_MAINTENANCE_MS = 600_000
/** @internal Open, ended and removed executions, each, whose checkpoints one round looks at. */
export const CHECKPOINTS_EXPIRED_PER_ROUND = 200
/** @internal Time between two tries to continue a rollback that was stopped. */
export const ROLLBACK_AGAIN_MS = 5_000
/** How often the policy of an execution may take it back in one run. */
export const RECOVERIES_MAX = 100

// ── plans
/** How often a plan looks for a pause or resume; each plan may set its own. */
export const PLAN_STATUS_CHECK_INTERVAL_MS = 100
/** How long a stopped or cancelled plan waits for running functions before it reports them and ends. */
export const PLAN_STOP_GRACE_MS = 10_000
/** A subscriber that takes longer causes a warning. */
export const PLAN_SLOW_CALLBACK_MS = 50
/** A finished plan not released by then causes a warning. */
export const PLAN_LEAK_WARNING_MS = 60_000
/** Notifications that subscribers cause from within one another. */
export const PLAN_NESTED_NOTIFICATIONS_MAX = 100
/** Signals waiting for a task; the oldest is dropped for a new one. */
export const PLAN_WAITING_SIGNALS_MAX = 100
/** Tasks of one plan. */
export const PLAN_TASKS_MAX = 10_000
/** With more keys in a shared space, the lint advises one structured value. */
export const PLAN_LINT_KEYS_MAX = 50
/** How often `waitFor` looks for its key. */
export const PLAN_WAIT_INTERVAL_MS = 20
/** How long `waitFor` waits. */
export const PLAN_WAIT_TIMEOUT_MS = 1_000
/** How often `syncWait` looks for its key. */
export const PLAN_SYNC_INTERVAL_MS = 50
/** How long `syncWait` waits. */
export const PLAN_SYNC_TIMEOUT_MS = 5_000
/** Answers other than yes or no before `quickDecisionTool` gives up. */
export const PLAN_UNCLEAR_ANSWERS_MAX = 3
/** @internal The rules expect a time within which a worker responds; a function of this process has none: ten years. */
export const PLAN_RESPONSE_TIMEOUT_SECONDS = 315_360_000

// ── telemetry
/** Share of executions whose spans are recorded, unless their start says. */
export const TRACE_SHARE = 0.1

// ── host
/** Largest state of one execution by default, as stored. */
export const EXECUTION_STATE_MAX_BYTES = 104_857_600
/** How much larger the state of a failing execution may be, for its reason and what is undone. */
export const EXECUTION_STATE_RESERVE_BYTES = 1_048_576
/** Executions of one instance that run at once; more wait. */
export const EXECUTIONS_AT_ONCE = 1_000
/** Executions examined for one page of a list; with rare matches it has fewer, and says where to go on. */
export const EXECUTIONS_LOOKED_AT_MAX = 1_000
/** Time between two looks at events and variables that executions wait for. */
export const ENGINE_POLL_MS = 100
/** @internal Of many events and variables, this many are looked at per second. */
export const HOST_ASKED_KEYS_PER_SECOND = 500
/** Lease of the instance that runs a tenant's executions. */
export const ENGINE_LEASE_MS = 9_000
/** Longest wait before another instance tries to take over. */
export const ENGINE_STANDBY_INTERVAL_MS = 1_000
/** @internal Larger values of an execution are stored apart, compressed. */
export const HOST_INLINE_MAX_BYTES = 8_192
/** @internal Characters of large texts whose compressed form is remembered, because several units may have them. */
export const HOST_PACKED_TEXTS_MAX = 33_554_432
/** @internal Largest entry of a value that is stored apart. */
export const HOST_BLOB_CHUNK_BYTES = 786_432
/** @internal Operations of one batch of a step. */
export const HOST_BATCH_MAX_OPERATIONS = 85
/** @internal Events of one batch of a step. */
export const HOST_BATCH_MAX_EVENTS = 25
/** @internal Bytes of one batch of a step. */
export const HOST_BATCH_MAX_BYTES = 1_000_000
/** @internal A step that met changes of others is decided anew this often. */
export const HOST_STALE_TRIES_MAX = 20
/** @internal Executions that are read in parallel when an instance takes over. */
export const HOST_READS_IN_FLIGHT = 16
/** @internal Longest sleep between two looks at what is due. */
export const HOST_LOOK_INTERVAL_MS = 5_000
/** @internal A task domain without a poll for this long has no worker. */
export const HOST_POLLER_ALIVE_MS = 10_000
