/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── the files of one attempt
/** The longest key of an object, in bytes of UTF-8; the same as lakeFS'. */
export const WORKSPACE_KEY_MAX_BYTES = 1024
/** The longest name of a file or directory, in bytes of UTF-8. */
export const WORKSPACE_NAME_MAX_BYTES = 255

// ── guardrails
/** How many failures the message of a guardrail error names. */
export const GUARDRAIL_FAILURES_SHOWN = 10
