/** Whether a server is there at all: told by the outcomes of requests, asked before one that failed is given up. */

/** A status; or there was no complete response; or the caller gave the request up, which says nothing of the server. */
export type ExchangeEnd = number | 'no-answer' | 'given-up'

export interface Availability {
  /** Called for every exchange as it begins. What it returns is called when the exchange has ended. */
  watch(origin: string): (end: ExchangeEnd) => void
  /** Resolves with `true` when a server that was away is back; with `false` if none is away, or for too long already. */
  untilBack(signal: AbortSignal | undefined): Promise<boolean>
}
