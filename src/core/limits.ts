/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── the store under the core
/** The longest key, in bytes of UTF-8. */
export const STORE_KEY_MAX_BYTES = 1024
/** The largest value of one key. */
export const STORE_VALUE_MAX_BYTES = 1_048_576
/** The most bytes of all keys and values of one batch; etcd takes no larger request than 1.5 MiB. */
export const STORE_BATCH_MAX_BYTES = 1_310_720
/** The most operations of one batch; etcd takes no more than 128. */
export const STORE_BATCH_MAX_OPERATIONS = 100
/** The most conditions of one batch. */
export const STORE_BATCH_MAX_CONDITIONS = 100
/** How many entries a page has where nobody asks for another number. */
export const STORE_PAGE_ENTRIES = 100
/** The most entries of one page. */
export const STORE_PAGE_MAX_ENTRIES = 1000
/** A page that holds this many bytes of values ends early. */
export const STORE_PAGE_MAX_BYTES = 4_194_304
/** The longest time after which an entry may expire; later is never. */
export const STORE_TTL_MAX_MS = 315_360_000_000

// ── expressions
/** The longest expression. */
export const EXPRESSION_MAX_CHARS = 4_096
/** How deep parentheses and denials of an expression may be nested. */
export const EXPRESSION_MAX_DEPTH = 64

// ── executions, events and variables
/** How deeply a JSON value may be nested. */
export const JSON_DEPTH_MAX = 100
/** The longest execution-independent name: a node id, an input, an output. */
export const NAME_MAX_CHARS = 128
/** The longest event type. */
export const EVENT_TYPE_MAX_CHARS = 256
/** The most segments of an event type, and of a pattern that finds them. */
export const EVENT_TYPE_SEGMENTS_MAX = 16
/** A larger payload is warned about, or refused in strict mode: large data travels as a reference. */
export const EVENT_PAYLOAD_ADVICE_BYTES = 1_024
/** A larger payload is always refused. */
export const EVENT_PAYLOAD_MAX_BYTES = 262_144
/** How many events of one execution are written in one batch, when they wait for each other. */
export const EVENTS_PER_BATCH_MAX = 32
/** The shortest time to live of events. */
export const EVENT_TTL_MIN_MS = 1_000
/** The longest idempotency key. */
export const IDEMPOTENCY_KEY_MAX_CHARS = 256
/** How often a write that found somebody else's in its place is made again. */
export const WRITE_CONFLICTS_MAX = 500
/** How often a write is tried again while the store does not answer, or its answer is lost. */
export const WRITE_TRIES_MAX = 6
/** The wait before a write is tried again; it doubles with each further try. */
export const WRITE_RETRY_DELAY_MS = 50
/** The longest wait before a write is tried again. */
export const WRITE_RETRY_DELAY_MAX_MS = 1_000
/** How many events of one execution a query lists without being told how many. */
export const EVENT_QUERY_MAX_EVENTS = 100_000
/** The longest variable name. */
export const VARIABLE_NAME_MAX_CHARS = 260
/** The largest value of one variable, as JSON. */
export const VARIABLE_MAX_BYTES = 262_144
/** How many variables may be written together, as the inputs of an execution or the outputs of a node. */
export const VARIABLES_TOGETHER_MAX = 64
/** How many variables of one execution a listing gives. */
export const VARIABLES_LISTED_MAX = 10_000
/** How long an atomic change of a variable is remembered, to be told from another's when its answer was lost. */
export const VARIABLE_MARK_MS = 3_600_000
/** The longest template. */
export const TEMPLATE_MAX_CHARS = 65_536
/** The most filters of one expression in a template. */
export const TEMPLATE_FILTERS_MAX = 16
/** Of how many executions the last state is kept in memory, to write without reading first. */
export const EXECUTIONS_REMEMBERED = 10_000
/** How long the events of an ended execution are kept. */
export const RETENTION_EVENTS_MS = 2_592_000_000
/** How long the variables of an ended execution are kept. */
export const RETENTION_VARIABLES_MS = 604_800_000
/** How long the checkpoints of an ended execution are kept. */
export const RETENTION_CHECKPOINTS_MS = 604_800_000
/** How long the id of a swept execution stays taken. */
export const EXECUTION_TOMBSTONE_MS = 2_592_000_000
/** How often expired executions are looked for. */
export const SWEEP_INTERVAL_MS = 60_000
/** How long the right to sweep or to archive is held without being renewed. */
export const LEADER_LEASE_MS = 30_000
/** How many executions one page of the registry has. */
export const REGISTRY_PAGE_ENTRIES = 200
/** How many executions are swept at the same time. */
export const SWEEPS_IN_FLIGHT = 8
/** How often executions that have ended are looked for, to archive them. */
export const ARCHIVE_INTERVAL_MS = 5_000
/** How many events are written to the archive at once. */
export const ARCHIVE_BATCH_EVENTS = 500
