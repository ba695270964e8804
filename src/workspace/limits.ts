/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── the files of one attempt
/** The most files one workspace may have. */
export const WORKSPACE_FILES_MAX = 1_000_000
/** The most bytes one workspace may have. */
export const WORKSPACE_BYTES_MAX = 10_995_116_277_760
/** How many small files are brought in at the same time. */
export const WORKSPACE_DOWNLOADS_IN_FLIGHT = 32
/** How many of the others. */
export const WORKSPACE_LARGE_DOWNLOADS_IN_FLIGHT = 4
/** Up to this size a file is gathered in memory and written in one go. */
export const WORKSPACE_SMALL_FILE_MAX_BYTES = 262_144
/** How much of a larger file is gathered before it is written. */
export const WORKSPACE_WRITE_BUFFER_BYTES = 1_048_576
/** How many files are hashed at the same time. */
export const WORKSPACE_HASHES_IN_FLIGHT = 2
/** How much of a file is read at once while it is hashed. */
export const WORKSPACE_HASH_BUFFER_BYTES = 1_048_576
/** From how many files on a workspace is put into a part of the disk of its own, where the file system has such. */
export const WORKSPACE_APART_FILES_MIN = 500
/** How long it may take to mark a directory for that. */
export const WORKSPACE_MARK_TOP_MS = 2_000
/** How long the thread that hashes large files is kept when there is nothing to hash. */
export const WORKSPACE_HASH_THREAD_IDLE_MS = 10_000
/** How long a walk through a directory may keep the event loop to itself. */
export const WORKSPACE_WALK_SLICE_MS = 4
/** How many paths that stand in the way are kept for an error; the rest is counted. */
export const WORKSPACE_REFUSALS_MAX = 1000
/** How many of them its message names. */
export const WORKSPACE_REFUSALS_SHOWN = 10
/** How long a layout waits for the file system's clock to move on, so that a later edit shows in the times. */
export const WORKSPACE_CLOCK_TICK_MAX_MS = 40
/** The shortest time between two reports of progress. */
export const WORKSPACE_PROGRESS_INTERVAL_MS = 100

// ── the content cache and directories that are handed over
/** An object larger than this part of the content cache (1/n) is not kept. */
export const CACHE_OBJECT_MAX_PART = 4
/** How full the content cache is after room was made in it. */
export const CACHE_TRIM_TO_PERCENT = 90
/** After a process has added this part of the content cache (1/n), it looks anew at what all processes have added. */
export const CACHE_LOOK_AGAIN_PART = 16
/** How much of the disk the content cache leaves free. */
export const CACHE_FREE_SPACE_MIN_PERCENT = 5
/** How long nothing is added to the content cache after the disk was full. */
export const CACHE_PAUSE_MS = 60_000
/** How old the time of last use of a cached object may become before it is told anew. */
export const CACHE_TOUCH_MS = 60_000
/** After how long an object that was being added is taken to be left by a process that was killed. */
export const CACHE_INCOMING_STALE_MS = 3_600_000

// ── guardrails
/** How many guardrails are checked at the same time. */
export const GUARDRAILS_IN_FLIGHT = 8
/** How long one guardrail may take. */
export const GUARDRAIL_MAX_MS = 600_000
/** The largest file `jsonMatches` reads; it is held in memory. */
export const GUARDRAIL_JSON_MAX_BYTES = 67_108_864
/** How many failures one guardrail may report; the rest is counted. */
export const GUARDRAIL_FAILURES_MAX = 100

// ── ownership and clean-up
/** How often a worker looks for the directories of dead workers. */
export const WORKSPACE_COLLECT_INTERVAL_MS = 300_000
/** How long the owner of a directory must have been silent before its lock alone, seen from another machine, proves it dead. */
export const WORKSPACE_OWNER_SILENT_MS = 3_600_000
/** How long asking the operating system for a process may take. */
export const WORKSPACE_PROCESS_QUERY_MS = 5_000
/** The largest marker file that is read. */
export const WORKSPACE_MARKER_MAX_BYTES = 65_536
