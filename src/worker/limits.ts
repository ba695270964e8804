/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── the cache and reused directories
/** Directories that a worker process keeps for later tasks. */
export const WARM_DIRECTORIES_MAX = 8
/** Bytes in all of them. */
export const WARM_MAX_BYTES = 10_737_418_240
/** How long a directory is kept for a later task. */
export const WARM_AGE_MS = 600_000
/** @internal How long a task waits for a directory that another task is about to release. */
export const WARM_ANNOUNCED_WAIT_MS = 5_000

// ── Conductor
/** @internal Longest wait that the server accepts in a poll. */
export const CONDUCTOR_POLL_WAIT_MAX_MS = 5_000
/** Largest task output, as JSON, that Conductor passes on. It moves a larger one to external storage. */
export const CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES = 3_145_728
/** Largest workflow input, as JSON, that Conductor passes on. It moves a larger one to external storage. */
export const CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES = 5_242_880
/** Largest payload that Conductor accepts. A task with a larger one fails for good. */
export const CONDUCTOR_PAYLOAD_MAX_BYTES = 10_485_760
/** Conductor cuts the reason of a failure here. */
export const CONDUCTOR_REASON_MAX_CHARS = 500
/** Log lines per result that Conductor keeps. */
export const CONDUCTOR_LOGS_PER_RESULT_MAX = 10

// ── worker
/** Renewals of a lease per response timeout. */
export const LEASE_ROUNDS_PER_TIMEOUT = 3
/** Latest first renewal, so that problems show early. */
export const LEASE_FIRST_RENEWAL_MS = 1_000
/** @internal How long a result waits for a renewal whose response was lost. */
export const LEASE_LOST_ANSWER_WAIT_MS = 2_000
/** If its last run started publishing within this time, a task's staging branch is created while it works. */
export const EARLY_STAGING_MAX_MS = 10_000
/** Tries of posting a result before it goes to the outbox. */
export const RESULT_POST_ATTEMPTS = 6
/** @internal A check of the attempt fence this recent counts as the one before a post. */
export const RESULT_FENCE_AGE_MAX_MS = 250
/** Wait before a result is posted again; doubles with each try. */
export const RESULT_POST_DELAY_MS = 200
/** Longest wait before a result is posted again. */
export const RESULT_POST_DELAY_MAX_MS = 5_000
/** @internal Results of an earlier process that are sent at once. */
export const OUTBOX_ENTRIES_MAX = 1_000
/** Time for a body to end after its signal is aborted; then its attempt is abandoned. */
export const BODY_ABORT_GRACE_MS = 5_000
/** Time for a thread or process to end before it is killed. */
export const BODY_KILL_WAIT_MS = 2_000
/** Time for a program to end after SIGTERM before it is killed. */
export const COMMAND_ABORT_GRACE_MS = 4_000
/** Larger parameters are not put into an environment variable. */
export const COMMAND_ENV_MAX_BYTES = 65_536
/** Largest result of a program. */
export const COMMAND_RESULT_MAX_BYTES = 10_485_760
/** End of a program's stderr that its error keeps. */
export const COMMAND_STDERR_TAIL_CHARS = 4_000
/** Last lines of a body's output that go into the task's log. */
export const TASK_LOG_LINES_MAX = 200
/** A longer line of the task's log is cut. */
export const TASK_LOG_LINE_MAX_CHARS = 4_000
/** Server wait of the first poll of a task type, and of every poll while other types wait for a slot. */
export const POLL_WAIT_MS = 100
/** Longest server wait of a poll; it doubles up to here while there are no tasks. */
export const POLL_WAIT_MAX_MS = 2_000
/** @internal A task that arrives within this time was already queued. */
export const POLL_QUEUED_MAX_MS = 75
/** Upper bound of the random pause after a failed poll; doubles with each failure. */
export const POLL_ERROR_DELAY_MS = 250
/** Longest pause between failing polls. */
export const POLL_ERROR_DELAY_MAX_MS = 30_000
/** Tasks that one worker runs in parallel by default. */
export const WORKER_SLOTS = 4
/** How long a stopping worker lets its tasks finish. */
export const WORKER_STOP_DEADLINE_MS = 25_000
/** Time for aborted attempts to end and to be handed back. */
export const WORKER_ABORT_WAIT_MS = 15_000
/** Time between two tries to deliver results from the outbox. */
export const OUTBOX_SEND_INTERVAL_MS = 15_000
/** @internal Time for the lease thread to end before it is terminated. */
export const LEASE_THREAD_CLOSE_MS = 5_000
/** A longer line printed by a body is cut. */
export const BODY_LINE_MAX_CHARS = 8_192
/** Open workflows that a worker searches for other writers of an attempt's branch. */
export const BRANCH_WATCH_WORKFLOWS_MAX = 500
/** @internal Shortest time between two such searches; attempts share them. */
export const BRANCH_WATCH_INTERVAL_MS = 5_000
/** Open workflows searched before one is started on a branch; with more, it is not started. */
export const START_WORKFLOWS_MAX = 10_000
/** @internal How often a worker process checks that its supervisor is alive. */
export const ORPHAN_LOOK_MS = 500
/** A worker with free slots is unhealthy after this time without a successful poll. */
export const WORKER_POLL_SILENT_MS = 90_000
