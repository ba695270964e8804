/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── waiting and retrying
/** A longer `Retry-After` is treated as this. */
export const RETRY_AFTER_MAX_MS = 86_400_000
