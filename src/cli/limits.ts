/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── command line
/** @internal How long a finished command waits for what a task left running before the process exits. */
export const COMMAND_LINGER_MS = 500
/** Most processes, or tasks in each, that a command can start. */
export const COMMAND_COUNT_MAX = 1_024
