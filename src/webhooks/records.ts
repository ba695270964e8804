/** What the store holds of webhooks and of deliveries to them. */

export interface WebhookRetry {
  /** Attempts in all, the first included. */
  readonly attempts: number
  /** The wait before the second attempt; it doubles with each further one. */
  readonly firstDelayMs: number
}

export interface WebhookRecord {
  readonly id: string
  /** Whose events it is sent; absent for the default tenant. */
  readonly tenant?: string
  readonly url: string
  /** Event types, or patterns of them. */
  readonly types: readonly string[]
  /** Deliveries are signed with it. Shown once, when the webhook is added. */
  readonly secret: string
  readonly retry: WebhookRetry
  readonly createdAt: string
}

/** One event to be sent to one webhook. */
export interface DeliveryRecord {
  /** Begins with the webhook's id and a dash. */
  readonly id: string
  readonly webhook: string
  readonly executionId: string
  readonly eventType: string
  /** What is sent, as JSON. */
  readonly body: string
  /** The span that the event belongs to, as W3C Trace Context writes it. */
  readonly traceparent?: string
  /** Attempts so far. */
  readonly attempts: number
  /** When it is attempted next; in ISO 8601. */
  readonly nextAt: string
  readonly lastProblem?: string
  /** Set after the last attempt failed. */
  readonly gaveUpAt?: string
}

/** Kept while deliveries to a webhook are dead at once because too many wait. */
export interface OverflowRecord {
  readonly webhook: string
  readonly since: string
  /** Which limit is reached. */
  readonly problem: string
}

/** Of a secret in the form of Standard Webhooks; base64 follows. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_'

/** The collection of webhooks among the records of the server. */
export const WEBHOOKS = 'webhooks'
/** The collection of those that are over a limit. */
export const OVERFLOWS = 'webhook-overflows'
