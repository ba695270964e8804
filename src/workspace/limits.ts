/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── files
/** Most files in a workspace. */
export const WORKSPACE_FILES_MAX = 1_000_000
/** Most bytes in a workspace. */
export const WORKSPACE_BYTES_MAX = 10_995_116_277_760
/** Parallel downloads of small files. */
export const WORKSPACE_DOWNLOADS_IN_FLIGHT = 32
/** Parallel downloads of larger files. */
export const WORKSPACE_LARGE_DOWNLOADS_IN_FLIGHT = 4
/** @internal From this many files on, they are fetched and written by threads. */
export const WORKSPACE_FILL_FILES_MIN = 400
/** @internal … or from this many bytes on. */
export const WORKSPACE_FILL_BYTES_MIN = 33_554_432
/** @internal Up to this size a file is written in one step from memory. */
export const WORKSPACE_SMALL_FILE_MAX_BYTES = 262_144
/** @internal Write buffer for larger files. */
export const WORKSPACE_WRITE_BUFFER_BYTES = 1_048_576
/** @internal Files hashed in parallel. */
export const WORKSPACE_HASHES_IN_FLIGHT = 2
/** @internal Read buffer for hashing. */
export const WORKSPACE_HASH_BUFFER_BYTES = 1_048_576
/** From this many files on, a workspace gets its own area of the disk where the file system can. */
export const WORKSPACE_APART_FILES_MIN = 500
/** @internal Time allowed for requesting that area. */
export const WORKSPACE_MARK_TOP_MS = 2_000
/** @internal How long the idle hashing thread stays alive. */
export const WORKSPACE_HASH_THREAD_IDLE_MS = 10_000
/** @internal How long a directory walk may block the event loop. */
export const WORKSPACE_WALK_SLICE_MS = 4
/** @internal Refused paths listed in an error; the rest are counted. */
export const WORKSPACE_REFUSALS_MAX = 1000
/** @internal Refused paths named in its message. */
export const WORKSPACE_REFUSALS_SHOWN = 10
/** @internal Wait after a checkout for the file system's clock to advance, so that later edits change the times. */
export const WORKSPACE_CLOCK_TICK_MAX_MS = 40

/** @internal How often the processes are listed while those that may use a directory are searched. */
export const WORKSPACE_HOLDER_PASSES_MAX = 300

// ── the cache and reused directories
/** An object larger than 1/n of the cache is not cached. */
export const CACHE_OBJECT_MAX_PART = 4
/** How full the cache is after objects were evicted. */
export const CACHE_TRIM_TO_PERCENT = 90
/** @internal After adding 1/n of the cache, a process measures again what all processes have added. */
export const CACHE_LOOK_AGAIN_PART = 16
/** Part of the disk that the cache leaves free. */
export const CACHE_FREE_SPACE_MIN_PERCENT = 5
/** After a full disk, nothing is cached for this time. */
export const CACHE_PAUSE_MS = 60_000
/** @internal The last-use time of a cached object is updated when older than this. */
export const CACHE_TOUCH_MS = 60_000
/** @internal A partly added object older than this is treated as left by a killed process. */
export const CACHE_INCOMING_STALE_MS = 3_600_000

// ── guardrails
/** Guardrails checked in parallel. */
export const GUARDRAILS_IN_FLIGHT = 8
/** Time allowed for one guardrail. */
export const GUARDRAIL_MAX_MS = 600_000
/** Largest file `jsonMatches` reads into memory. */
export const GUARDRAIL_JSON_MAX_BYTES = 67_108_864
/** Failures reported per guardrail; more are counted. */
export const GUARDRAIL_FAILURES_MAX = 100

// ── ownership and clean-up
/** Time between two searches for dead workers' directories. */
export const WORKSPACE_COLLECT_INTERVAL_MS = 300_000
/** On another machine, a released lock proves its owner dead only after this silence. */
export const WORKSPACE_OWNER_SILENT_MS = 3_600_000
/** @internal Files of the reserve below a root, set free when it is opened on a full disk. */
export const WORKSPACE_RESERVE_FILES = 16
/** @internal The size of each. */
export const WORKSPACE_RESERVE_FILE_BYTES = 65_536
/** @internal The reserve is made when n times as much is free. */
export const WORKSPACE_RESERVE_ROOM_PART = 4
/** @internal Files removed before it is checked again that their directory was not moved away. */
export const WORKSPACE_REMOVE_BATCH = 1000
/** @internal Directories open while a tree is removed, however deep it is. */
export const WORKSPACE_REMOVE_OPEN_MAX = 32
/** @internal Entries that could not be removed and are named in an error; the rest are counted. */
export const WORKSPACE_REMOVE_TROUBLES_MAX = 10
/** @internal Troubles that a worker remembers to have told. */
export const WORKSPACE_TOLD_MAX = 1000
/** @internal Largest marker file. */
export const WORKSPACE_MARKER_MAX_BYTES = 65_536
