/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── HTTP API
/** Longest name of a token. */
export const TOKEN_NAME_MAX_CHARS = 100
/** Longest lifetime of a token that expires. */
export const TOKEN_LIFETIME_MAX_MS = 315_360_000_000
/** Largest request body. */
export const API_BODY_MAX_BYTES = 131_072
/** Largest payload, as JSON, of an event from outside. */
export const EVENT_OUTSIDE_PAYLOAD_MAX_BYTES = 65_536
/** Largest body that starts an execution or ends one of its units. */
export const API_START_MAX_BYTES = 6_291_456
/** Longest wait of a request for an execution's end. */
export const API_WAIT_MAX_MS = 60_000
/** The same by default. */
export const API_WAIT_MS = 30_000
/** Requests of one server that wait so. */
export const API_WAITERS_MAX = 1_000
/** Units of an execution in one answer, iterations included. */
export const API_UNITS_MAX = 5_000
/** Inputs, outputs and results in one answer, as JSON; it names what did not fit. */
export const API_RESULTS_MAX_BYTES = 4_194_304
/** Longest reason, and longest correlation id, of a request. */
export const API_TEXT_MAX_CHARS = 500
/** Events, or other entries of a list, per page by default. */
export const API_PAGE_EVENTS = 100
/** Most of them per page. */
export const API_PAGE_MAX_EVENTS = 1_000
/** Shared values of an execution per page by default; each costs a look into its history. */
export const API_PAGE_SHARED = 20
/** Most of them per page. */
export const API_PAGE_MAX_SHARED = 50
/** Newest commits of a branch that a verification over HTTP walks by default. */
export const API_VERIFY_COMMITS = 1_000
/** Most of them. */
export const API_VERIFY_MAX_COMMITS = 10_000
/** @internal Connections to the lakeFS whose repositories are shown. */
export const LOOKS_IN_FLIGHT = 8
/** Most of an object in one answer. */
export const API_OBJECT_PART_MAX_BYTES = 1_048_576
/** How long a session of a page in a browser lasts. */
export const SESSION_LIFETIME_MS = 28_800_000
/** Sessions of a server; one more ends the one that was used longest ago. */
export const SESSIONS_MAX = 1_000
/** Requests of a caller in a burst. */
export const API_REQUESTS_AT_ONCE = 200
/** Requests of a caller per second on average. */
export const API_REQUESTS_PER_SECOND = 100
/** Requests without a valid token from an address, in a burst. */
export const API_FAILURES_AT_ONCE = 20
/** The same per second on average. */
export const API_FAILURES_PER_SECOND = 1
/** @internal Pages of executions that a search of Conductor's looks at. */
export const SERVED_SEARCH_PAGES_MAX = 100
/** @internal Open executions whose tasks are counted to tell how long the queues are. */
export const SERVED_QUEUES_EXECUTIONS_MAX = 1_000
/** @internal Task types, each with its domain, of which the last poll is remembered. */
export const POLLED_QUEUES_REMEMBERED = 1_000
/** @internal Callers whose request rate is tracked. */
export const API_CALLERS_REMEMBERED = 10_000
/** Open connections of the HTTP server. When there are so many, the oldest one without a request is closed. */
export const HTTP_CONNECTIONS_MAX = 4_096
/** Of these, kept for tokens of operators and admins. */
export const HTTP_CONNECTIONS_FOR_OPERATORS = 256
/** Of these, kept for health checks. */
export const HTTP_CONNECTIONS_FOR_HEALTH = 64
/** @internal A connection without a request is kept so long, unless all are taken: its first request may be on its way. */
export const HTTP_IDLE_MIN_MS = 1_000
/** Connections of a token. */
export const TOKEN_CONNECTIONS_MAX = 1_200
/** Connections of a tenant; its viewers together at most three quarters. */
export const TENANT_CONNECTIONS_MAX = 3_000
/** Requests of a token that are in progress, with those that wait, poll or follow. */
export const TOKEN_REQUESTS_MAX = 1_000
/** The same of a tenant; its viewers together at most three quarters. */
export const TENANT_REQUESTS_MAX = 2_500
/** Followers of events of a token. */
export const TOKEN_FOLLOWERS_MAX = 500
/** The same of a tenant; its viewers together at most three quarters. */
export const TENANT_FOLLOWERS_MAX = 1_500
/** Time for a request's headers to arrive. */
export const HTTP_HEADERS_TIMEOUT_MS = 10_000
/** Time for a whole request to arrive. */
export const HTTP_REQUEST_TIMEOUT_MS = 30_000
/** @internal How often these two times are checked. */
export const HTTP_ARRIVAL_LOOK_MS = 1_000
/** Largest headers of a request. */
export const HTTP_HEADERS_MAX_BYTES = 16_384
/** How long a closing server keeps connections without a request, to answer those that are on their way with 503. */
export const HTTP_CLOSE_GRACE_MS = 100
/** Time to finish requests at a close. */
export const HTTP_CLOSE_DEADLINE_MS = 5_000
/** A connection is closed whose client takes nothing of a response for this long, at the latest after twice. */
export const HTTP_STALLED_MS = 30_000
/** Time between checks of the token of an event stream, each with a comment to a client that has read everything. */
export const FOLLOW_HEARTBEAT_MS = 15_000
/** @internal Largest piece of an event stream that is written at once. */
export const FOLLOW_PIECE_MAX_BYTES = 65_536
/** Followers of one server, over all executions. */
export const FEED_FOLLOWERS_MAX = 3_000
/** @internal Newest events of a followed execution kept in memory. */
export const FEED_EVENTS_REMEMBERED = 1_000
/** Newest events of a followed execution kept in memory, as they are sent. */
export const FEED_REMEMBERED_MAX_BYTES = 1_048_576
/** The same of all followed executions together. */
export const FEEDS_REMEMBERED_MAX_BYTES = 67_108_864
/** @internal Pages of logs, read for followers that are behind, kept in memory for others that come by. */
export const FEED_PAGES_MAX_BYTES = 8_388_608
/** @internal For so long: what is removed from a log is not sent any more. */
export const FEED_PAGE_KEPT_MS = 1_000
/** @internal Most events that a follower reads at once. */
export const FEED_PAGE_EVENTS = 200
/** @internal The same, before the size of the events is known. */
export const FEED_PAGE_FIRST_EVENTS = 8
/** @internal A follower is given events in groups that end at this size. */
export const FEED_GROUP_MAX_BYTES = 65_536

// ── page
/** Files that the page in a browser has, with those that its build has compressed. */
export const PAGE_FILES_MAX = 256
/** Bytes that they have together. */
export const PAGE_MAX_BYTES = 16_777_216
/** @internal A smaller file is sent as it is. */
export const PAGE_COMPRESSED_MIN_BYTES = 1_024

// ── rollbacks
/** Largest body of a request for a rollback. */
export const API_ROLLBACK_MAX_BYTES = 1_048_576
/** Paths of an artifact that one request names. */
export const API_ROLLBACK_PATHS_MAX = 1_000
