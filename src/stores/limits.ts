/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── the store
/** Time for a call of a store. */
export const STORE_ANSWER_TIMEOUT_MS = 10_000
/** Time to open a connection to a store's server. */
export const STORE_CONNECT_TIMEOUT_MS = 5_000
/** Connections to one PostgreSQL server, without watches. */
export const STORE_CONNECTIONS_MAX = 10
/** Changes kept for watches that fall behind; beyond, a watch may have a gap. */
export const STORE_CHANGES_KEPT = 10_000
/** @internal Changes in one notification of a watch, unless one batch has more. */
export const STORE_CHANGES_PAGE = 1000
/** How often a watch polls where no notification came. */
export const STORE_WATCH_POLL_MS = 1_000
/** How long a watch retries a silent server before it fails. */
export const STORE_WATCH_PATIENCE_MS = 60_000
/** @internal Expired entries removed along with one batch or one poll of a watch. */
export const STORE_EXPIRED_PER_SWEEP = 100
/** @internal Entries that a deletion by prefix removes at once. */
export const STORE_CLEAR_ENTRIES = 1000
/** @internal Batches that SQLite writes to disk together. */
export const STORE_WRITES_TOGETHER_MAX = 256
/** Batches waiting in SQLite; further ones are rejected. */
export const STORE_WRITES_WAITING_MAX = 65_536
/** @internal Keys of batches that PostgreSQL or Redis write together, each counted as often as it is named. */
export const STORE_GROUP_MAX_KEYS = 200
/** @internal Waiting batches that are looked at for one such group. */
export const STORE_GROUP_LOOKED_AT = 1000
/** From this size on, a sealed store compresses values that get smaller. */
export const STORE_COMPRESS_FROM_BYTES = 4096
/** @internal Size that SQLite's log file shrinks to after a checkpoint. */
export const STORE_SQLITE_LOG_BYTES = 67_108_864

// ── executions, events and variables
/** Time for one SQL statement of the archive. */
export const ARCHIVE_STATEMENT_TIMEOUT_MS = 30_000
/** @internal Rows of the archive that a walk through it reads at once. */
export const ARCHIVE_WALK_ROWS = 500
