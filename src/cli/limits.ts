/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── command line
/** How long a command that is done may wait for what a task left behind, before its process is ended. */
export const COMMAND_LINGER_MS = 500
/** The most processes, or tasks in each of them, that a command can be told to start. */
export const COMMAND_COUNT_MAX = 1_024
