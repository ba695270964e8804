/** Every bound of this room, in one place. The reference page `docs/reference/limits.md` is written from these comments. */

// ── doors
/** How many types or patterns one request may name. */
export const API_TYPES_MAX = 32
/** The most webhooks of one tenant. */
export const WEBHOOKS_PER_TENANT_MAX = 50
/** The longest address of a webhook. */
export const WEBHOOK_URL_MAX_CHARS = 2_048
/** The largest payload that a webhook is sent; a larger one is left out, and to be read. All of a tenant fit into one batch. */
export const WEBHOOK_PAYLOAD_MAX_BYTES = 8_192
/** How long a receiver may take to answer. */
export const WEBHOOK_TIMEOUT_MS = 10_000
/** How often a delivery is tried in all where a webhook does not say. */
export const WEBHOOK_ATTEMPTS = 8
/** The most tries that a webhook may ask for. */
export const WEBHOOK_ATTEMPTS_MAX = 20
/** The wait before the second try of a delivery where a webhook does not say; it doubles with each further try. */
export const WEBHOOK_FIRST_DELAY_MS = 5_000
/** The longest wait between two tries of a delivery. */
export const WEBHOOK_MAX_DELAY_MS = 3_600_000
/** How many deliveries of one webhook are under way at the same time. */
export const WEBHOOK_IN_FLIGHT = 4
/** How many events are taken out of the outbox at a time. */
export const OUTBOX_PAGE_EVENTS = 100
/** How often an instance that does not deliver webhooks looks whether it is to, and how long one waits that cannot just now. */
export const WEBHOOK_LOOK_MS = 1_000
/** How long the right to deliver webhooks is held without being renewed. */
export const WEBHOOK_LEASE_MS = 15_000
/** The right to deliver webhooks is renewed this many times within the time that it is held for. */
export const WEBHOOK_LEASE_ROUNDS = 3
/** How many dead deliveries one request lets begin anew. */
export const WEBHOOK_REVIVED_MAX = 1_000
/** How long a delivery that was given up is kept, to be looked at and sent again. */
export const WEBHOOK_DEAD_KEPT_MS = 2_592_000_000
