/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── the client
/** Connections, and so parallel requests and polls, to one Conductor. */
export const CONDUCTOR_CONNECTIONS_MAX = 64
/** Time to open a connection to Conductor. */
export const CONDUCTOR_CONNECT_TIMEOUT_MS = 10_000
/** Time for a request in all; for a poll, on top of its server wait. */
export const CONDUCTOR_ANSWER_TIMEOUT_MS = 30_000
/** Largest response read: a full poll of payloads just below their limit. */
export const CONDUCTOR_ANSWER_MAX_BYTES = 134_217_728
/** @internal Open workflows per page of a search. */
export const CONDUCTOR_SEARCH_PAGE = 100
/** @internal Assumed lifetime of a token that does not state one. */
export const CONDUCTOR_TOKEN_LIFETIME_MS = 1_800_000
/** @internal A token is replaced this long before it expires. */
export const CONDUCTOR_TOKEN_REFRESH_AHEAD_MS = 60_000
