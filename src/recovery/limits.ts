/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── recovery
/** Commits of a branch that `perago recover` looks through for an input or output ref. */
export const RECOVERY_HISTORY_COMMITS = 1_000
/** Open workflows among which it looks for writers of a branch. */
export const RECOVERY_OPEN_WORKFLOWS_MAX = 10_000
