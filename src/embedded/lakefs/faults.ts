/**
 * Faults on purpose, for tests of clients of the embedded server: which requests are answered wrongly, late, partly or
 * not at all. Random choices come from a seed that can be used again.
 */

import { randomInt } from 'node:crypto'

import { EMBEDDED_HISTORY_MAX, EMBEDDED_HISTORY_PATH_MAX_CHARS } from '../limits.ts'
import { seededRandom, type Random } from '../../base/random.ts'
import type { OperationName } from './http/operations.ts'

export type Fault =
  /** The connection drops before anything was done. */
  | { readonly kind: 'lose-before' }
  /** Everything is done, then the connection drops: the client cannot know. */
  | { readonly kind: 'lose-after' }
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** The status is answered, and nothing is done; or everything was done first. */
  | {
      readonly kind: 'answer'
      readonly status: 408 | 429 | 500 | 502 | 503
      readonly isDone?: true
      readonly retryAfterSeconds?: number
      /** Left out: what the real server says with this status. */
      readonly message?: string
    }
  /** Downloads only: the connection drops after this share (0 to 1) of the body. */
  | { readonly kind: 'cut-body'; readonly share: number }
  /** Downloads only: one byte comes out wrong; the first, unless another is named. */
  | { readonly kind: 'corrupt-body'; readonly byte?: number }

/** One request as a rule sees it. */
export interface FaultTarget {
  readonly operation: OperationName
  readonly method: string
  /** Path and query, as sent; signatures left out. */
  readonly path: string
}

/** One request as the server saw it, recorded before the answer was sent. */
export interface SeenRequest {
  readonly operation: OperationName | 'unknown'
  readonly method: string
  /** Path and query, as sent; signatures left out. */
  readonly path: string
  /** 0 when no answer was sent. */
  readonly status: number
  readonly fault?: Fault
}

export interface FaultRule {
  /** Left out: every operation. */
  readonly operation?: OperationName | readonly OperationName[]
  /** A further condition on the request. */
  readonly when?: (request: FaultTarget) => boolean
  /** Let this many matching requests pass first. */
  readonly skip?: number
  /** Apply this often, then never again; left out: always. */
  readonly times?: number
  /** 0 to 1, decided by the plan's own seeded generator; left out: 1. */
  readonly probability?: number
  readonly fault: Fault
}

interface ActiveRule {
  readonly rule: FaultRule
  toSkip: number
  left: number
}

/**
 * ```ts
 * const faults = new FaultPlan({ seed: 8841 })
 * faults.add({ operation: 'mergeIntoBranch', times: 1, fault: { kind: 'lose-after' } })
 * ```
 */
export class FaultPlan {
  /** Give it to the constructor to get the same choices again. */
  readonly seed: number
  readonly #random: Random
  #rules: ActiveRule[] = []
  #history: SeenRequest[] = []

  constructor(options: { readonly seed?: number } = {}) {
    this.seed = options.seed ?? randomInt(2 ** 31)
    this.#random = seededRandom(this.seed)
  }

  /** The latest requests, oldest first; bounded. */
  get history(): readonly SeenRequest[] {
    return this.#history
  }

  /** Adds a rule; the returned function removes it. Of several rules that match, the one added first applies. */
  add(rule: FaultRule): () => void {
    const active = { rule, toSkip: rule.skip ?? 0, left: rule.times ?? Number.POSITIVE_INFINITY }
    this.#rules = [...this.#rules, active]
    return () => {
      this.#rules = this.#rules.filter((other) => other !== active)
    }
  }

  /** Removes all rules; the history stays. */
  clear(): void {
    this.#rules = []
  }

  clearHistory(): void {
    this.#history = []
  }

  /** For the server: the fault of this request, if any. Counts the rules down. */
  strike(request: FaultTarget): Fault | undefined {
    for (const active of this.#rules) {
      if (active.left <= 0 || !matches(active.rule, request)) continue
      if (active.toSkip > 0) {
        active.toSkip -= 1
        continue
      }
      const { probability } = active.rule
      // Drawn only where it decides, so that one rule does not change the choices of another.
      if (probability !== undefined && this.#random.next() >= probability) continue
      active.left -= 1
      return active.rule.fault
    }
    return undefined
  }

  /** For the server: remembers a request. */
  record(seen: SeenRequest): void {
    this.#history.push({ ...seen, path: shortPath(seen.path) })
    if (this.#history.length > EMBEDDED_HISTORY_MAX)
      this.#history = this.#history.slice(-EMBEDDED_HISTORY_MAX / 2)
  }
}

/** A new string: a part of a long one would keep all of it in memory. */
function shortPath(path: string): string {
  if (path.length <= EMBEDDED_HISTORY_PATH_MAX_CHARS) return path
  return `${Buffer.from(path.slice(0, EMBEDDED_HISTORY_PATH_MAX_CHARS)).toString()}…`
}

function matches(rule: FaultRule, request: FaultTarget): boolean {
  const { operation } = rule
  const isNamed =
    operation === undefined ||
    (typeof operation === 'string' ? operation === request.operation : operation.includes(request.operation))
  return isNamed && (rule.when?.(request) ?? true)
}
