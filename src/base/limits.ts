/**
 * Every bound by its name: queues, pages, payloads, retries, loops, waits. The unit comes last in the name, and the
 * comment above each constant is the sentence `docs/reference/limits.md` shows. After a change, rewrite that page with
 * `npx vitest run src/base/limits.test.ts -u`.
 */

// ── base: waiting and retrying

/** The longest single timer; Node fires longer ones at once. Longer sleeps are made of several. */
export const SLEEP_MAX_TIMER_MS = 2_147_483_647
/** How often a request is tried in all when it surely was not done. */
export const RETRY_MAX_ATTEMPTS = 6
/** After how long no further try of the same request is begun. */
export const RETRY_MAX_ELAPSED_MS = 60_000
/** The back-off before the second try is drawn from zero up to this; it doubles with each further try. */
export const RETRY_FIRST_DELAY_MS = 100
/** The longest back-off between two tries, unless the server asks for a longer one. */
export const RETRY_MAX_DELAY_MS = 10_000
/** A `Retry-After` beyond this is read as this. */
export const RETRY_AFTER_MAX_MS = 86_400_000

// ── base: redaction and logging

/** A shorter secret is redacted where a key names it, not wherever its few characters turn up. */
export const REDACTION_MIN_SECRET_CHARS = 6
/** Data nested deeper than this is replaced by a note. */
export const REDACTION_MAX_DEPTH = 200
/** A longer text in a log line is cut, after redaction. */
export const LOG_TEXT_MAX_CHARS = 16_384

// ── base: concurrency that adapts

/** How many operations may be under way at once before anything is known of the server. */
export const CONCURRENCY_INITIAL = 8
/** However often the server says "slow down", this many may be under way. */
export const CONCURRENCY_MIN = 1
/** However well it goes, no more than this many are under way. */
export const CONCURRENCY_MAX = 32
/** How many operations may wait for their turn before further ones are turned away. */
export const CONCURRENCY_WAITING_MAX = 100_000

// ── base: configuration and showing errors

/** The largest configuration file. */
export const CONFIGURATION_FILE_MAX_BYTES = 1_048_576
/** The largest file that a secret is read from. */
export const SECRET_FILE_MAX_BYTES = 65_536
/** How many causes of an error are shown, one below the other. */
export const ERROR_CAUSES_MAX = 8
/** A longer message of an error is cut where it is shown, after redaction. */
export const ERROR_TEXT_MAX_CHARS = 2_000

// ── embedded lakeFS, HTTP side

/** The largest object the embedded lakeFS takes, whichever way it is uploaded. */
export const EMBEDDED_OBJECT_MAX_BYTES = 1_099_511_627_776
/** The largest JSON body the embedded lakeFS reads; the only kind it holds in memory. */
export const EMBEDDED_JSON_MAX_BYTES = 16_777_216
/** The longest object path, in UTF-8 bytes; the same as lakeFS'. */
export const EMBEDDED_PATH_MAX_BYTES = 1024
/** The longest request line and headers together. */
export const EMBEDDED_HEADER_MAX_BYTES = 65_536
/** How much of an unread body is thrown away after an early answer before the connection is cut. */
export const EMBEDDED_DRAIN_MAX_BYTES = 16_777_216
/** How long a connection may stay silent in the middle of a request or an answer. */
export const EMBEDDED_IDLE_MS = 60_000
/** How long a client may take to send its headers. */
export const EMBEDDED_HEADERS_MS = 30_000
/** How long `close()` lets requests under way finish before it cuts them. */
export const EMBEDDED_CLOSE_MS = 5_000
/** The most paths of one batch deletion; the same as lakeFS'. */
export const EMBEDDED_BATCH_DELETE_MAX_PATHS = 1000
/** The largest page of a listing; the same as lakeFS'. */
export const EMBEDDED_PAGE_MAX = 1000
/** How long a bearer token from a login is good. */
export const EMBEDDED_TOKEN_MS = 3_600_000
/** How long a presigned address is good. */
export const EMBEDDED_PRESIGN_MS = 900_000
/** How long a staging address may be linked after it was given out. */
export const EMBEDDED_STAGING_ADDRESS_MS = 21_600_000
/** The most uploads through presigned addresses that may wait for being linked. */
export const EMBEDDED_PRESIGNED_UPLOADS_MAX = 10_000
/** The most parts of one multi-part upload; the same as lakeFS'. */
export const EMBEDDED_PARTS_MAX = 10_000
/** How many requests the embedded server remembers for inspection. */
export const EMBEDDED_HISTORY_MAX = 10_000
/** The largest action file. */
export const EMBEDDED_ACTION_FILE_MAX_BYTES = 1_048_576
/** The most action files one update reads. */
export const EMBEDDED_ACTION_FILES_MAX = 100
/** How long one action hook may run. */
export const EMBEDDED_HOOK_MS = 5_000
/** What one action hook may allocate. */
export const EMBEDDED_HOOK_MEMORY_BYTES = 67_108_864
/** How much of what one action hook prints is kept. */
export const EMBEDDED_HOOK_OUTPUT_MAX_BYTES = 65_536
/** How many action hooks run at the same time. */
export const EMBEDDED_HOOK_WORKERS_MAX = 2
/** How many action runs are remembered for each repository. */
export const EMBEDDED_ACTION_RUNS_MAX = 1000

