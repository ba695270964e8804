/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── the cache and reused directories
/** Directories that a worker process keeps for later tasks. */
export const WARM_DIRECTORIES_MAX = 64
/** Their files together, of which the worker knows the names; the latest directory is kept with more. */
export const WARM_FILES_MAX = 200_000
/** Their bytes together. */
export const WARM_MAX_BYTES = 10_737_418_240
/** How long each is kept. */
export const WARM_AGE_MS = 600_000
/** @internal How long a task waits for a directory that another task is about to release. */
export const WARM_ANNOUNCED_WAIT_MS = 5_000

// ── Conductor
/** @internal Longest wait that the server accepts in a poll. */
export const CONDUCTOR_POLL_WAIT_MAX_MS = 5_000
/** Largest task output, as JSON, that Conductor does not move to external storage. */
export const CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES = 3_145_728
/** The same for a workflow input. */
export const CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES = 5_242_880
/** Largest payload it accepts; with a larger one a task fails for good. */
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
/** Posts of a result before it goes to the outbox. */
export const RESULT_POST_ATTEMPTS = 6
/** @internal A reading of the task this recent counts as the one before a post, which may wait as long to be sent. */
export const RESULT_FENCE_AGE_MAX_MS = 250
/** Wait before the next post; doubles with each. */
export const RESULT_POST_DELAY_MS = 200
/** Longest such wait. */
export const RESULT_POST_DELAY_MAX_MS = 5_000
/** @internal Size of the outbox files that are made ahead: a larger result gets its own file. */
export const OUTBOX_PLACE_BYTES = 8_192
/** @internal Such files per worker process. */
export const OUTBOX_PLACES_MAX = 8
/** @internal Results of an earlier process that are sent at once. */
export const OUTBOX_ENTRIES_MAX = 1_000
/** Time for an aborted body to end before its attempt is abandoned. */
export const BODY_ABORT_GRACE_MS = 5_000
/** Time for a thread or process to end before it is killed. */
export const BODY_KILL_WAIT_MS = 2_000
/** @internal Time for the last output of a process that has ended; something it started may hold its pipes. */
export const BODY_OUTPUT_GRACE_MS = 1_000
/** Time for a program to end after SIGTERM before it is killed. */
export const COMMAND_ABORT_GRACE_MS = 4_000
/** Time for an ended program's last output; then what it left running is asked to end. */
export const COMMAND_OUTPUT_GRACE_MS = 1_000
/** Time for that; then what still runs in the process group is killed, and the attempt goes on. */
export const COMMAND_LEFT_RUNNING_WAIT_MS = 2_000
/** Larger parameters are not put into an environment variable. */
export const COMMAND_ENV_MAX_BYTES = 65_536
/** Largest result of a program. */
export const COMMAND_RESULT_MAX_BYTES = 10_485_760
/** End of a program's stderr that its error keeps. */
export const COMMAND_STDERR_TAIL_CHARS = 4_000
/** Last lines of a body's output in the task's log. */
export const TASK_LOG_LINES_MAX = 200
/** The shortest time between two texts of it that are sent while the body runs. */
export const TASK_LOG_SEND_INTERVAL_MS = 3_000
/** The longest; in between it is one hundredth of the time that the attempt has lasted. */
export const TASK_LOG_SEND_INTERVAL_MAX_MS = 30_000
/** @internal That hundredth. */
export const TASK_LOG_SEND_PART = 0.01
/** The shortest time between two reports of a body's progress; the last one is always told. */
export const PROGRESS_INTERVAL_MS = 250
/** The task's log cuts a longer line. */
export const TASK_LOG_LINE_MAX_CHARS = 4_000
/** Its line about the steps of the attempt; the shortest steps are left out. */
export const STEPS_LINE_MAX_CHARS = 4_000
/** @internal Steps of an attempt that are remembered for that line. */
export const STEPS_COLLECTED_MAX = 100
/** Server wait of a task type's first poll, and of every poll while other types wait for a slot. */
export const POLL_WAIT_MS = 100
/** Up to here it doubles while there are no tasks. A stopping worker waits for the last poll. */
export const POLL_WAIT_MAX_MS = 1_000
/** How much longer it waits for a poll without answer. */
export const POLL_STOP_WAIT_MS = 400
/** Pause between two polls without a wait, right after a task began or ended; only where the server looks for tasks now and then. */
export const POLL_QUICK_FIRST_MS = 4
/** @internal Later it is this part of the time since. */
export const POLL_QUICK_PART = 0.25
/** For how long. Afterwards polls wait at the server again. */
export const POLL_QUICK_FOR_MS = 400
/** @internal Shortest time between two polls of a task type because tasks of other types ended. */
export const POLL_AFTER_OTHER_MS = 25
/** @internal A task that arrives within this time was already queued. */
export const POLL_QUEUED_MAX_MS = 75
/** @internal Slots that go to task types with work before a type gets one whose last poll brought nothing. */
export const SLOTS_PASSED_OVER_MAX = 4
/** Upper bound of the random pause after a failed poll; doubles with each. */
export const POLL_ERROR_DELAY_MS = 250
/** Longest such pause. */
export const POLL_ERROR_DELAY_MAX_MS = 30_000
/** Tasks that a worker runs in parallel by default. */
export const WORKER_SLOTS = 4
/** Time for a worker to stop in all. By default Kubernetes kills after 30 s. */
export const WORKER_STOP_DEADLINE_MS = 25_000
/** Its last part, also of a shorter one: running attempts are aborted and handed back. */
export const WORKER_ABORT_WAIT_MS = 10_000
/** @internal Of that, time for what runs beside the attempts to end. */
export const WORKER_BACKGROUND_WAIT_MS = 500
/** @internal Of that, time to close everything; what is left is removed by the next worker of the root. */
export const WORKER_CLOSE_WAIT_MS = 2_000
/** Wait before the outbox is sent again; doubles with each failure, up to the time between two looks. */
export const OUTBOX_RETRY_MS = 1_000
/** A worker is not ready while a result has waited this long. */
export const OUTBOX_LATE_MS = 60_000
/** Time between two looks for its results. */
export const OUTBOX_SEND_INTERVAL_MS = 15_000
/** @internal Time for the lease thread to end before it is terminated. */
export const LEASE_THREAD_CLOSE_MS = 5_000
/** A longer line printed by a body is cut. */
export const BODY_LINE_MAX_CHARS = 8_192
/** Open workflows searched for other writers of an attempt's branch. */
export const BRANCH_WATCH_WORKFLOWS_MAX = 500
/** @internal Shortest time between two such searches; attempts share them. */
export const BRANCH_WATCH_INTERVAL_MS = 5_000
/** Open workflows searched before one is started on a branch; with more, none is started. */
export const START_WORKFLOWS_MAX = 10_000
/** Time between two looks for staging branches left behind in a repository. */
export const STAGING_LOOK_INTERVAL_MS = 600_000
/** One whose attempt has ended is removed when it was seen unchanged for this long. */
export const STAGING_ENDED_AGE_MS = 300_000
/** One without an attempt, or of a task Conductor does not know, is removed at this age. */
export const STAGING_UNKNOWN_AGE_MS = 86_400_000
/** Staging branches listed at each look. */
export const STAGING_LISTED_MAX = 10_000
/** How many of them are examined; the next look goes on after them. */
export const STAGING_EXAMINED_MAX = 200
/** @internal Time for one look. */
export const STAGING_LOOK_MAX_MS = 60_000
/** @internal How often a worker process checks that its supervisor is alive. */
export const ORPHAN_LOOK_MS = 500
/** A worker with free slots and no successful poll for this long is unhealthy. */
export const WORKER_POLL_SILENT_MS = 90_000

