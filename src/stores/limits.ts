/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── the store under the core
/** How long a call of a store may take in all. */
export const STORE_ANSWER_TIMEOUT_MS = 10_000
/** How long a connection to a store's server may take to open. */
export const STORE_CONNECT_TIMEOUT_MS = 5_000
/** Connections to one PostgreSQL server, watches apart. */
export const STORE_CONNECTIONS_MAX = 10
/** At least this many changes a store remembers for watches that lag behind; one that lags further may be told of a gap. */
export const STORE_CHANGES_KEPT = 10_000
/** How many changes one notice of a watch tells, unless one batch has more. */
export const STORE_CHANGES_PAGE = 1000
/** How often a watch looks for changes when nobody wakes it. */
export const STORE_WATCH_POLL_MS = 1_000
/** How long a watch goes on trying to reach a server that does not answer, before it fails. */
export const STORE_WATCH_PATIENCE_MS = 60_000
/** How many expired entries are removed along with one batch, and with one look of a watch. */
export const STORE_EXPIRED_PER_SWEEP = 100
/** How many entries a deletion by prefix removes at a time. */
export const STORE_CLEAR_ENTRIES = 1000
/** How many batches SQLite writes to disk together. */
export const STORE_WRITES_TOGETHER_MAX = 256
/** How many batches may wait for their turn in SQLite before further ones are turned away. */
export const STORE_WRITES_WAITING_MAX = 65_536
/** From this size on a sealed store compresses values, where that makes them smaller. */
export const STORE_COMPRESS_FROM_BYTES = 4096
/** How much of SQLite's log file is kept after its contents went into the database. */
export const STORE_SQLITE_LOG_BYTES = 67_108_864

// ── executions, events and variables
/** How long one statement of the archive may take. */
export const ARCHIVE_STATEMENT_TIMEOUT_MS = 30_000
