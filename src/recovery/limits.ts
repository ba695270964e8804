/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── recovery
/** Commits of a branch that `perago recover` searches for an input or output ref. */
export const RECOVERY_HISTORY_COMMITS = 1_000
/** Open workflows that it searches for writers of a branch. */
export const RECOVERY_OPEN_WORKFLOWS_MAX = 10_000
/** Commits, tasks and workflows that `perago verify` remembers at a time; two commits of one task further apart are not compared. */
export const VERIFY_REMEMBERED_MAX = 100_000
/** @internal Commits after which it settles which outputs are not in the history. */
export const VERIFY_PAGE_COMMITS = 100
/** Findings, commits of others and unknown workflows that it names; more are counted. */
export const RECOVERY_NAMED_MAX = 1_000
/** Publishers without a hard fence that `perago verify` and `perago doctor` name. */
export const RECOVERY_PUBLISHERS_NAMED = 100
/** Newest commits of a branch among which `perago doctor` looks for publishers without a hard fence. */
export const FENCE_LOOK_BACK_COMMITS = 100
