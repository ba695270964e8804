/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── configuration and errors
/** Largest configuration file. */
export const CONFIGURATION_FILE_MAX_BYTES = 1_048_576
/** Largest file of a secret. */
export const SECRET_FILE_MAX_BYTES = 65_536

// ── the cache and reused directories
/** Size of a worker's object cache by default. */
export const CACHE_MAX_BYTES = 10_737_418_240

// ── the store
/** Findings that `perago store verify` lists; it counts all of them. */
export const STORE_FINDINGS_MAX = 1_000
/** Pause between two writes by which health checks try the store; in between the last result is told. */
export const HEALTH_WRITE_INTERVAL_MS = 10_000
/** Time for a read or a write of a health check. */
export const HEALTH_TIMEOUT_MS = 2_000
/** @internal Time to live of what a health check writes. */
export const HEALTH_WRITE_TTL_MS = 120_000

// ── worker
/** Pause before a worker process restarts; doubles with each exit. */
export const SUPERVISOR_RESTART_MS = 500
/** Longest pause before a restart. */
export const SUPERVISOR_RESTART_MAX_MS = 30_000
/** A worker process that ran this long is healthy: the pauses start over. */
export const SUPERVISOR_WELL_AFTER_MS = 60_000
/** A worker process is killed this long after its deadline. */
export const SUPERVISOR_KILL_AFTER_MS = 2_000
/** @internal How long a worker process that is asked to stop while it starts may take. */
export const WORKER_START_CUT_WAIT_MS = 500
/** How long git may take to say of which commit the task code is. */
export const CODE_REVISION_WAIT_MS = 2_000
/** A worker process is killed this long after its supervisor's end. */
export const ORPHAN_GRACE_MS = 10_000

// ── doctor
/** Queues of tasks that `perago doctor` looks at: those with tasks that wait, then those of the module. */
export const QUEUES_EXAMINED_MAX = 200
/** Tasks that wait, and that no worker has asked for within this time, are reported by `perago doctor`. */
export const QUEUE_POLLED_WITHIN_MS = 60_000

// ── executions, events and variables
/** Longest retention, except `forever`. */
export const RETENTION_MAX_MS = 315_360_000_000

// ── executions
/** Tenants whose executions one server runs. */
export const ENGINE_TENANTS_MAX = 100
/** @internal Time between two looks for tenants with open executions. */
export const ENGINE_TENANTS_LOOK_MS = 5_000
/** @internal Tenants whose open executions are kept in memory. */
export const EXECUTION_TENANTS_REMEMBERED = 1_000

// ── telemetry
/** Spans waiting for the collector; of more, new ones are dropped. */
export const SPANS_WAITING_MAX = 4_096
/** @internal Spans in one request to the collector. */
export const SPANS_PER_REQUEST = 512
/** Longest wait of a span before it is sent. */
export const SPAN_EXPORT_INTERVAL_MS = 5_000
/** Time for one request to a collector. */
export const SPAN_EXPORT_TIMEOUT_MS = 10_000

// ── what is shown of workflows
/** Workflows that a search for a text looks at for one page. */
export const WORKFLOWS_LOOKED_AT_MAX = 1_000
/** Tasks of a workflow whose logs are read to show their publications and steps, the newest ones, each once. */
export const TASK_LOGS_READ_MAX = 100
/** @internal Logs that are read at the same time. */
export const TASK_LOGS_READ_AT_ONCE = 8
/** @internal Ended tasks whose publications and steps are remembered. */
export const TASK_PUBLICATIONS_REMEMBERED = 10_000
/** Task types, each with its domain, that are shown with their pollers. */
export const POLLERS_SHOWN_MAX = 1_000
/** A task type without waiting tasks is shown so long after its last poll. */
export const POLLERS_SHOWN_WITHIN_MS = 3_600_000
/** Time for a verification that a server makes; what was judged until then is told. */
export const VERIFICATION_MAX_MS = 10_000
/** Verifications that a server makes at the same time. */
export const VERIFICATIONS_AT_ONCE = 4
/** Time for the examination of a server; what does not answer by then is reported so. */
export const EXAMINATION_MAX_MS = 10_000
/** The same examination is told for so long. */
export const EXAMINATION_KEPT_MS = 5_000
/** @internal Queues without a worker that an examination names. */
export const EXAMINATION_QUEUES_MAX = 50

// ── what is shown of the workers of this machine
/** A worker looks so often whether its status has changed. */
export const STATUS_LOOK_MS = 2_000
/** It writes its status after this time even when nothing has changed. */
export const STATUS_WRITE_MS = 10_000
/** A worker that has not written its status for so long is not shown as running. */
export const STATUS_SILENT_MS = 30_000
/** Largest file with the status of a worker; of more it tells less. */
export const STATUS_FILE_MAX_BYTES = 16_384
/** Task types in a worker's status. */
export const STATUS_TASKS_MAX = 50
/** Running attempts in it. */
export const STATUS_ATTEMPTS_MAX = 20
/** Attempts in it that failed or were handed back, the newest ones. */
export const STATUS_ENDS_MAX = 10
/** @internal Characters of a name or an id in it. */
export const STATUS_NAME_MAX_CHARS = 128
/** @internal Characters of a reason in it. */
export const STATUS_REASON_MAX_CHARS = 240
/** Workers of a root that are shown. */
export const WORKERS_SHOWN_MAX = 200
/** `--max-semi-space-size` of Node for a worker process, in MiB, unless `NODE_OPTIONS` has one: a fifth less memory for small tasks. */
export const WORKER_SEMI_SPACE_MIB = 2
/** `--v8-pool-size` of Node for a worker process, unless `NODE_OPTIONS` has one: threads that compile and collect beside it. */
export const WORKER_V8_THREADS = 1
