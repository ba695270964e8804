/**
 * Knows which servers are away. One for all connections of a process, told by the outcomes of their requests; whatever they
 * say, only a probe decides that a server is away, because one object or one operation may be in trouble alone.
 *
 * | a server is | becomes | when |
 * |---|---|---|
 * | there | doubted | a request got no answer, or one of a server in trouble; or nothing was heard of it for a while |
 * | doubted | away | the probe fails as well, and no request has succeeded since it began |
 * | doubted, away | there | a probe or a request succeeds |
 */

import { abortReason, type Clock } from '../base/clock.ts'
import { unlessAborted } from '../base/abort-signals.ts'
import { messageOf } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import { once } from '../base/once.ts'
import type { Availability, ExchangeEnd } from './availability.ts'
import {
  SERVER_AWAY_PROBE_MAX_MS,
  SERVER_AWAY_PROBE_MS,
  SERVER_AWAY_WAIT_MS,
  SERVER_PROBE_TIMEOUT_MS,
  SERVER_QUIET_MS,
  SERVER_WATCH_TICK_MS,
} from './limits.ts'

/** Resolves when the server works, whatever it answered; rejects with the reason when it does not. */
export type Probe = (signal: AbortSignal) => Promise<unknown>

export interface AwayServer<Name extends string = string> {
  readonly what: Name
  /** One sentence. */
  readonly why: string
  /** On the clock's monotonic scale, like all times here. */
  readonly sinceMs: number
}

export interface ServerDescription<Name extends string> {
  readonly what: Name
  /** For messages: `lakeFS`. */
  readonly title: string
  readonly probe: Probe
}

export interface ServerWatchOptions<Name extends string> {
  /** Asked once for each origin. */
  readonly describe: (origin: string) => ServerDescription<Name>
  /** Watched from the beginning, and probed when nothing is heard of it. */
  readonly main: string
  readonly clock: Clock
  readonly logger: Logger
}

export class ServerWatch<Name extends string> implements Availability {
  readonly #options: ServerWatchOptions<Name>
  readonly #servers = new Map<string, WatchedServer<Name>>()
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  readonly #loop: Promise<void>
  readonly close = once(async () => {
    this.#closing.abort(new Error('the watch over the servers is closed'))
    await this.#loop
  })

  constructor(options: ServerWatchOptions<Name>) {
    this.#options = options
    this.#serverOf(options.main).doubt()
    this.#loop = this.#look()
  }

  /** The servers that are away now. */
  outages(): readonly AwayServer<Name>[] {
    return [...this.#servers.values()].flatMap(({ away }) => (away === undefined ? [] : [away]))
  }

  /** `listener` is called after each change of `outages`. Returns the end of it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  watch(origin: string): (end: ExchangeEnd) => void {
    const server = this.#serverOf(origin)
    server.begun++
    return (end) => {
      server.begun--
      if (end === 'no-answer' || (end !== 'given-up' && end >= 500)) server.doubt()
      // Any other status may be a proxy's that answers in its place.
      else if (end !== 'given-up' && end >= 200 && end < 300) server.hear()
    }
  }

  async untilBack(signal: AbortSignal | undefined): Promise<boolean> {
    // The request that has just failed began a probe; what it finds is awaited.
    await unlessAborted(this.#settled(), signal)
    let hasWaited = false
    for (;;) {
      const since = this.outages().map(({ sinceMs }) => sinceMs)
      if (since.length === 0) return hasWaited
      const leftMs = Math.min(...since) + SERVER_AWAY_WAIT_MS - this.#options.clock.monotonicMs()
      if (leftMs <= 0) return false
      hasWaited = true
      await this.#untilChange(leftMs, signal)
    }
  }

  /** A server that was away at some time since then; asks them again where none was. */
  async findAwaySince(sinceMs: number): Promise<AwayServer<Name> | undefined> {
    const known = this.#awaySince(sinceMs)
    if (known !== undefined) return known
    for (const server of this.#servers.values()) server.doubt()
    await this.#settled()
    return this.#awaySince(sinceMs)
  }

  #awaySince(sinceMs: number): AwayServer<Name> | undefined {
    for (const { away, wasAway } of this.#servers.values()) {
      if (away !== undefined) return away
      if (wasAway !== undefined && wasAway.untilMs >= sinceMs) return wasAway.outage
    }
    return undefined
  }

  #serverOf(origin: string): WatchedServer<Name> {
    let server = this.#servers.get(origin)
    if (server === undefined) {
      const { clock, logger, describe } = this.#options
      server = new WatchedServer({
        ...describe(origin),
        ...{ origin, clock, logger },
        closing: this.#closing.signal,
        onChange: () => this.#listeners.forEach((listen) => listen()),
      })
      this.#servers.set(origin, server)
    }
    return server
  }