// ── lakefs: the client

/** Connections to one lakeFS server, and so requests in flight. */
export const LAKEFS_CONNECTIONS_MAX = 32
/** How long a connection to the lakeFS server may take to open. */
export const LAKEFS_CONNECT_TIMEOUT_MS = 10_000
/** How long a lakeFS request may go without any progress before its answer begins, be it the server's fault or the source's. */
export const LAKEFS_ANSWER_TIMEOUT_MS = 120_000
/** How long the body of a lakeFS answer may stay silent. */
export const LAKEFS_BODY_IDLE_MS = 60_000
/** The largest JSON answer that is read; it is the only kind that is held in memory. */
export const LAKEFS_JSON_ANSWER_MAX_BYTES = 67_108_864
/** How much of a refusal's body is looked at. */
export const LAKEFS_REFUSAL_MAX_BYTES = 65_536
/** How much of the server's own words an error message quotes. */
export const LAKEFS_QUOTE_MAX_CHARS = 300
/** The largest page lakeFS gives. */
export const LAKEFS_PAGE_MAX = 1000
/** The most paths of one batch deletion. */
export const LAKEFS_BATCH_DELETE_MAX_PATHS = 1000
/** The longest path of an object, in bytes of UTF-8. */
export const LAKEFS_PATH_MAX_BYTES = 1024
/** How many of the paths a batch deletion was refused for are named in the error. */
export const LAKEFS_REFUSED_PATHS_SHOWN = 5
/** From this size on an upload goes in parts, where the server offers it. */
export const LAKEFS_MULTIPART_THRESHOLD_BYTES = 67_108_864
/** The size of one part; larger only when there would be too many. Held in memory while it is sent. */
export const LAKEFS_PART_BYTES = 16_777_216
/** How many parts of one upload travel at the same time. */
export const LAKEFS_PARTS_IN_FLIGHT = 4
/** The most parts of one upload. */
export const LAKEFS_PARTS_MAX = 10_000
/** The largest upload that may go to a presigned address in one piece. */
export const LAKEFS_PRESIGNED_PUT_MAX_BYTES = 5_368_709_120
/** Up to this size a whole object is fetched through lakeFS, in one request, also where the store could be asked. */
export const LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES = 1_048_576
/** How long giving up a multi-part upload may take; it goes on when the upload itself was aborted. */
export const LAKEFS_ABORT_UPLOAD_MS = 30_000

// ── embedded lakeFS, storage

/** How much of the metadata database SQLite may keep in memory, in KiB. */
export const EMBEDDED_DB_CACHE_KIB = 32_768
/** How large SQLite's log file may stay after its contents went into the database. */
export const EMBEDDED_DB_LOG_BYTES = 67_108_864
/** How many bytes of tree nodes, as they are stored, are kept decoded in memory. */
export const EMBEDDED_NODE_CACHE_BYTES = 33_554_432
/** The most writes that one transaction of the embedded lakeFS takes together. */
export const EMBEDDED_WRITE_BATCH_MAX = 512
/** The most writes that may wait for their transaction. */
export const EMBEDDED_WRITE_QUEUE_MAX = 65_536
/** How many staged changes are read at a time. */
export const EMBEDDED_STAGING_READ_ROWS = 512
/** How much of a body is gathered before it is written to disk. */
export const EMBEDDED_BLOB_BUFFER_BYTES = 1_048_576
/** The most bytes of all objects together when the embedded lakeFS runs in memory. */
export const EMBEDDED_MEMORY_BLOBS_MAX_BYTES = 1_073_741_824
/** How often an update of a branch is tried when others keep moving the branch under it; the same as lakeFS'. */
export const EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS = 10
/** The most updates with action files that may wait for their turn on one branch. */
export const EMBEDDED_BRANCH_QUEUE_MAX = 1024
/** How many rows of something deleted are swept away in one transaction. */
export const EMBEDDED_SWEEP_ROWS = 1000
/** How many rows garbage collection of the embedded lakeFS reads or removes at a time. */
export const EMBEDDED_GC_ROWS = 1000

