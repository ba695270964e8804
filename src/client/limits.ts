/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── client
/** How long the client waits for a response. */
export const CLIENT_ANSWER_TIMEOUT_MS = 30_000
/** How long one of its requests waits for an execution's end. */
export const CLIENT_WAIT_STEP_MS = 30_000
/** How long it waits for that end by default. */
export const CLIENT_WAIT_MS = 3_600_000
