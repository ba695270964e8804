/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── configuration and errors
/** Largest configuration file. */
export const CONFIGURATION_FILE_MAX_BYTES = 1_048_576
/** Largest file of a secret. */
export const SECRET_FILE_MAX_BYTES = 65_536

// ── the cache and reused directories
/** Size of a worker's object cache by default. */
export const CACHE_MAX_BYTES = 10_737_418_240

// ── worker
/** Pause before a worker process is restarted; doubles with each exit. */
export const SUPERVISOR_RESTART_MS = 500
/** Longest pause before a restart. */
export const SUPERVISOR_RESTART_MAX_MS = 30_000
/** After running this long, a worker process is healthy and the pauses start over. */
export const SUPERVISOR_WELL_AFTER_MS = 60_000
/** Time after its deadline before a worker process is killed. */
export const SUPERVISOR_KILL_AFTER_MS = 30_000
/** How long a worker process may outlive its supervisor before it is killed. */
export const ORPHAN_GRACE_MS = 10_000

// ── executions, events and variables
/** Longest retention, except `forever`. */
export const RETENTION_MAX_MS = 315_360_000_000

// ── executions
/** @internal Tenants whose open executions are kept in memory. */
export const EXECUTION_TENANTS_REMEMBERED = 1_000