// ── publication

/** The longest name of a staging branch; a longer one is refused before anything is sent. */
export const STAGING_NAME_MAX_CHARS = 1024
/** How often one publication judges the branch: once, and again after each lost answer or moved head. */
export const PUBLICATION_TURNS_MAX = 4
/** How many commits of a branch are looked through for one's own publication after a lost answer. */
export const PUBLICATION_LOOK_BACK_COMMITS = 20
/** How often a step that may safely be done twice is tried in all when its answer is lost. */
export const PUBLICATION_REPEATS_MAX = 3
/** How long keeping evidence and removing a staging branch may take; both go on after the attempt was aborted. */
export const PUBLICATION_CLEANUP_MS = 30_000
/** How many paths an error about a staged commit names. */
export const PUBLICATION_PATHS_SHOWN = 5

// ── workspace: the files of one attempt

/** The most files one workspace may have. */
export const WORKSPACE_FILES_MAX = 1_000_000
/** The most bytes one workspace may have. */
export const WORKSPACE_BYTES_MAX = 10_995_116_277_760
/** How many small files are brought in at the same time. */
export const WORKSPACE_DOWNLOADS_IN_FLIGHT = 32
/** How many of the others. */
export const WORKSPACE_LARGE_DOWNLOADS_IN_FLIGHT = 4
/** Up to this size a file is gathered in memory and written in one go. */
export const WORKSPACE_SMALL_FILE_MAX_BYTES = 262_144
/** How much of a larger file is gathered before it is written. */
export const WORKSPACE_WRITE_BUFFER_BYTES = 1_048_576
/** How many files are hashed at the same time. */
export const WORKSPACE_HASHES_IN_FLIGHT = 2
/** How much of a file is read at once while it is hashed. */
export const WORKSPACE_HASH_BUFFER_BYTES = 1_048_576
/** From how many files on a workspace is put into a part of the disk of its own, where the file system has such. */
export const WORKSPACE_APART_FILES_MIN = 500
/** How long it may take to mark a directory for that. */
export const WORKSPACE_MARK_TOP_MS = 2_000
/** How long the thread that hashes large files is kept when there is nothing to hash. */
export const WORKSPACE_HASH_THREAD_IDLE_MS = 10_000
/** How long a walk through a directory may keep the event loop to itself. */
export const WORKSPACE_WALK_SLICE_MS = 4
/** How many paths that stand in the way are kept for an error; the rest is counted. */
export const WORKSPACE_REFUSALS_MAX = 1000
/** How many of them its message names. */
export const WORKSPACE_REFUSALS_SHOWN = 10
/** The longest key of an object, in bytes of UTF-8; the same as lakeFS'. */
export const WORKSPACE_KEY_MAX_BYTES = 1024
/** The longest name of a file or directory, in bytes of UTF-8. */
export const WORKSPACE_NAME_MAX_BYTES = 255
/** How long a layout waits for the file system's clock to move on, so that a later edit shows in the times. */
export const WORKSPACE_CLOCK_TICK_MAX_MS = 40
/** The shortest time between two reports of progress. */
export const WORKSPACE_PROGRESS_INTERVAL_MS = 100

// ── workspace: the content cache and directories that are handed over