// ── secrets in results
/** @internal Fields of a result named in an error or a log line. */
export const SECRET_FIELDS_SHOWN = 10
/** @internal Longest path of such a field that is shown whole. */
export const SECRET_FIELD_MAX_CHARS = 200

// ── outages
/** How long after its first claim a task is handed back in outages; `outages.giveUpAfter` changes it. */
export const OUTAGE_GIVE_UP_MS = 604_800_000
/** A task handed back is offered again after this time. */
export const OUTAGE_HAND_BACK_SECONDS = 5
/** Polls of a task up to which a fault of the machine hands it back: it may be too large for all. */
export const NODE_HAND_BACK_POLLS_MAX = 5
/** Size of the file to be written before tasks are taken again after such a fault. */
export const NODE_PROBE_BYTES = 8_388_608
/** Time until that is tried; doubles with each failure. */
export const NODE_PROBE_MS = 1_000
/** Longest such time. */
export const NODE_PROBE_MAX_MS = 15_000
/** Cache bytes given up before each try. */
export const NODE_PROBE_CACHE_BYTES = 67_108_864
/** @internal Staging branches that are removed once lakeFS is back; further ones stay. */
export const REMOVALS_LATER_MAX = 10_000

// ── executors
/** Units that one executor runs at once. */
export const EXECUTOR_CAPACITY_MAX = 10_000
/** Executors of one pool. */
export const EXECUTORS_MAX = 1_000
/** Time between two examinations, and after a loss until an executor without one gets units again. */
export const EXECUTOR_EXAMINE_MS = 5_000
/** An examination that takes longer has failed. */
export const EXECUTOR_EXAMINE_TIMEOUT_MS = 10_000
/** Time for an executor to end an aborted unit; then the unit is given back all the same. */
export const EXECUTOR_ABORT_GRACE_MS = 5_000
/** How long a closing pool waits for running units before it aborts them. */
export const EXECUTOR_STOP_DEADLINE_MS = 15_000
/** @internal For tasks without a response timeout: the lease is lost when nothing was confirmed for this long. */
export const EXECUTOR_LEASE_SECONDS = 3_600
