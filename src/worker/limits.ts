/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── the content cache and directories that are handed over
/** How many directories a worker process keeps for the tasks that follow. */
export const WARM_DIRECTORIES_MAX = 8
/** How many bytes they may have together. */
export const WARM_MAX_BYTES = 10_737_418_240
/** How long a directory is kept for a task that may follow. */
export const WARM_AGE_MS = 600_000
/** How long a task waits for a directory of its input that another is just leaving, before it lays out its own. */
export const WARM_ANNOUNCED_WAIT_MS = 5_000

// ── the client
/** The longest a poll may ask the server to wait; more is refused by it. */
export const CONDUCTOR_POLL_WAIT_MAX_MS = 5_000
/** The largest output of a task, as JSON, that the next task is still given. Above it the server puts it aside. */
export const CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES = 3_145_728
/** The largest input of a workflow, as JSON, that its tasks are still given. Above it the server puts it aside. */
export const CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES = 5_242_880
/** The largest payload that Conductor takes at all. Above it the task fails for good. */
export const CONDUCTOR_PAYLOAD_MAX_BYTES = 10_485_760
/** How much of the reason a task did not end well is kept by the server. */
export const CONDUCTOR_REASON_MAX_CHARS = 500
/** How many log lines of one result are kept by the server. */
export const CONDUCTOR_LOGS_PER_RESULT_MAX = 10

// ── worker
/** A lease is renewed this many times within its response timeout. */
export const LEASE_ROUNDS_PER_TIMEOUT = 3
/** The first renewal comes no later than this, so that a lease nobody can renew is noticed early. */
export const LEASE_FIRST_RENEWAL_MS = 1_000
/** How long a renewal whose answer was lost may still be on its way, before a result is posted. */
export const LEASE_LOST_ANSWER_WAIT_MS = 2_000
/** A task whose last run got to its publication within this time has its staging branch begun while it works. */
export const EARLY_STAGING_MAX_MS = 10_000
/** How often a result is posted before it is left to the outbox. */
export const RESULT_POST_ATTEMPTS = 6
/** How long ago the attempt fence may have been passed for its reading to count as the one before a post. */
export const RESULT_FENCE_AGE_MAX_MS = 250
/** The wait before a result is posted again; it doubles with each further try. */
export const RESULT_POST_DELAY_MS = 200
/** The longest wait before a result is posted again. */
export const RESULT_POST_DELAY_MAX_MS = 5_000
/** How many results that an earlier process left are sent at once. */
export const OUTBOX_ENTRIES_MAX = 1_000
/** How long a body may take to end by itself once its signal is aborted, before its attempt is given up. */
export const BODY_ABORT_GRACE_MS = 5_000
/** How long a host may take to end once it is told to, before it is killed. */
export const BODY_KILL_WAIT_MS = 2_000
/** How long a program may take to end after SIGTERM, before it is killed. */
export const COMMAND_ABORT_GRACE_MS = 4_000
/** The largest parameters that are put into one environment variable too. */
export const COMMAND_ENV_MAX_BYTES = 65_536
/** The largest result of a program that is read. */
export const COMMAND_RESULT_MAX_BYTES = 10_485_760
/** How much of the end of what a program said on stderr is kept for its error. */
export const COMMAND_STDERR_TAIL_CHARS = 4_000
/** How many lines of what a body said go into the task's log with its result; the last ones are kept. */
export const TASK_LOG_LINES_MAX = 200
/** A longer line of a task's log is cut, after redaction. */
export const TASK_LOG_LINE_MAX_CHARS = 4_000
/** How long the first poll of a task type asks the server to wait, and every poll while other types wait for its place. */
export const POLL_WAIT_MS = 100
/** The longest a poll of a worker asks the server to wait; it doubles up to here while there is nothing to do. */
export const POLL_WAIT_MAX_MS = 2_000
/** A poll that is answered with a task within this time met one that waited. */
export const POLL_QUEUED_MAX_MS = 75
/** The pause after a poll that failed is drawn from zero up to this; it doubles with each further failure. */
export const POLL_ERROR_DELAY_MS = 250
/** The longest pause between two polls that fail. */
export const POLL_ERROR_DELAY_MAX_MS = 30_000
/** How many tasks one worker runs at the same time. */
export const WORKER_SLOTS = 4
/** How long a worker that is asked to stop lets its tasks finish. */
export const WORKER_STOP_DEADLINE_MS = 25_000
/** How long attempts may take to end and to be handed back after they were aborted. */
export const WORKER_ABORT_WAIT_MS = 15_000
/** How often results that could not be delivered are sent again. */
export const OUTBOX_SEND_INTERVAL_MS = 15_000
/** How long the thread that holds the leases may take to end, before it is ended. */
export const LEASE_THREAD_CLOSE_MS = 5_000
/** A longer line of what a body prints is cut. */
export const BODY_LINE_MAX_CHARS = 8_192
/** How many open workflows a worker looks through for one that writes the branch of an attempt. */
export const BRANCH_WATCH_WORKFLOWS_MAX = 500
/** The least time between two such looks; attempts that begin meanwhile share the next. */
export const BRANCH_WATCH_INTERVAL_MS = 5_000
/** How many open workflows are looked through before one is started on a branch; with more it is not started. */
export const START_WORKFLOWS_MAX = 10_000
/** How often a worker process looks whether its supervisor still lives, apart from being told. */
export const ORPHAN_LOOK_MS = 500