/** How many bytes of objects a worker's root keeps for later tasks, unless told. */
export const CACHE_MAX_BYTES = 10_737_418_240
/** An object larger than this part of the content cache (1/n) is not kept. */
export const CACHE_OBJECT_MAX_PART = 4
/** How full the content cache is after room was made in it. */
export const CACHE_TRIM_TO_PERCENT = 90
/** After a process has added this part of the content cache (1/n), it looks anew at what all processes have added. */
export const CACHE_LOOK_AGAIN_PART = 16
/** How much of the disk the content cache leaves free. */
export const CACHE_FREE_SPACE_MIN_PERCENT = 5
/** How long nothing is added to the content cache after the disk was full. */
export const CACHE_PAUSE_MS = 60_000
/** How old the time of last use of a cached object may become before it is told anew. */
export const CACHE_TOUCH_MS = 60_000
/** How many directories a worker process keeps for the tasks that follow. */
export const WARM_DIRECTORIES_MAX = 8
/** How many bytes they may have together. */
export const WARM_MAX_BYTES = 10_737_418_240
/** How long a directory is kept for a task that may follow. */
export const WARM_AGE_MS = 600_000
/** How long a task waits for a directory of its input that another is just leaving, before it lays out its own. */
export const WARM_ANNOUNCED_WAIT_MS = 5_000
/** After how long an object that was being added is taken to be left by a process that was killed. */
export const CACHE_INCOMING_STALE_MS = 3_600_000

// ── workspace: guardrails

/** How many guardrails are checked at the same time. */
export const GUARDRAILS_IN_FLIGHT = 8
/** How long one guardrail may take. */
export const GUARDRAIL_MAX_MS = 600_000
/** The largest file `jsonMatches` reads; it is held in memory. */
export const GUARDRAIL_JSON_MAX_BYTES = 67_108_864
/** How many failures one guardrail may report; the rest is counted. */
export const GUARDRAIL_FAILURES_MAX = 100
/** How many failures the message of a guardrail error names. */
export const GUARDRAIL_FAILURES_SHOWN = 10

// ── workspace: ownership and clean-up

/** How often a worker looks for the directories of dead workers. */
export const WORKSPACE_COLLECT_INTERVAL_MS = 300_000
/** How long the owner of a directory must have been silent before its lock alone, seen from another machine, proves it dead. */
export const WORKSPACE_OWNER_SILENT_MS = 3_600_000
/** How long asking the operating system for a process may take. */
export const WORKSPACE_PROCESS_QUERY_MS = 5_000
/** The largest marker file that is read. */
export const WORKSPACE_MARKER_MAX_BYTES = 65_536

// ── conductor: the client

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
/** The longest a poll may ask the server to wait; more is refused by it. */
export const CONDUCTOR_POLL_WAIT_MAX_MS = 5_000
/** The largest output of a task, as JSON, that the next task is still given. Above it the server puts it aside. */
export const CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES = 3_145_728
/** The largest input of a workflow, as JSON, that its tasks are still given. Above it the server puts it aside. */
export const CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES = 5_242_880
/** The largest payload that Conductor takes at all. Above it the task fails for good. */
export const CONDUCTOR_PAYLOAD_MAX_BYTES = 10_485_760
/** How much of the reason a task did not end well is kept by the server. */
export const CONDUCTOR_REASON_MAX_CHARS = 500
/** How many log lines of one result are kept by the server. */
export const CONDUCTOR_LOGS_PER_RESULT_MAX = 10
/** How many open workflows one page of a search holds. */
export const CONDUCTOR_SEARCH_PAGE = 100
/** How long a token is taken to be good when it does not say so itself. */
export const CONDUCTOR_TOKEN_LIFETIME_MS = 1_800_000
/** How long before its end a token is replaced. */
export const CONDUCTOR_TOKEN_REFRESH_AHEAD_MS = 60_000

// ── worker

