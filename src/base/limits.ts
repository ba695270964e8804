/**
 * Every bound by its name: queues, pages, payloads, retries, loops, waits. The unit comes last in the name, and the
 * comment above each constant is the sentence `docs/reference/limits.md` shows. After a change, rewrite that page with
 * `npx vitest run src/base/limits.test.ts -u`.
 */

// ── base: waiting and retrying

/** The longest single timer; Node fires longer ones at once. Longer sleeps are made of several. */
export const SLEEP_MAX_TIMER_MS = 2_147_483_647
/** How often a request is tried in all when it surely was not done. */
export const RETRY_MAX_ATTEMPTS = 6
/** After how long no further try of the same request is begun. */
export const RETRY_MAX_ELAPSED_MS = 60_000
/** The back-off before the second try is drawn from zero up to this; it doubles with each further try. */
export const RETRY_FIRST_DELAY_MS = 100
/** The longest back-off between two tries, unless the server asks for a longer one. */
export const RETRY_MAX_DELAY_MS = 10_000
/** A `Retry-After` beyond this is read as this. */
export const RETRY_AFTER_MAX_MS = 86_400_000
