// Everything that could go one way or another in a simulated world is asked here, and one list of answers replays a world.
// The answer 0 is always the calm one: go on with whoever acts already, without a fault.
import { seededRandom, type Random } from '../../src/base/random.ts'

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

interface Branching {
  readonly options: number
  picked: number
}

/** Goes through all answers, one world after the other, and leaves out what begins in a state that was seen. */
export class SystematicDecider implements Decider {
  readonly #path: Branching[] = []
  readonly #seen = new Set<string>()
  #depth = 0

  get states(): number {
    return this.#seen.size
  }

  get picks(): readonly number[] {
    return this.#path.slice(0, this.#depth).map(({ picked }) => picked)
  }

  pick(question: Question, options: number, describe: () => string): number {
    const known = this.#path[this.#depth]
    if (known !== undefined) {
      this.#depth++
      if (known.options !== options) throw new Error('a world was not the same when it was replayed')
      return known.picked
    }
    const state = digest(`${question}${options}${describe()}`)
    if (this.#seen.has(state)) throw new Pruned()
    this.#seen.add(state)
    this.#path.push({ options, picked: 0 })
    this.#depth++
    return 0
  }

  /** Whether there is another world. */
  next(): boolean {
    this.#depth = 0
    for (let last = this.#path.at(-1); last !== undefined; last = this.#path.at(-1)) {
      last.picked++
      if (last.picked < last.options) return true
      this.#path.pop()
    }
    return false
  }
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