/** A lease is renewed this many times within its response timeout. */
export const LEASE_ROUNDS_PER_TIMEOUT = 3
/** The first renewal comes no later than this, so that a lease nobody can renew is noticed early. */
export const LEASE_FIRST_RENEWAL_MS = 1_000
/** How long a renewal whose answer was lost may still be on its way, before a result is posted. */
export const LEASE_LOST_ANSWER_WAIT_MS = 2_000
/** A task whose last run got to its publication within this time has its staging branch begun while it works. */
export const EARLY_STAGING_MAX_MS = 10_000
/** How often a result is posted before it is left to the outbox. */
export const RESULT_POST_ATTEMPTS = 6
/** How long ago the attempt fence may have been passed for its reading to count as the one before a post. */
export const RESULT_FENCE_AGE_MAX_MS = 250
/** The wait before a result is posted again; it doubles with each further try. */
export const RESULT_POST_DELAY_MS = 200
/** The longest wait before a result is posted again. */
export const RESULT_POST_DELAY_MAX_MS = 5_000
/** How many results that an earlier process left are sent at once. */
export const OUTBOX_ENTRIES_MAX = 1_000
/** How long a body may take to end by itself once its signal is aborted, before its attempt is given up. */
export const BODY_ABORT_GRACE_MS = 5_000
/** How long a host may take to end once it is told to, before it is killed. */
export const BODY_KILL_WAIT_MS = 2_000
/** How long a program may take to end after SIGTERM, before it is killed. */
export const COMMAND_ABORT_GRACE_MS = 4_000
/** The largest parameters that are put into one environment variable too. */
export const COMMAND_ENV_MAX_BYTES = 65_536
/** The largest result of a program that is read. */
export const COMMAND_RESULT_MAX_BYTES = 10_485_760
/** How much of the end of what a program said on stderr is kept for its error. */
export const COMMAND_STDERR_TAIL_CHARS = 4_000
/** How many lines of what a body said go into the task's log with its result; the last ones are kept. */
export const TASK_LOG_LINES_MAX = 200
/** A longer line of a task's log is cut, after redaction. */
export const TASK_LOG_LINE_MAX_CHARS = 4_000
/** How long the first poll of a task type asks the server to wait, and every poll while other types wait for its place. */
export const POLL_WAIT_MS = 100
/** The longest a poll of a worker asks the server to wait; it doubles up to here while there is nothing to do. */
export const POLL_WAIT_MAX_MS = 2_000
/** A poll that is answered with a task within this time met one that waited. */
export const POLL_QUEUED_MAX_MS = 75
/** The pause after a poll that failed is drawn from zero up to this; it doubles with each further failure. */
export const POLL_ERROR_DELAY_MS = 250
/** The longest pause between two polls that fail. */
export const POLL_ERROR_DELAY_MAX_MS = 30_000
/** How many tasks one worker runs at the same time. */
export const WORKER_SLOTS = 4
/** How long a worker that is asked to stop lets its tasks finish. */
export const WORKER_STOP_DEADLINE_MS = 25_000
/** How long attempts may take to end and to be handed back after they were aborted. */
export const WORKER_ABORT_WAIT_MS = 15_000
/** How often results that could not be delivered are sent again. */
export const OUTBOX_SEND_INTERVAL_MS = 15_000
/** How long the thread that holds the leases may take to end, before it is ended. */
export const LEASE_THREAD_CLOSE_MS = 5_000
/** After how long without a successful poll a worker that has places calls itself unwell. */
export const WORKER_POLL_SILENT_MS = 90_000
/** The pause before a worker process that ended is started again; it doubles with each further end. */
export const SUPERVISOR_RESTART_MS = 500
/** The longest pause before a worker process is started again. */
export const SUPERVISOR_RESTART_MAX_MS = 30_000
/** A worker process that ran this long is taken to be well: after it the pauses begin anew. */
export const SUPERVISOR_WELL_AFTER_MS = 60_000
/** How long beyond its deadline a worker process may take to end, before it is killed. */
export const SUPERVISOR_KILL_AFTER_MS = 30_000
/** A longer line of what a body prints is cut. */
export const BODY_LINE_MAX_CHARS = 8_192
/** How many open workflows a worker looks through for one that writes the branch of an attempt. */
export const BRANCH_WATCH_WORKFLOWS_MAX = 500
/** The least time between two such looks; attempts that begin meanwhile share the next. */
export const BRANCH_WATCH_INTERVAL_MS = 5_000
/** How many open workflows are looked through before one is started on a branch; with more it is not started. */
export const START_WORKFLOWS_MAX = 10_000
/** How often a worker process looks whether its supervisor still lives, apart from being told. */
export const ORPHAN_LOOK_MS = 500
/** How long a worker process may outlive its supervisor, before it is killed. */
export const ORPHAN_GRACE_MS = 10_000

// ── command line

/** How long a command that is done may wait for what a task left behind, before its process is ended. */
export const COMMAND_LINGER_MS = 500
/** The most processes, or tasks in each of them, that a command can be told to start. */
export const COMMAND_COUNT_MAX = 1_024

