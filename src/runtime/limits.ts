/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── configuration and showing errors
/** The largest configuration file. */
export const CONFIGURATION_FILE_MAX_BYTES = 1_048_576
/** The largest file that a secret is read from. */
export const SECRET_FILE_MAX_BYTES = 65_536

// ── the content cache and directories that are handed over
/** How many bytes of objects a worker's root keeps for later tasks, unless told. */
export const CACHE_MAX_BYTES = 10_737_418_240

// ── worker
/** After how long without a successful poll a worker that has places calls itself unwell. */
export const WORKER_POLL_SILENT_MS = 90_000
/** The pause before a worker process that ended is started again; it doubles with each further end. */
export const SUPERVISOR_RESTART_MS = 500
/** The longest pause before a worker process is started again. */
export const SUPERVISOR_RESTART_MAX_MS = 30_000
/** A worker process that ran this long is taken to be well: after it the pauses begin anew. */
export const SUPERVISOR_WELL_AFTER_MS = 60_000
/** How long beyond its deadline a worker process may take to end, before it is killed. */
export const SUPERVISOR_KILL_AFTER_MS = 30_000
/** How long a worker process may outlive its supervisor, before it is killed. */
export const ORPHAN_GRACE_MS = 10_000

// ── executions, events and variables
/** The longest time that what an ended execution leaves behind may be kept, unless it is kept for ever. */
export const RETENTION_MAX_MS = 315_360_000_000

// ── doors
/** Of how many tenants the executions that this process works with are remembered. */
export const EXECUTION_TENANTS_REMEMBERED = 1_000
