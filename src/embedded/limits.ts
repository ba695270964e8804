/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── HTTP
/** Largest object, however it is uploaded. */
export const EMBEDDED_OBJECT_MAX_BYTES = 1_099_511_627_776
/** Largest JSON body; only these are held in memory. */
export const EMBEDDED_JSON_MAX_BYTES = 16_777_216
/** Largest body of an operation that needs no credentials. */
export const EMBEDDED_OPEN_BODY_MAX_BYTES = 4_096
/** Time for a JSON body to arrive. */
export const EMBEDDED_JSON_MS = 60_000
/** Time for the body of an operation that needs no credentials to arrive. */
export const EMBEDDED_OPEN_BODY_MS = 10_000
/** Longest path of an object, in UTF-8, as in lakeFS. */
export const EMBEDDED_PATH_MAX_BYTES = 1024
/** Request line and headers together. */
export const EMBEDDED_HEADER_MAX_BYTES = 65_536
/** @internal Part of an unread body that is discarded after an early response; then the connection is closed. */
export const EMBEDDED_DRAIN_MAX_BYTES = 16_777_216
/** @internal Time for that part to arrive. */
export const EMBEDDED_DRAIN_MS = 10_000
/** Longest pause within a request or a response. */
export const EMBEDDED_IDLE_MS = 60_000
/** Time for a client to send its headers. */
export const EMBEDDED_HEADERS_MS = 10_000
/** @internal How often it is looked whether headers are late. */
export const EMBEDDED_ARRIVAL_LOOK_MS = 1_000
/** Connections served at a time; fewer where few files may be open. One more is answered 503. */
export const EMBEDDED_CONNECTIONS_MAX = 1_000
/** @internal Connections beyond it that get an answer; any other is dropped. */
export const EMBEDDED_SURPLUS_CONNECTIONS_MAX = 64
/** @internal Time for such a connection to send its request. */
export const EMBEDDED_SURPLUS_MS = 2_000
/** @internal Open files that are not for connections. */
export const EMBEDDED_RESERVED_FILES = 128
/** @internal What a 503 for too many connections, or while closing, asks to wait. */
export const EMBEDDED_RETRY_AFTER_SECONDS = 1
/** Wrong credentials that one address may try at once for one access key; then one each second. */
export const EMBEDDED_LOGIN_FAILURES_MAX = 10
/** Wrong credentials that one address may try at once for all access keys; then five each second. */
export const EMBEDDED_LOGIN_ADDRESS_FAILURES_MAX = 50
/** Wrong credentials for one access key from everywhere, after which an address has one try at once. */
export const EMBEDDED_LOGIN_KEY_FAILURES_MAX = 100
/** Addresses and access keys whose tries are remembered. */
export const EMBEDDED_LOGIN_REMEMBERED_MAX = 10_000
/** How long an address that was accepted is not slowed. */
export const EMBEDDED_LOGIN_TRUST_MS = 3_600_000
/** Shortest secret with which the server listens beyond loopback. */
export const EMBEDDED_SECRET_MIN_CHARS = 16
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
/** @internal Part of a request's path that is kept with it. */
export const EMBEDDED_HISTORY_PATH_MAX_CHARS = 4_096
/** Largest action file. */
export const EMBEDDED_ACTION_FILE_MAX_BYTES = 65_536
/** All action files of a tree together. */
export const EMBEDDED_ACTION_FILES_MAX_BYTES = 262_144
/** @internal All of them as JSON, with what their aliases stand for. */
export const EMBEDDED_ACTIONS_MAX_CHARS = 1_048_576
/** @internal Text of action files whose reading is kept. */
export const EMBEDDED_ACTION_CACHE_CHARS = 1_048_576
/** Hooks run by one update. */
export const EMBEDDED_HOOKS_MAX = 100
/** Action files read per update. */
export const EMBEDDED_ACTION_FILES_MAX = 100
/** Time for one action hook. */
export const EMBEDDED_HOOK_MS = 5_000
/** Memory of one action hook. */
export const EMBEDDED_HOOK_MEMORY_BYTES = 67_108_864
/** Output of one action hook that is kept. */
export const EMBEDDED_HOOK_OUTPUT_MAX_BYTES = 65_536
/** Error text of one action hook that is kept. */
export const EMBEDDED_HOOK_ERROR_MAX_BYTES = 4_096
/** Error text of a refused update. */
export const EMBEDDED_REFUSAL_MAX_CHARS = 16_384
/** @internal Memory beyond which the thread of a hook is not used again. */
export const EMBEDDED_HOOK_THREAD_KEPT_BYTES = 33_554_432
/** Action hooks that run in parallel. */
export const EMBEDDED_HOOK_WORKERS_MAX = 2
/** Action runs kept per repository. */
export const EMBEDDED_ACTION_RUNS_MAX = 1000
/** Memory of the action runs that are kept, of all repositories; the oldest go first. */
export const EMBEDDED_ACTION_RUNS_MAX_BYTES = 16_777_216

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
/** @internal Largest object that is stored together with others. */
export const EMBEDDED_BLOB_GROUPED_MAX_BYTES = 32_768
/** @internal Objects that are stored together. */
export const EMBEDDED_BLOB_GROUP_MAX = 128
/** @internal Small objects in one journal, in bytes, from which on they get files of their own. There are two journals. */
export const EMBEDDED_JOURNAL_MAX_BYTES = 16_777_216
/** @internal How much a journal grows at once. */
export const EMBEDDED_JOURNAL_GROWTH_BYTES = 1_048_576
/** @internal How long no small object came when those in the journal get files of their own. */
export const EMBEDDED_JOURNAL_IDLE_MS = 250
/** @internal How long after a failure that is tried again. */
export const EMBEDDED_JOURNAL_RETRY_MS = 5_000
/** @internal Files of small objects that are made in parallel: fewer than Node has threads for files, of which uploads need some. */
export const EMBEDDED_BLOB_FILES_IN_FLIGHT = 2
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
