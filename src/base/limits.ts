/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── waiting and retrying
/** The longest single timer; Node fires longer ones at once. Longer sleeps are made of several. */
export const SLEEP_MAX_TIMER_MS = 2_147_483_647
/** How often a request is tried in all when it surely was not done. */
export const RETRY_MAX_ATTEMPTS = 6
/** After how long no further try of the same request is begun. */
export const RETRY_MAX_ELAPSED_MS = 60_000
/** The back-off before the second try is drawn from zero up to this; it doubles with each further try. */
export const RETRY_FIRST_DELAY_MS = 100
/** The longest back-off between two tries, unless the server asks for a longer one. */
export const RETRY_MAX_DELAY_MS = 10_000

// ── redaction and logging
/** A shorter secret is redacted where a key names it, not wherever its few characters turn up. */
export const REDACTION_MIN_SECRET_CHARS = 6
/** Data nested deeper than this is replaced by a note. */
export const REDACTION_MAX_DEPTH = 200
/** A longer text in a log line is cut, after redaction. */
export const LOG_TEXT_MAX_CHARS = 16_384

// ── configuration and showing errors
/** How many causes of an error are shown, one below the other. */
export const ERROR_CAUSES_MAX = 8
/** A longer message of an error is cut where it is shown, after redaction. */
export const ERROR_TEXT_MAX_CHARS = 2_000

// ── concurrency that adapts
/** How many operations may be under way at once before anything is known of the server. */
export const CONCURRENCY_INITIAL = 8
/** However often the server says "slow down", this many may be under way. */
export const CONCURRENCY_MIN = 1
/** However well it goes, no more than this many are under way. */
export const CONCURRENCY_MAX = 32
/** How many operations may wait for their turn before further ones are turned away. */
export const CONCURRENCY_WAITING_MAX = 100_000
