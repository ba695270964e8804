/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── the client
/** Connections to one lakeFS server, and so requests in flight. */
export const LAKEFS_CONNECTIONS_MAX = 32
/** How long a connection to the lakeFS server may take to open. */
export const LAKEFS_CONNECT_TIMEOUT_MS = 10_000
/** How long a lakeFS request may go without any progress before its answer begins, be it the server's fault or the source's. */
export const LAKEFS_ANSWER_TIMEOUT_MS = 120_000
/** How long the body of a lakeFS answer may stay silent. */
export const LAKEFS_BODY_IDLE_MS = 60_000
/** The largest JSON answer that is read; it is the only kind that is held in memory. */
export const LAKEFS_JSON_ANSWER_MAX_BYTES = 67_108_864
/** How much of a refusal's body is looked at. */
export const LAKEFS_REFUSAL_MAX_BYTES = 65_536
/** How much of the server's own words an error message quotes. */
export const LAKEFS_QUOTE_MAX_CHARS = 300
/** The largest page lakeFS gives. */
export const LAKEFS_PAGE_MAX = 1000
/** The most paths of one batch deletion. */
export const LAKEFS_BATCH_DELETE_MAX_PATHS = 1000
/** The longest path of an object, in bytes of UTF-8. */
export const LAKEFS_PATH_MAX_BYTES = 1024
/** How many of the paths a batch deletion was refused for are named in the error. */
export const LAKEFS_REFUSED_PATHS_SHOWN = 5
/** From this size on an upload goes in parts, where the server offers it. */
export const LAKEFS_MULTIPART_THRESHOLD_BYTES = 67_108_864
/** The size of one part; larger only when there would be too many. Held in memory while it is sent. */
export const LAKEFS_PART_BYTES = 16_777_216
/** How many parts of one upload travel at the same time. */
export const LAKEFS_PARTS_IN_FLIGHT = 4
/** The most parts of one upload. */
export const LAKEFS_PARTS_MAX = 10_000
/** The largest upload that may go to a presigned address in one piece. */
export const LAKEFS_PRESIGNED_PUT_MAX_BYTES = 5_368_709_120
/** Up to this size a whole object is fetched through lakeFS, in one request, also where the store could be asked. */
export const LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES = 1_048_576
/** How long giving up a multi-part upload may take; it goes on when the upload itself was aborted. */
export const LAKEFS_ABORT_UPLOAD_MS = 30_000