// ── stores: the store under the core

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
/** How long a call of a store may take in all. */
export const STORE_ANSWER_TIMEOUT_MS = 10_000
/** How long a connection to a store's server may take to open. */
export const STORE_CONNECT_TIMEOUT_MS = 5_000
/** Connections to one PostgreSQL server, watches apart. */
export const STORE_CONNECTIONS_MAX = 10
/** At least this many changes a store remembers for watches that lag behind; one that lags further may be told of a gap. */
export const STORE_CHANGES_KEPT = 10_000
/** How many changes one notice of a watch tells, unless one batch has more. */
export const STORE_CHANGES_PAGE = 1000
/** How often a watch looks for changes when nobody wakes it. */
export const STORE_WATCH_POLL_MS = 1_000
/** How long a watch goes on trying to reach a server that does not answer, before it fails. */
export const STORE_WATCH_PATIENCE_MS = 60_000
/** How many expired entries are removed along with one batch, and with one look of a watch. */
export const STORE_EXPIRED_PER_SWEEP = 100
/** How many entries a deletion by prefix removes at a time. */
export const STORE_CLEAR_ENTRIES = 1000
/** How many batches SQLite writes to disk together. */
export const STORE_WRITES_TOGETHER_MAX = 256
/** How many batches may wait for their turn in SQLite before further ones are turned away. */
export const STORE_WRITES_WAITING_MAX = 65_536
/** From this size on a sealed store compresses values, where that makes them smaller. */
export const STORE_COMPRESS_FROM_BYTES = 4096
/** How much of SQLite's log file is kept after its contents went into the database. */
export const STORE_SQLITE_LOG_BYTES = 67_108_864

// ── core: expressions

/** The longest expression. */
export const EXPRESSION_MAX_CHARS = 4_096
/** How deep parentheses and denials of an expression may be nested. */
export const EXPRESSION_MAX_DEPTH = 64

// ── core: executions, events and variables

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
/** The longest time that what an ended execution leaves behind may be kept, unless it is kept for ever. */
export const RETENTION_MAX_MS = 315_360_000_000
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
/** How long one statement of the archive may take. */
export const ARCHIVE_STATEMENT_TIMEOUT_MS = 30_000

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
/** How many types or patterns one request may name. */
export const API_TYPES_MAX = 32
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
/** Of how many tenants the executions that this process works with are remembered. */
export const EXECUTION_TENANTS_REMEMBERED = 1_000
/** The most webhooks of one tenant. */
export const WEBHOOKS_PER_TENANT_MAX = 50
/** The longest address of a webhook. */
export const WEBHOOK_URL_MAX_CHARS = 2_048
/** The largest payload that a webhook is sent; a larger one is left out, and to be read. All of a tenant fit into one batch. */
export const WEBHOOK_PAYLOAD_MAX_BYTES = 8_192
/** How long a receiver may take to answer. */
export const WEBHOOK_TIMEOUT_MS = 10_000
/** How often a delivery is tried in all where a webhook does not say. */
export const WEBHOOK_ATTEMPTS = 8
/** The most tries that a webhook may ask for. */
export const WEBHOOK_ATTEMPTS_MAX = 20
/** The wait before the second try of a delivery where a webhook does not say; it doubles with each further try. */
export const WEBHOOK_FIRST_DELAY_MS = 5_000
/** The longest wait between two tries of a delivery. */
export const WEBHOOK_MAX_DELAY_MS = 3_600_000
/** How many deliveries of one webhook are under way at the same time. */
export const WEBHOOK_IN_FLIGHT = 4
/** How many events are taken out of the outbox at a time. */
export const OUTBOX_PAGE_EVENTS = 100
/** How often an instance that does not deliver webhooks looks whether it is to, and how long one waits that cannot just now. */
export const WEBHOOK_LOOK_MS = 1_000
/** How long the right to deliver webhooks is held without being renewed. */
export const WEBHOOK_LEASE_MS = 15_000
/** The right to deliver webhooks is renewed this many times within the time that it is held for. */
export const WEBHOOK_LEASE_ROUNDS = 3
/** How many dead deliveries one request lets begin anew. */
export const WEBHOOK_REVIVED_MAX = 1_000
/** How long a delivery that was given up is kept, to be looked at and sent again. */
export const WEBHOOK_DEAD_KEPT_MS = 2_592_000_000
