/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── the client
/** Connections to one Conductor server, and so requests in flight, waiting polls included. */
export const CONDUCTOR_CONNECTIONS_MAX = 64
/** How long a connection to the Conductor server may take to open. */
export const CONDUCTOR_CONNECT_TIMEOUT_MS = 10_000
/** How long a Conductor request may take in all. A poll may take the time it asked the server to wait on top. */
export const CONDUCTOR_ANSWER_TIMEOUT_MS = 30_000
/** The largest answer of a Conductor server that is read: a full poll of payloads that are just small enough. */
export const CONDUCTOR_ANSWER_MAX_BYTES = 134_217_728
/** How much of the server's own words an error message quotes. */
export const CONDUCTOR_QUOTE_MAX_CHARS = 300
/** How many open workflows one page of a search holds. */
export const CONDUCTOR_SEARCH_PAGE = 100
/** How long a token is taken to be good when it does not say so itself. */
export const CONDUCTOR_TOKEN_LIFETIME_MS = 1_800_000
/** How long before its end a token is replaced. */
export const CONDUCTOR_TOKEN_REFRESH_AHEAD_MS = 60_000
