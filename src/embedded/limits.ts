/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── HTTP
/** Largest object, however it is uploaded. */
export const EMBEDDED_OBJECT_MAX_BYTES = 1_099_511_627_776
/** Largest JSON body; only these are held in memory. */
export const EMBEDDED_JSON_MAX_BYTES = 16_777_216
/** Longest path of an object, in UTF-8, as in lakeFS. */
export const EMBEDDED_PATH_MAX_BYTES = 1024
/** Request line and headers together. */
export const EMBEDDED_HEADER_MAX_BYTES = 65_536
/** @internal Part of an unread body that is discarded after an early response; then the connection is closed. */
export const EMBEDDED_DRAIN_MAX_BYTES = 16_777_216
/** Longest pause within a request or a response. */
export const EMBEDDED_IDLE_MS = 60_000
/** Time for a client to send its headers. */
export const EMBEDDED_HEADERS_MS = 30_000
/** Time that `close()` gives running requests. */
export const EMBEDDED_CLOSE_MS = 5_000
/** Paths in one batch deletion, as in lakeFS. */
export const EMBEDDED_BATCH_DELETE_MAX_PATHS = 1000
/** Largest page of a listing, as in lakeFS. */
export const EMBEDDED_PAGE_MAX = 1000
/** Lifetime of a bearer token from a login. */
export const EMBEDDED_TOKEN_MS = 3_600_000
/** Lifetime of a presigned address. */
export const EMBEDDED_PRESIGN_MS = 900_000
/** How long a staging address can be linked. */
export const EMBEDDED_STAGING_ADDRESS_MS = 21_600_000
/** Presigned uploads that may wait to be linked. */
export const EMBEDDED_PRESIGNED_UPLOADS_MAX = 10_000
/** Parts of one multi-part upload, as in lakeFS. */
export const EMBEDDED_PARTS_MAX = 10_000
/** Requests kept for inspection in tests. */
export const EMBEDDED_HISTORY_MAX = 10_000
/** Largest action file. */
export const EMBEDDED_ACTION_FILE_MAX_BYTES = 1_048_576
/** Action files read per update. */
export const EMBEDDED_ACTION_FILES_MAX = 100
/** Time for one action hook. */
export const EMBEDDED_HOOK_MS = 5_000
/** Memory of one action hook. */
export const EMBEDDED_HOOK_MEMORY_BYTES = 67_108_864
/** Output of one action hook that is kept. */
export const EMBEDDED_HOOK_OUTPUT_MAX_BYTES = 65_536
/** Action hooks that run in parallel. */
export const EMBEDDED_HOOK_WORKERS_MAX = 2
/** Action runs kept per repository. */
export const EMBEDDED_ACTION_RUNS_MAX = 1000

// ── storage
/** @internal SQLite's memory cache for metadata, in KiB. */
export const EMBEDDED_DB_CACHE_KIB = 32_768
/** @internal Size that SQLite's log file shrinks to after a checkpoint. */
export const EMBEDDED_DB_LOG_BYTES = 67_108_864
/** @internal Memory cache of tree nodes, measured as stored. */
export const EMBEDDED_NODE_CACHE_BYTES = 33_554_432
/** @internal Writes in one transaction. */
export const EMBEDDED_WRITE_BATCH_MAX = 512
/** Writes that may wait for a transaction. */
export const EMBEDDED_WRITE_QUEUE_MAX = 65_536
/** @internal Branches whose staged changes are known to be undamaged. */
export const EMBEDDED_CHECKED_STAGINGS_MAX = 10_000
/** @internal Size of the metadata up to which every start checks all of it; of larger metadata all but the tree nodes. */
export const EMBEDDED_FULL_CHECK_MAX_BYTES = 67_108_864
/** @internal Staged changes read at once. */
export const EMBEDDED_STAGING_READ_ROWS = 512
/** @internal Write buffer for request bodies. */
export const EMBEDDED_BLOB_BUFFER_BYTES = 1_048_576
/** @internal Piece in which a large object is read and checked. */
export const EMBEDDED_BLOB_READ_BYTES = 262_144
/** Largest object that is checked before its first byte is sent; a larger one is checked while it is sent. */
export const EMBEDDED_BLOB_WHOLE_MAX_BYTES = 1_048_576
/** @internal Large objects of which the last check is remembered. */
export const EMBEDDED_BLOB_CHECKS_MAX = 10_000
/** All objects together when run in memory. */
export const EMBEDDED_MEMORY_BLOBS_MAX_BYTES = 1_073_741_824
/** @internal Tries of a branch update while other writers move the branch, as in lakeFS. */
export const EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS = 10
/** Updates with action files waiting for one branch. */
export const EMBEDDED_BRANCH_QUEUE_MAX = 1024
/** @internal Rows of a deleted object that one transaction removes. */
export const EMBEDDED_SWEEP_ROWS = 1000
/** Damages that `perago lakefs fsck` lists. */
export const EMBEDDED_FSCK_DAMAGES_MAX = 10_000
/** @internal Rows that garbage collection reads or removes at once. */
export const EMBEDDED_GC_ROWS = 1000
