/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── client
/** Time that the client waits for an answer of the server. */
export const CLIENT_ANSWER_TIMEOUT_MS = 30_000
/** Time that one request of the client waits for the end of an execution. */
export const CLIENT_WAIT_STEP_MS = 30_000
/** Time that the client waits for the end of an execution by default. */
export const CLIENT_WAIT_MS = 3_600_000
