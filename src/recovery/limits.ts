/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── recovery
/** Commits of a branch that `perago recover` searches for an input or output ref. */
export const RECOVERY_HISTORY_COMMITS = 1_000
/** Open workflows that it searches for writers of a branch. */
export const RECOVERY_OPEN_WORKFLOWS_MAX = 10_000
