/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── files
/** Longest object key, in UTF-8, as in lakeFS. */
export const WORKSPACE_KEY_MAX_BYTES = 1024
/** Longest name of a file or directory, in UTF-8. */
export const WORKSPACE_NAME_MAX_BYTES = 255

// ── guardrails
/** @internal Failures named in the message of a guardrail error. */
export const GUARDRAIL_FAILURES_SHOWN = 10

// ── parameters
/** @internal Unknown parameters named in a log line or an error. */
export const UNKNOWN_PARAMS_SHOWN = 10
