/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── waiting and retrying
/** A `Retry-After` beyond this is read as this. */
export const RETRY_AFTER_MAX_MS = 86_400_000
