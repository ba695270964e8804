/** Limits of the helpers for tests. */

// ── crashes

/** Cases of one strength that `tryEveryCrash` goes through unless told otherwise; fewer where fewer have one trouble. */
export const CRASH_CASES_MAX = 2_000

/** How often it runs a failed case again to make its story shorter. */
export const CRASH_SHRINK_TRIES_MAX = 60

/** How long a task may take between two requests, its body included, before it gives up. */
export const CRASH_STEP_MAX_MS = 60_000

/** @internal For how many turns of the event loop nothing may happen before the next step begins. */
export const CRASH_STEP_QUIET_TURNS = 3
