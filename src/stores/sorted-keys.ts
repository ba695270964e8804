/**
 * An ordered set of keys in memory: a sorted list of short sorted runs, so that adding and removing move few keys, however
 * many there are.
 */

import { compareKeys } from './key-order.ts'

const RUN_MAX = 512

export class SortedKeys {
  /** No run is empty. */
  readonly #runs: string[][] = []
  #size = 0
  /** Where the last key was added: the next one often goes right behind it, such as in a log. */
  #lastRun = 0
  #lastPlace = 0

  get size(): number {
    return this.#size
  }

  /** Returns false if it was there already. */
  add(key: string): boolean {
    if (this.#isRightBehindLast(key)) {
      this.#insert(this.#lastRun, this.#lastPlace + 1, key)
      return true
    }
    if (this.#runs.length === 0) this.#runs.push([])
    const at = Math.min(this.#runOf(key), this.#runs.length - 1)
    const run = this.#runs[at] ?? []
    const place = placeIn(run, key)
    if (run[place] === key) return false
    this.#insert(at, place, key)
    return true
  }

  #isRightBehindLast(key: string): boolean {
    const run = this.#runs[this.#lastRun]
    const last = run?.[this.#lastPlace]
    if (run === undefined || last === undefined || compareKeys(last, key) >= 0) return false
    const next = run[this.#lastPlace + 1] ?? this.#runs[this.#lastRun + 1]?.[0]
    return next === undefined || compareKeys(key, next) < 0
  }

  #insert(at: number, place: number, key: string): void {
    const run = this.#runs[at] ?? []
    if (place === run.length) run.push(key)
    else run.splice(place, 0, key)
    if (run.length > RUN_MAX) this.#runs.splice(at + 1, 0, run.splice(RUN_MAX / 2))
    const isInNext = place >= run.length
    this.#lastRun = isInNext ? at + 1 : at
    this.#lastPlace = isInNext ? place - run.length : place
    this.#size += 1
  }

  /** Returns false if it was not there. */
  delete(key: string): boolean {
    const at = this.#runOf(key)
    const run = this.#runs[at]
    if (run === undefined) return false
    const place = placeIn(run, key)
    if (run[place] !== key) return false
    run.splice(place, 1)
    if (run.length === 0) this.#runs.splice(at, 1)
    this.#size -= 1
    return true
  }

  /** Keys from `from` on, ascending. The set must not change meanwhile. */
  *ascending(from: string): Generator<string> {
    for (let at = this.#runOf(from), first = true; at < this.#runs.length; at += 1, first = false) {
      const run = this.#runs[at] ?? []
      for (let place = first ? placeIn(run, from) : 0; place < run.length; place += 1) yield run[place] ?? ''
    }
  }

  /** Keys below `below`, or all, descending. The set must not change meanwhile. */
  *descending(below: string | undefined): Generator<string> {
    const start = below === undefined ? this.#runs.length : this.#runOf(below)
    for (let at = Math.min(start, this.#runs.length - 1); at >= 0; at -= 1) {
      const run = this.#runs[at] ?? []
      const end = below !== undefined && at === start ? placeIn(run, below) : run.length
      for (let place = end - 1; place >= 0; place -= 1) yield run[place] ?? ''
    }
  }

  /** The first run whose last key is not below `key`; the number of runs when there is none. */
  #runOf(key: string): number {
    let [low, high] = [0, this.#runs.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(this.#runs[middle]?.at(-1) ?? '', key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The first place whose key is not below `key`. */
function placeIn(run: readonly string[], key: string): number {
  let [low, high] = [0, run.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(run[middle] ?? '', key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
