/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── the client
/** Connections to one lakeFS server, and so parallel requests. */
export const LAKEFS_CONNECTIONS_MAX = 64
/** Branch writes at once of one client, on connections of their own. */
export const LAKEFS_BRANCH_WRITES_MAX = 8
/** @internal How often a branch write is confirmed until it could be sent in time. */
export const LAKEFS_CONFIRMATIONS_MAX = 5
/** Time to open a connection to lakeFS. */
export const LAKEFS_CONNECT_TIMEOUT_MS = 10_000
/** Longest time without progress before a response starts, whether the server or the upload's source is slow. */
export const LAKEFS_ANSWER_TIMEOUT_MS = 120_000
/** Longest pause in the body of a lakeFS response. */
export const LAKEFS_BODY_IDLE_MS = 60_000
/** Largest JSON response; only these are held in memory. */
export const LAKEFS_JSON_ANSWER_MAX_BYTES = 67_108_864
/** @internal Largest response of an object store that is read, downloads aside. */
export const LAKEFS_REFUSAL_MAX_BYTES = 65_536
/** @internal Largest page of lakeFS. */
export const LAKEFS_PAGE_MAX = 1000
/** Paths in one batch deletion. */
export const LAKEFS_BATCH_DELETE_MAX_PATHS = 1000
/** Longest path of an object, in UTF-8. */
export const LAKEFS_PATH_MAX_BYTES = 1024
/** @internal Paths named in the error of a batch deletion. */
export const LAKEFS_REFUSED_PATHS_SHOWN = 5
/** From this size on, uploads use parts where the server offers them. */
export const LAKEFS_MULTIPART_THRESHOLD_BYTES = 67_108_864
/** Size of a part, held in memory while sent; larger only if there were too many. */
export const LAKEFS_PART_BYTES = 16_777_216
/** Parallel parts of one upload. */
export const LAKEFS_PARTS_IN_FLIGHT = 4
/** @internal Most parts of one upload. */
export const LAKEFS_PARTS_MAX = 10_000
/** The longest upload in parts: lakeFS 1.84 takes no completion after it. One that would take longer is given up early. */
export const LAKEFS_UPLOAD_MAX_MS = 86_400_000
/** @internal How long an upload has to run before its speed counts. */
export const LAKEFS_SPEED_LOOK_MS = 60_000
/** Largest upload to a presigned address in one piece. */
export const LAKEFS_PRESIGNED_PUT_MAX_BYTES = 5_368_709_120
/** Up to this size, objects are fetched through lakeFS in one request, even with presigned addresses. */
export const LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES = 1_048_576
/** @internal Time for cancelling a multi-part upload, also after an abort. */
export const LAKEFS_ABORT_UPLOAD_MS = 30_000
/** Connections that download the objects of one checkout from threads, at most half of all. */
export const LAKEFS_FETCH_CONNECTIONS_MAX = 16
/** Threads that do so. */
export const LAKEFS_FETCH_THREADS_MAX = 2
/** @internal Files for which one such thread is enough. */
export const LAKEFS_FETCH_FILES_PER_THREAD = 10_000
/** @internal Bytes for which one is enough. */
export const LAKEFS_FETCH_BYTES_PER_THREAD = 33_554_432
/** @internal Read buffer of each such connection. */
export const LAKEFS_FETCH_BUFFER_BYTES = 131_072
/** @internal Longest head of a response there. */
export const LAKEFS_FETCH_HEAD_MAX_BYTES = 16_384
/** @internal Files given up by a thread until it gives up all others. */
export const LAKEFS_FETCH_FAILURES_MAX = 8
/** @internal Up to this size an object counts as small there. */
export const LAKEFS_FETCH_SMALL_MAX_BYTES = 262_144
/** @internal Larger ones that a thread downloads at once. */
export const LAKEFS_FETCH_LARGE_AT_ONCE = 2
/** @internal Files that a thread knows in advance. */
export const LAKEFS_FETCH_AHEAD_FILES = 96
/** @internal Files in one report of a thread. */
export const LAKEFS_FETCH_REPORT_FILES = 32
/** @internal How long a report waits for more of them. */
export const LAKEFS_FETCH_REPORT_MS = 5
/** @internal How long such a thread stays alive without work. */
export const LAKEFS_FETCH_THREAD_IDLE_MS = 10_000
/** @internal Most MiB of young objects in its heap. */
export const LAKEFS_FETCH_THREAD_YOUNG_MIB = 8
/** @internal Most MiB of the others. */
export const LAKEFS_FETCH_THREAD_OLD_MIB = 64
