/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── the store
/** Longest key, in UTF-8. */
export const STORE_KEY_MAX_BYTES = 1024
/** Largest value. */
export const STORE_VALUE_MAX_BYTES = 1_048_576
/** Keys and values of one batch; etcd accepts requests up to 1.5 MiB. */
export const STORE_BATCH_MAX_BYTES = 1_310_720
/** Operations in one batch; etcd accepts up to 128. */
export const STORE_BATCH_MAX_OPERATIONS = 100
/** Conditions in one batch. */
export const STORE_BATCH_MAX_CONDITIONS = 100
/** Entries per page by default. */
export const STORE_PAGE_ENTRIES = 100
/** Most entries per page. */
export const STORE_PAGE_MAX_ENTRIES = 1000
/** A page ends early at this many value bytes. */
export const STORE_PAGE_MAX_BYTES = 4_194_304
/** Longest time to live of an entry. */
export const STORE_TTL_MAX_MS = 315_360_000_000

// ── expressions
/** Longest expression. */
export const EXPRESSION_MAX_CHARS = 4_096
/** Nesting of parentheses and negations. */
export const EXPRESSION_MAX_DEPTH = 64

// ── executions, events and variables
/** Nesting of a JSON value. */
export const JSON_DEPTH_MAX = 100
/** Longest node id, input name or output name. */
export const NAME_MAX_CHARS = 128
/** Longest event type. */
export const EVENT_TYPE_MAX_CHARS = 256
/** Segments of an event type or of a pattern. */
export const EVENT_TYPE_SEGMENTS_MAX = 16
/** A larger payload causes a warning, in strict mode an error. Send the address of large data. */
export const EVENT_PAYLOAD_ADVICE_BYTES = 1_024
/** A larger payload is always refused. */
export const EVENT_PAYLOAD_MAX_BYTES = 262_144
/** @internal Waiting events of one execution that are written in one batch. */
export const EVENTS_PER_BATCH_MAX = 32
/** Shortest time to live of events. */
export const EVENT_TTL_MIN_MS = 1_000
/** Longest idempotency key. */
export const IDEMPOTENCY_KEY_MAX_CHARS = 256
/** Retries of a write after conflicts with other writers. */
export const WRITE_CONFLICTS_MAX = 500
/** Retries of a write while the store does not respond or the response is lost. */
export const WRITE_TRIES_MAX = 6
/** @internal Wait before the first retry of a write; doubles with each retry. */
export const WRITE_RETRY_DELAY_MS = 50
/** @internal Longest wait before a retry of a write. */
export const WRITE_RETRY_DELAY_MAX_MS = 1_000
/** Events that a query without `limit` returns. */
export const EVENT_QUERY_MAX_EVENTS = 100_000
/** Events that one page of a query looks at, whether they match or not; the page then says where the next one begins. */
export const EVENT_PAGE_MAX_EVENTS = 2_000
/** The same in bytes, as stored. */
export const EVENT_PAGE_MAX_BYTES = 4_194_304
/** @internal Entries that a long reading takes before others have their turn. */
export const READ_PORTION_ENTRIES = 200
/** Longest variable name. */
export const VARIABLE_NAME_MAX_CHARS = 260
/** Largest value of a variable, as JSON. */
export const VARIABLE_MAX_BYTES = 262_144
/** Variables written together, such as inputs or a node's outputs. */
export const VARIABLES_TOGETHER_MAX = 64
/** Variables of one execution that a listing without pages returns. */
export const VARIABLES_LISTED_MAX = 10_000
/** Variables per page by default. */
export const VARIABLES_PER_PAGE = 100
/** Most variables per page. */
export const VARIABLES_PER_PAGE_MAX = 1_000
/** A page of variables ends early at this many bytes of their values, as stored. */
export const VARIABLE_PAGE_MAX_BYTES = 4_194_304
/** Earlier writes of one variable that its history shows, and that each process that writes it keeps. */
export const VARIABLE_HISTORY_MAX = 50
/** A larger value, as JSON, is in the history with its size only. */
export const VARIABLE_HISTORY_VALUE_MAX_BYTES = 4_096
/** The same of values that are written together. */
export const VARIABLE_HISTORY_TOGETHER_MAX_BYTES = 16_384
/** @internal Entries of a history that are looked at. */
export const VARIABLE_HISTORY_READ_MAX = 2_000
/** @internal Variables whose last entry a process remembers. */
export const VARIABLE_HISTORY_WRITERS_REMEMBERED = 10_000
/** Longest template. */
export const TEMPLATE_MAX_CHARS = 65_536
/** Filters of one expression in a template. */
export const TEMPLATE_FILTERS_MAX = 16
/** @internal Executions whose last state is kept in memory, to write without reading first. */
export const EXECUTIONS_REMEMBERED = 10_000
/** How long events of ended executions are kept by default. */
export const RETENTION_EVENTS_MS = 2_592_000_000
/** The same for variables. */
export const RETENTION_VARIABLES_MS = 604_800_000
/** The same for checkpoints. */
export const RETENTION_CHECKPOINTS_MS = 604_800_000
/** How long a swept execution's id stays taken. */
export const EXECUTION_TOMBSTONE_MS = 2_592_000_000
/** Time between two searches for expired executions. */
export const SWEEP_INTERVAL_MS = 60_000
/** Lease of the instance that sweeps or archives. */
export const LEADER_LEASE_MS = 30_000
/**
 * How long the entry of an instance that ended without giving its lease back stays in the store. No instance waits for that: it
 * only must be longer than any clock is set forward by.
 */
export const LEADER_ENTRY_KEPT_MS = 86_400_000
/** How long nothing may go on in archiving or in sweeping before the server's health says so. */
export const MAINTENANCE_STILL_MS = 300_000
/** @internal How often a pass that waits for the lease of another asks for it within the time of the lease. */
export const LEADER_LOOKS = 30
/** @internal Executions per page of the registry. */
export const REGISTRY_PAGE_ENTRIES = 200
/** @internal Executions swept in parallel. */
export const SWEEPS_IN_FLIGHT = 8
/** Time between two searches for executions to archive. */
export const ARCHIVE_INTERVAL_MS = 5_000
/** @internal Events written to the archive at once. */
export const ARCHIVE_BATCH_EVENTS = 500
