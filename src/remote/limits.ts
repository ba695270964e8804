/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── requests to servers
/** A longer `Retry-After` is treated as this. */
export const RETRY_AFTER_MAX_MS = 86_400_000
/** @internal Part of a server's message, or of a name, that an error quotes. */
export const REMOTE_QUOTE_MAX_CHARS = 300

// ── servers that are away
/** A lakeFS silent for this time is probed; a running request does not count. */
export const SERVER_QUIET_MS = 10_000
/** Time for its answer. */
export const SERVER_PROBE_TIMEOUT_MS = 10_000
/** Time until a server that is away is probed again; doubles with each failure. */
export const SERVER_AWAY_PROBE_MS = 500
/** Longest such time. */
export const SERVER_AWAY_PROBE_MAX_MS = 5_000
/** How long, from the beginning of an outage, a publication's requests wait for its end. */
export const SERVER_AWAY_WAIT_MS = 900_000
/** @internal How often it is looked at what is due. */
export const SERVER_WATCH_TICK_MS = 250
