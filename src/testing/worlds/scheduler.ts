/** Who waits for what, and whose clock shows what. Everything that waits, waits here; the world lets one of them go on. */

import { isAborted } from '../../base/abort-signals.ts'
import { abortReason, type Clock } from '../../base/clock.ts'
import { digest } from './decisions.ts'

export interface Waiter {
  readonly actor: string
  readonly what: string
  /** A request that writes and has not arrived yet. */
  readonly isOnItsWay: boolean
  /** Whoever waits does so of its own will, and others go on meanwhile. */
  readonly isIdle: boolean
  /** Sleeps until it is told to end; only the world wakes it. */
  readonly isBackground: boolean
  /** Of a sleep, on the clock of whoever sleeps. */
  readonly untilMs: number
  readonly goOn: () => void
}

interface ActorState {
  /** A digest of all that it was answered. */
  heard: string
  nowMs: number
  /** How often its clock is read before it jumps. */
  readsUntilStall: number
  /** Told the time when the clock is read next, and once more: what arrived before has been taken by then. */
  onRead: { readonly tell: (nowMs: number) => void; readsLeft: number }[]
  isDead: boolean
}

/** Longer than answers about attempt and branch stay good. */
const STALL_MS = 400
const ANSWER_MS = 1
const READS_UNTIL_TAKEN = 2
const EPOCH = new Date(1_700_000_000_000)
export const WIRE = 'wire'

export class Scheduler {
  waiting: Waiter[] = []
  /** Who went on last. */
  current = ''
  steps = 0
  readonly #actors = new Map<string, ActorState>()
  readonly #settle: () => Promise<void>

  /** `settle` resolves when all that follows from a step has happened. */
  constructor(settle: () => Promise<void>) {
    this.#settle = settle
  }

  /** Waits for its turn. Whoever has died waits for ever. */
  pause(
    actor: string,
    what: string,
    of: {
      readonly isOnItsWay?: boolean
      readonly isIdle?: boolean
      readonly isBackground?: boolean
      readonly untilMs?: number
      readonly signal?: AbortSignal | undefined
    } = {},
  ): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stateOf(actor).isDead) return
      const { isOnItsWay = false, isIdle = false, isBackground = false, untilMs = 0, signal } = of
      const onAbort = (): void => {
        const isWaiting = this.waiting.includes(waiter)
        this.waiting = this.waiting.filter((one) => one !== waiter)
        if (isWaiting) resolve()
      }
      const goOn = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const waiter = { actor, what, isOnItsWay, isIdle, isBackground, untilMs, goOn }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.waiting.push(waiter)
    })
  }

  /** Those who may go on; the first is the one that goes on without being interrupted. */
  candidates(): readonly Waiter[] {
    const waiting = this.waiting.filter(({ isBackground }) => !isBackground)
    const first = waiting.find(({ actor, isIdle }) => actor === this.current && !isIdle)
    if (first !== undefined) return [first, ...waiting.filter((one) => one !== first)]
    if (!waiting.some(({ isIdle }) => isIdle)) return waiting
    return waiting.sort((a, b) => Number(a.isIdle) - Number(b.isIdle))
  }

  /** The sleeps that only the world ends, the shortest first. */
  sleeping(actor: string): readonly Waiter[] {
    return this.waiting
      .filter((waiter) => waiter.isBackground && waiter.actor === actor)
      .sort((a, b) => a.untilMs - b.untilMs)
  }

  /** Lets one of them go on, and everything that follows from it happen. */
  async step(waiter: Waiter): Promise<void> {
    this.steps++
    this.waiting = this.waiting.filter((one) => one !== waiter)
    if (waiter.actor !== WIRE) this.current = waiter.actor
    waiter.goOn()
    await this.#settle()
  }

  /** Ends a sleep. */
  wake(waiter: Waiter): void {
    this.waiting = this.waiting.filter((one) => one !== waiter)
    waiter.goOn()
  }

  /** Ends an actor where it stands, and gives its requests that are on their way. */
  kill(actor: string): readonly Waiter[] {
    this.#stateOf(actor).isDead = true
    const own = this.waiting.filter((waiter) => waiter.actor === actor)
    this.waiting = this.waiting.filter((waiter) => waiter.actor !== actor)
    return own.filter(({ isOnItsWay }) => isOnItsWay)
  }

  /** Those who wait, each once. */
  alive(): readonly string[] {
    const names = new Set(this.waiting.map(({ actor }) => actor))
    names.delete(WIRE)
    return [...names]
  }

  /** What an actor is about to do. */
  waitsFor(actor: string): readonly string[] {
    return this.waiting.filter((waiter) => waiter.actor === actor).map(({ what }) => what)
  }

  isDead(actor: string): boolean {
    return this.#stateOf(actor).isDead
  }

  hear(actor: string, answer: string): void {
    const state = this.#stateOf(actor)
    state.heard = digest(state.heard + answer)
    state.nowMs += ANSWER_MS
  }

  onNextRead(actor: string, tell: (nowMs: number) => void): void {
    this.#stateOf(actor).onRead.push({ tell, readsLeft: READS_UNTIL_TAKEN })
  }

  stall(actor: string, reads: number): void {
    this.#stateOf(actor).readsUntilStall = reads
  }

  nowMs(actor: string): number {
    return this.#stateOf(actor).nowMs
  }

  /**
   * Each has a clock of its own, which goes on while it waits for an answer, sleeps or stalls. With `isBackground` a sleep that
   * a signal ends lasts until then, or until the world wakes it.
   */
  clockFor(actor: string, of: { readonly isBackground?: boolean } = {}): Clock {
    const state = this.#stateOf(actor)
    return {
      now: () => EPOCH,
      monotonicMs: () => {
        if (--state.readsUntilStall === 0) state.nowMs += STALL_MS
        for (const note of state.onRead) note.tell(state.nowMs)
        state.onRead = state.onRead.filter((note) => --note.readsLeft > 0)
        return state.nowMs
      },
      sleep: async (durationMs, signal) => {
        if (signal?.aborted === true) throw abortReason(signal)
        const isBackground = of.isBackground === true && signal !== undefined
        const untilMs = state.nowMs + durationMs
        await this.pause(actor, 'sleep', { isIdle: true, isBackground, untilMs, signal })
        if (signal !== undefined && isAborted(signal)) throw abortReason(signal)
        state.nowMs = Math.max(state.nowMs, untilMs)
      },
    }
  }

  /** All that matters of those who wait, and of what they know. */
  describe(): string {
    const actors = [...this.#actors].map(
      ([name, { heard, isDead, readsUntilStall }]) =>
        `${name}${isDead ? '+' : heard}${readsUntilStall > 0 ? readsUntilStall : ''}`,
    )
    const waiting = this.waiting.map(({ actor, what }) => `${actor}:${what}`)
    return `${this.current}|${actors.sort().join()}|${waiting.sort().join()}`
  }

  #stateOf(actor: string): ActorState {
    let state = this.#actors.get(actor)
    if (state === undefined) {
      state = { heard: '', nowMs: 0, readsUntilStall: 0, onRead: [], isDead: false }
      this.#actors.set(actor, state)
    }
    return state
  }
}

/** Lets pending promise jobs and the next turn of the event loop run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
