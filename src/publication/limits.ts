/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── publication
/** The longest name of a staging branch; a longer one is refused before anything is sent. */
export const STAGING_NAME_MAX_CHARS = 1024
/** How often one publication judges the branch: once, and again after each lost answer or moved head. */
export const PUBLICATION_TURNS_MAX = 4
/** How many commits of a branch are looked through for one's own publication after a lost answer. */
export const PUBLICATION_LOOK_BACK_COMMITS = 20
/** How often a step that may safely be done twice is tried in all when its answer is lost. */
export const PUBLICATION_REPEATS_MAX = 3
/** How long keeping evidence and removing a staging branch may take; both go on after the attempt was aborted. */
export const PUBLICATION_CLEANUP_MS = 30_000
/** How many paths an error about a staged commit names. */
export const PUBLICATION_PATHS_SHOWN = 5
/** How many files of one publication are sent at the same time. */
export const PUBLICATION_UPLOADS_IN_FLIGHT = 32