  async #settled(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.settled()))
  }

  async #untilChange(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const over = new AbortController()
    const changed = new Promise<void>((resolve) => {
      const end = this.onChange(resolve)
      over.signal.addEventListener('abort', end, { once: true })
    })
    const tooLong = this.#options.clock.sleep(waitMs, over.signal).catch(() => undefined)
    try {
      await unlessAborted(Promise.race([changed, tooLong]), signal)
    } finally {
      over.abort(abortReason(undefined))
    }
  }

  async #look(): Promise<void> {
    const { clock, main } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted) {
      for (const [origin, server] of this.#servers) server.look({ isMain: origin === main })
      await clock.sleep(SERVER_WATCH_TICK_MS, signal).catch(() => undefined)
    }
    await this.#settled()
  }
}

interface WatchedServerOptions<Name extends string> extends ServerDescription<Name> {
  readonly origin: string
  readonly clock: Clock
  readonly logger: Logger
  readonly closing: AbortSignal
  readonly onChange: () => void
}

class WatchedServer<Name extends string> {
  /** Requests whose end is not known. */
  begun = 0
  away: AwayServer<Name> | undefined
  /** The last outage that is over. */
  wasAway: { readonly outage: AwayServer<Name>; readonly untilMs: number } | undefined
  #probing: Promise<void> | undefined
  readonly #of: WatchedServerOptions<Name>
  #heardAtMs: number
  #nextProbeAtMs = 0
  #probePauseMs = SERVER_AWAY_PROBE_MS

  constructor(of: WatchedServerOptions<Name>) {
    this.#of = of
    this.#heardAtMs = of.clock.monotonicMs()
  }

  /** A request has succeeded. */
  hear(): void {
    const nowMs = this.#of.clock.monotonicMs()
    this.#heardAtMs = nowMs
    if (this.away === undefined) return
    this.wasAway = { outage: this.away, untilMs: nowMs }
    this.away = undefined
    this.#probePauseMs = SERVER_AWAY_PROBE_MS
    this.#of.onChange()
  }

  /** Probes, unless a probe is under way. */
  doubt(): void {
    if (!this.#of.closing.aborted) this.#probing ??= this.#probe().finally(() => (this.#probing = undefined))
  }

  /** Resolves when no probe is under way. */
  async settled(): Promise<void> {
    await this.#probing
  }

  /** Probes when it is time to. */
  look({ isMain }: { readonly isMain: boolean }): void {
    const nowMs = this.#of.clock.monotonicMs()
    const isQuiet = nowMs - this.#heardAtMs >= SERVER_QUIET_MS && (isMain || this.begun > 0)
    if (this.away === undefined ? isQuiet : nowMs >= this.#nextProbeAtMs) this.doubt()
  }

  async #probe(): Promise<void> {
    const { clock, closing } = this.#of
    const beganAtMs = clock.monotonicMs()
    const over = new AbortController()
    const late = clock.sleep(SERVER_PROBE_TIMEOUT_MS, over.signal).then(
      () => over.abort(new Error(`no answer within ${SERVER_PROBE_TIMEOUT_MS} ms`)),
      () => undefined,
    )
    const onClosing = (): void => over.abort(abortReason(closing))
    closing.addEventListener('abort', onClosing, { once: true })
    try {
      await this.#of.probe(over.signal)
      this.hear()
    } catch (error) {
      if (!closing.aborted && this.#heardAtMs <= beganAtMs) this.#missed(error, beganAtMs)
    } finally {
      closing.removeEventListener('abort', onClosing)
      over.abort(abortReason(undefined))
      await late
    }
  }

  #missed(error: unknown, beganAtMs: number): void {
    const { clock, logger, title, what, origin, onChange } = this.#of
    const nowMs = clock.monotonicMs()
    this.#nextProbeAtMs = nowMs + this.#probePauseMs
    this.#probePauseMs = Math.min(this.#probePauseMs * 2, SERVER_AWAY_PROBE_MAX_MS)
    if (this.away !== undefined) return
    const why = `${title} is away: ${messageOf(error)}`
    logger.debug('a server is away', { origin, error })
    this.away = { what, why, sinceMs: beganAtMs }
    onChange()
  }
}
