/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── doors
/** The longest name of a token. */
export const TOKEN_NAME_MAX_CHARS = 100
/** The longest life of a token that ends by itself. */
export const TOKEN_LIFETIME_MAX_MS = 315_360_000_000
/** The largest body of a request. */
export const API_BODY_MAX_BYTES = 131_072
/** The largest payload of an event from outside, as JSON. */
export const EVENT_OUTSIDE_PAYLOAD_MAX_BYTES = 65_536
/** How many events one page of an answer has where nobody asks for another number. */
export const API_PAGE_EVENTS = 100
/** The most events of one page of an answer. */
export const API_PAGE_MAX_EVENTS = 1_000
/** A page of an answer whose payloads have this many bytes as JSON ends early. */
export const API_PAGE_MAX_BYTES = 4_194_304
/** How many requests a caller may send at once before it is slowed down. */
export const API_REQUESTS_AT_ONCE = 200
/** How many requests a second a caller may send in the long run. */
export const API_REQUESTS_PER_SECOND = 100
/** How many requests without a good token an address may send at once before it is slowed down. */
export const API_FAILURES_AT_ONCE = 20
/** How many requests a second without a good token an address may send in the long run. */
export const API_FAILURES_PER_SECOND = 1
/** Of how many callers it is remembered how often they asked. */
export const API_CALLERS_REMEMBERED = 10_000
/** How many connections the HTTP door holds at the same time. */
export const HTTP_CONNECTIONS_MAX = 4_096
/** How long the head of a request may take to arrive. */
export const HTTP_HEADERS_TIMEOUT_MS = 10_000
/** How long a whole request may take to arrive. */
export const HTTP_REQUEST_TIMEOUT_MS = 30_000
/** How often it is looked whether a request takes too long to arrive. */
export const HTTP_ARRIVAL_LOOK_MS = 1_000
/** The largest head of a request. */
export const HTTP_HEADERS_MAX_BYTES = 16_384
/** How long requests may take to be answered once the HTTP door closes, before their connections are cut. */
export const HTTP_CLOSE_DEADLINE_MS = 5_000
/** How often a follower hears something when nothing happens; then its token is looked at again too. */
export const FOLLOW_HEARTBEAT_MS = 15_000
/** How many followers one server has, all executions together. */
export const FEED_FOLLOWERS_MAX = 5_000
/** How many of the newest events of a followed execution are kept in memory. */
export const FEED_EVENTS_REMEMBERED = 1_000
/** How many events a follower that lags behind reads at a time. */
export const FEED_PAGE_EVENTS = 200
