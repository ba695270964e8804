/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── waiting and retrying
/** @internal Longest single timer, because Node fires longer ones at once. A longer sleep uses several. */
export const SLEEP_MAX_TIMER_MS = 2_147_483_647
/** Tries of a request in all, each failed before any effect. */
export const RETRY_MAX_ATTEMPTS = 6
/** No try starts later. */
export const RETRY_MAX_ELAPSED_MS = 60_000
/** Upper bound of the random first wait; doubles with each try. */
export const RETRY_FIRST_DELAY_MS = 100
/** Longest wait, unless the server asks for more. */
export const RETRY_MAX_DELAY_MS = 10_000

// ── redaction and logging
/** A shorter secret is redacted only by the name of its field. */
export const REDACTION_MIN_SECRET_CHARS = 6
/** @internal Data nested deeper is replaced by a note. */
export const REDACTION_MAX_DEPTH = 200
/** A log line cuts a longer text. */
export const LOG_TEXT_MAX_CHARS = 16_384

// ── configuration and errors
/** @internal Causes shown for one error. */
export const ERROR_CAUSES_MAX = 8
/** A longer error message is cut when shown. */
export const ERROR_TEXT_MAX_CHARS = 2_000

// ── processes
/** @internal Time allowed for asking the operating system about a process. */
export const PROCESS_QUERY_MS = 5_000

// ── adaptive concurrency
/** @internal Parallel operations at first, before anything is known about the server. */
export const CONCURRENCY_INITIAL = 8
/** @internal Fewest parallel operations, however often the server says "slow down". */
export const CONCURRENCY_MIN = 1
/** Most parallel operations. */
export const CONCURRENCY_MAX = 32
/** @internal Operations that may wait; further ones are rejected. */
export const CONCURRENCY_WAITING_MAX = 100_000
/** Nesting of brackets, and indentation in characters, of a configuration file. */
export const CONFIGURATION_DEPTH_MAX = 200
