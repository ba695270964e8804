/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── publication
/** Longest name of a staging branch. */
export const STAGING_NAME_MAX_CHARS = 1024
/** Decisions of a publication: one, and another after each lost response or moved head. */
export const PUBLICATION_TURNS_MAX = 4
/** How long a branch write that was surely not done, as on a busy branch, is decided and sent again. */
export const PUBLICATION_BUSY_MS = 60_000
/** @internal How often, at most. */
export const PUBLICATION_BUSY_TURNS_MAX = 50
/** Age of the answers about attempt and branch when a branch write's first byte is sent. */
export const PUBLICATION_CONFIRMATION_AGE_MAX_MS = 250
/** An answer about attempt or branch that took longer is asked for again. */
export const PUBLICATION_READING_MAX_MS = 2_000
/** @internal Rounds of readings until attempt and branch are known well enough. */
export const PUBLICATION_READING_ROUNDS_MAX = 10
/** Commits searched for one's own publication after a lost response. */
export const PUBLICATION_LOOK_BACK_COMMITS = 20
/** Commits that a relocation may take off a branch. */
export const RELOCATION_COMMITS_MAX = 1_000
/** Tries of a step that may safely run twice, after lost responses. */
export const PUBLICATION_REPEATS_MAX = 6
/** Time to keep evidence and remove a staging branch, also after an abort. */
export const PUBLICATION_CLEANUP_MS = 30_000
/** @internal Paths named in an error about a staged commit. */
export const PUBLICATION_PATHS_SHOWN = 5
/** Parallel uploads: lakeFS gathers writes for some milliseconds, so that more of them take hardly longer. */
export const PUBLICATION_UPLOADS_IN_FLIGHT = 64
/** @internal How many at first; see the adaptive limit. */
export const PUBLICATION_UPLOADS_IN_FLIGHT_AT_FIRST = 32
/** Of these, files that are sent as streams. */
export const PUBLICATION_LARGE_UPLOADS_IN_FLIGHT = 16
/** @internal From this size on, a file counts as large there. */
export const PUBLICATION_LARGE_UPLOAD_BYTES = 262_144

// ── hard fence
/** @internal How often a claim is collapsed before the head is taken as it is. */
export const CLAIM_COLLAPSES_MAX = 4
/** @internal The fewest parents of a soft claim's fan: no commit of the server has a third one. */
export const CLAIM_WIDTH_MIN = 3
/** @internal How many widths there are. A record of the widest has 17 KiB. */
export const CLAIM_WIDTHS = 256
/** How long a branch is remembered to have no fence file. */
export const FENCE_ABSENCE_MS = 60_000
/** @internal Branches of which that is remembered; the oldest are forgotten. */
export const FENCE_ABSENCES_MAX = 1_000
/** A canary still running then has failed. */
export const FENCE_CANARY_MS = 30_000
/** @internal Foreign files that are named. */
export const FENCE_FOREIGN_FILES_MAX = 10

// ── ledger
/** Largest result, as JSON, in the published commit's own metadata, which everybody reads with the branch. */
export const LEDGER_INLINE_MAX_BYTES = 4 * 1024
/** Largest result, as JSON, in the ledger; several stores of lakeFS take no larger records. */
export const LEDGER_RESULT_MAX_BYTES = 256 * 1024
