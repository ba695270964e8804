/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── requests to servers
/** A longer `Retry-After` is treated as this. */
export const RETRY_AFTER_MAX_MS = 86_400_000
/** @internal Part of a server's message, or of a name, that an error quotes. */
export const REMOTE_QUOTE_MAX_CHARS = 300
