/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── webhooks
/** Types or patterns in one request. */
export const API_TYPES_MAX = 32
/** Webhooks of one tenant. */
export const WEBHOOKS_PER_TENANT_MAX = 50
/** Longest address of a webhook. */
export const WEBHOOK_URL_MAX_CHARS = 2_048
/**
 * A larger payload is left out of a delivery; the receiver has to read it. Deliveries for all webhooks of a tenant
 * fit into one batch.
 */
export const WEBHOOK_PAYLOAD_MAX_BYTES = 8_192
/** Time for a receiver to respond. */
export const WEBHOOK_TIMEOUT_MS = 10_000
/** Time for name servers to tell the addresses of a receiver; part of the time to respond. */
export const WEBHOOK_LOOKUP_TIMEOUT_MS = 5_000
/** Names that are looked up at the same time for one tenant: one lookup for each of its webhooks' names. */
export const WEBHOOK_LOOKUPS_PER_TENANT = 50
/** @internal How often name servers are asked within that time. */
export const WEBHOOK_LOOKUP_TRIES = 3
/** @internal How much longer is waited for addresses of the other family when one has been found. */
export const WEBHOOK_LOOKUP_GRACE_MS = 250
/** @internal Addresses of a name that are tried. */
export const WEBHOOK_ADDRESSES_MAX = 8
/** @internal Time for one address to accept a connection when there are others. */
export const WEBHOOK_CONNECT_MS = 2_500
/** Tries of a delivery by default. */
export const WEBHOOK_ATTEMPTS = 8
/** Most tries that a webhook may ask for. */
export const WEBHOOK_ATTEMPTS_MAX = 20
/** Wait before the second try by default; doubles with each. */
export const WEBHOOK_FIRST_DELAY_MS = 5_000
/** Longest wait between two tries. */
export const WEBHOOK_MAX_DELAY_MS = 3_600_000
/** Parallel deliveries of one webhook. */
export const WEBHOOK_IN_FLIGHT = 4
/** Deliveries that wait for one webhook; further ones are dead at once, and can be sent again. */
export const WEBHOOK_WAITING_MAX = 10_000
/** Deliveries that wait for all webhooks of one tenant. */
export const WEBHOOK_WAITING_PER_TENANT_MAX = 50_000
/** @internal How often what waits for a webhook is counted again when that limit seems to be reached. */
export const WEBHOOK_RECOUNT_MS = 600_000
/** @internal The part of that limit below which a webhook is no longer shown to be over it. */
export const WEBHOOK_OVERFLOW_ENDS_PART = 0.9
/** @internal Events taken from the outbox at once. */
export const OUTBOX_PAGE_EVENTS = 100
/** @internal How often an instance checks whether it should deliver webhooks. */
export const WEBHOOK_LOOK_MS = 1_000
/** Lease of the instance that delivers webhooks. */
export const WEBHOOK_LEASE_MS = 15_000
/** @internal Deliveries of one webhook that are brought forward in one pass after a clock was set back. */
export const WEBHOOK_BROUGHT_FORWARD = 100
/** How long nothing may go on in delivering webhooks before the server's health says so. */
export const WEBHOOK_STILL_MS = 60_000
/** Dead deliveries that one request sends again. */
export const WEBHOOK_REVIVED_MAX = 1_000
/** How long a dead delivery is kept. */
export const WEBHOOK_DEAD_KEPT_MS = 2_592_000_000
