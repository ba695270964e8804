/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── publication
/** Longest name of a staging branch. */
export const STAGING_NAME_MAX_CHARS = 1024
/** How often a publication decides from the branch: once, and again after each lost response or moved head. */
export const PUBLICATION_TURNS_MAX = 4
/** Commits searched for one's own publication after a lost response. */
export const PUBLICATION_LOOK_BACK_COMMITS = 20
/** Commits that a relocation may take off a branch. */
export const RELOCATION_COMMITS_MAX = 1_000
/** Tries in all of a step that may safely run twice, when its response is lost. */
export const PUBLICATION_REPEATS_MAX = 3
/** Time allowed for keeping evidence and removing a staging branch, also after an abort. */
export const PUBLICATION_CLEANUP_MS = 30_000
/** @internal Paths named in an error about a staged commit. */
export const PUBLICATION_PATHS_SHOWN = 5
/** Parallel uploads of one publication. */
export const PUBLICATION_UPLOADS_IN_FLIGHT = 32
