/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── embedded lakeFS, HTTP side
/** The largest object the embedded lakeFS takes, whichever way it is uploaded. */
export const EMBEDDED_OBJECT_MAX_BYTES = 1_099_511_627_776
/** The largest JSON body the embedded lakeFS reads; the only kind it holds in memory. */
export const EMBEDDED_JSON_MAX_BYTES = 16_777_216
/** The longest object path, in UTF-8 bytes; the same as lakeFS'. */
export const EMBEDDED_PATH_MAX_BYTES = 1024
/** The longest request line and headers together. */
export const EMBEDDED_HEADER_MAX_BYTES = 65_536
/** How much of an unread body is thrown away after an early answer before the connection is cut. */
export const EMBEDDED_DRAIN_MAX_BYTES = 16_777_216
/** How long a connection may stay silent in the middle of a request or an answer. */
export const EMBEDDED_IDLE_MS = 60_000
/** How long a client may take to send its headers. */
export const EMBEDDED_HEADERS_MS = 30_000
/** How long `close()` lets requests under way finish before it cuts them. */
export const EMBEDDED_CLOSE_MS = 5_000
/** The most paths of one batch deletion; the same as lakeFS'. */
export const EMBEDDED_BATCH_DELETE_MAX_PATHS = 1000
/** The largest page of a listing; the same as lakeFS'. */
export const EMBEDDED_PAGE_MAX = 1000
/** How long a bearer token from a login is good. */
export const EMBEDDED_TOKEN_MS = 3_600_000
/** How long a presigned address is good. */
export const EMBEDDED_PRESIGN_MS = 900_000
/** How long a staging address may be linked after it was given out. */
export const EMBEDDED_STAGING_ADDRESS_MS = 21_600_000
/** The most uploads through presigned addresses that may wait for being linked. */
export const EMBEDDED_PRESIGNED_UPLOADS_MAX = 10_000
/** The most parts of one multi-part upload; the same as lakeFS'. */
export const EMBEDDED_PARTS_MAX = 10_000
/** How many requests the embedded server remembers for inspection. */
export const EMBEDDED_HISTORY_MAX = 10_000
/** The largest action file. */
export const EMBEDDED_ACTION_FILE_MAX_BYTES = 1_048_576
/** The most action files one update reads. */
export const EMBEDDED_ACTION_FILES_MAX = 100
/** How long one action hook may run. */
export const EMBEDDED_HOOK_MS = 5_000
/** What one action hook may allocate. */
export const EMBEDDED_HOOK_MEMORY_BYTES = 67_108_864
/** How much of what one action hook prints is kept. */
export const EMBEDDED_HOOK_OUTPUT_MAX_BYTES = 65_536
/** How many action hooks run at the same time. */
export const EMBEDDED_HOOK_WORKERS_MAX = 2
/** How many action runs are remembered for each repository. */
export const EMBEDDED_ACTION_RUNS_MAX = 1000

// ── embedded lakeFS, storage
/** How much of the metadata database SQLite may keep in memory, in KiB. */
export const EMBEDDED_DB_CACHE_KIB = 32_768
/** How large SQLite's log file may stay after its contents went into the database. */
export const EMBEDDED_DB_LOG_BYTES = 67_108_864
/** How many bytes of tree nodes, as they are stored, are kept decoded in memory. */
export const EMBEDDED_NODE_CACHE_BYTES = 33_554_432
/** The most writes that one transaction of the embedded lakeFS takes together. */
export const EMBEDDED_WRITE_BATCH_MAX = 512
/** The most writes that may wait for their transaction. */
export const EMBEDDED_WRITE_QUEUE_MAX = 65_536
/** How many staged changes are read at a time. */
export const EMBEDDED_STAGING_READ_ROWS = 512
/** How much of a body is gathered before it is written to disk. */
export const EMBEDDED_BLOB_BUFFER_BYTES = 1_048_576
/** The most bytes of all objects together when the embedded lakeFS runs in memory. */
export const EMBEDDED_MEMORY_BLOBS_MAX_BYTES = 1_073_741_824
/** How often an update of a branch is tried when others keep moving the branch under it; the same as lakeFS'. */
export const EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS = 10
/** The most updates with action files that may wait for their turn on one branch. */
export const EMBEDDED_BRANCH_QUEUE_MAX = 1024
/** How many rows of something deleted are swept away in one transaction. */
export const EMBEDDED_SWEEP_ROWS = 1000
/** How many rows garbage collection of the embedded lakeFS reads or removes at a time. */
export const EMBEDDED_GC_ROWS = 1000
