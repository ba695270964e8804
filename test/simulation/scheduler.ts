// Who waits for what, and whose clock shows what. Everything that waits, waits here; the world lets one of them go on.
import { abortReason, type Clock } from '../../src/base/clock.ts'
import { digest } from './decisions.ts'

export interface Waiter {
  readonly actor: string
  readonly what: string
  /** A request that writes and has not arrived yet. */
  readonly isOnItsWay: boolean
  /** Whoever waits does so of its own will, and others go on meanwhile. */
  readonly isIdle: boolean
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

  /** Waits for its turn. Whoever has died waits for ever. */
  pause(
    actor: string,
    what: string,
    of: { readonly isOnItsWay?: boolean; readonly isIdle?: boolean } = {},
  ): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stateOf(actor).isDead) return
      const { isOnItsWay = false, isIdle = false } = of
      this.waiting.push({ actor, what, isOnItsWay, isIdle, goOn: resolve })
    })
  }

  /** Those who may go on; the first is the one that goes on without being interrupted. */
  candidates(): readonly Waiter[] {
    const index = this.waiting.findIndex(({ actor, isIdle }) => actor === this.current && !isIdle)
    const first = this.waiting[index]
    if (first !== undefined) return [first, ...this.waiting.filter((one) => one !== first)]
    if (!this.waiting.some(({ isIdle }) => isIdle)) return this.waiting
    return this.waiting.toSorted((a, b) => Number(a.isIdle) - Number(b.isIdle))
  }

  /** Lets one of them go on, and everything that follows from it happen. */
  async step(waiter: Waiter): Promise<void> {
    this.steps++
    this.waiting = this.waiting.filter((one) => one !== waiter)
    if (waiter.actor !== WIRE) this.current = waiter.actor
    waiter.goOn()
    await settle()
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

  /** Each has a clock of its own, which goes on while it waits for an answer, sleeps or stalls. */
  clockFor(actor: string): Clock {
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
        await this.pause(actor, 'sleep', { isIdle: true })
        state.nowMs += durationMs
        if (isAborted(signal)) throw abortReason(signal)
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

/** As a call: control-flow analysis does not know that a signal changes during an await. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
