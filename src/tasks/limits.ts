/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── files
/** Longest object key, in UTF-8, as in lakeFS. */
export const WORKSPACE_KEY_MAX_BYTES = 1024
/** Longest name of a file or directory, in UTF-8. */
export const WORKSPACE_NAME_MAX_BYTES = 255

// ── publication
/** Longest message of a commit that an author writes; more is cut. */
export const COMMIT_MESSAGE_MAX_CHARS = 1_000
/** Keys of an author's metadata of a commit. */
export const COMMIT_METADATA_KEYS_MAX = 20
/** Longest value of one. */
export const COMMIT_METADATA_VALUE_MAX_CHARS = 1_000

// ── guardrails
/** @internal Failures named in the message of a guardrail error. */
export const GUARDRAIL_FAILURES_SHOWN = 10

// ── parameters
/** @internal Unknown parameters named in a log line or an error. */
export const UNKNOWN_PARAMS_SHOWN = 10
