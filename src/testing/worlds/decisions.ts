/**
 * Everything that could go one way or another in a simulated world is asked here, and one list of answers replays a world.
 * The answer 0 is always the calm one: go on with whoever acts already, without a fault.
 */

import { seededRandom, type Random } from '../../base/random.ts'

/** `turn`: who goes on; the others are faults and events. */
export type Question = 'turn' | 'fault' | 'event' | 'stall' | 'choice'

export interface Decider {
  /** At least 0, below `options`. `describe` gives all that matters of the world in this moment. */
  pick(question: Question, options: number, describe: () => string): number
}

/** Thrown where a world need not go on: the rest of it is known. */
export class Pruned extends Error {}

/** How often a question is answered otherwise than calmly. */
const CHANCES: Readonly<Record<Question, number>> = {
  turn: 1,
  fault: 0.05,
  event: 0.02,
  stall: 0.02,
  choice: 0.5,
}

export class RandomDecider implements Decider {
  readonly picks: number[] = []
  readonly #random: Random
  readonly #stickiness: number

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    // Some worlds change at every step, some rarely: races of both kinds are found.
    this.#stickiness = this.#random.next() * 0.9
  }

  pick(question: Question, options: number): number {
    const pick = this.#draw(question, options)
    this.picks.push(pick)
    return pick
  }

  #draw(question: Question, options: number): number {
    if (question === 'turn')
      return this.#random.next() < this.#stickiness ? 0 : Math.floor(this.#random.next() * options)
    if (this.#random.next() >= CHANCES[question]) return 0
    return question === 'choice'
      ? Math.floor(this.#random.next() * options)
      : 1 + Math.floor(this.#random.next() * (options - 1))
  }
}

/** Answers as it was answered before; beyond the end, calmly. */
export class ReplayDecider implements Decider {
  readonly picks: number[] = []
  readonly #answers: readonly number[]

  constructor(answers: readonly number[]) {
    this.#answers = answers
  }

  pick(_: Question, options: number): number {
    const answer = this.#answers[this.picks.length] ?? 0
    const pick = answer < options ? answer : 0
    this.picks.push(pick)
    return pick
  }
}

/** One answer, and those that were given before it in the same world. */
interface Answered {
  readonly before: Answered | undefined
  readonly options: number
  readonly picked: number
}

/**
 * Goes through all answers, one world after the other, and leaves out what begins in a state that was seen. Worlds with fewer
 * answers that are not calm come first, so that a part of them has one fault at every point already, before any has two.
 */
export class SystematicDecider implements Decider {
  readonly #waiting: Answered[] = []
  readonly #seen = new Set<string>()
  readonly #leavesOutKnown: boolean
  #begun = 0
  /** What this world begins with. */
  #known: readonly Answered[] = []
  #last: Answered | undefined
  #depth = 0

  /** Without `leavesOutKnown` a state that was seen is gone through again: code may remember what no state shows. */
  constructor({ leavesOutKnown = true }: { readonly leavesOutKnown?: boolean } = {}) {
    this.#leavesOutKnown = leavesOutKnown
  }

  get states(): number {
    return this.#seen.size
  }

  /** Worlds that are known and have not begun. */
  get waiting(): number {
    return this.#waiting.length - this.#begun
  }

  get picks(): readonly number[] {
    return pathTo(this.#last).map(({ picked }) => picked)
  }

  pick(question: Question, options: number, describe: () => string): number {
    const known = this.#known[this.#depth]
    if (known !== undefined && known.options !== options && this.#leavesOutKnown)
      throw new Error('a world was not the same when it was replayed')
    if (known === undefined) {
      if (this.#leavesOutKnown) this.#leaveOutKnown(`${question}${options}${describe()}`)
      for (let picked = 1; picked < options; picked++)
        this.#waiting.push({ before: this.#last, options, picked })
    }
    this.#last = known ?? { before: this.#last, options, picked: 0 }
    this.#depth++
    return this.#last.picked < options ? this.#last.picked : 0
  }

  /** Whether there is another world. */
  next(): boolean {
    const begin = this.#waiting[this.#begun++]
    this.#known = pathTo(begin)
    this.#last = undefined
    this.#depth = 0
    return begin !== undefined
  }

  #leaveOutKnown(state: string): void {
    const short = digest(state)
    if (this.#seen.has(short)) throw new Pruned()
    this.#seen.add(short)
  }
}

function pathTo(last: Answered | undefined): Answered[] {
  const path: Answered[] = []
  for (let one = last; one !== undefined; one = one.before) path.push(one)
  return path.reverse()
}

/** 64 bits of a text, as another text. */
export function digest(text: string): string {
  let low = 0x811c9dc5
  let high = 0x9e3779b9
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ code, 0x5bd1e995)
    high ^= high >>> 15
  }
  return `${(low >>> 0).toString(36)}.${(high >>> 0).toString(36)}`
}
