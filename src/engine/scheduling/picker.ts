/** The attempts that one poll gets. */

import type { ScheduleState } from './schedule-state.ts'
import type { Waiting } from './waiting.ts'
import type { Group, WaitingQueue } from './waiting-queue.ts'

interface Poll {
  readonly taskType: string
  readonly domain?: string | undefined
  readonly executor: string
  readonly nowMs: number
}

/** Tasks that one poll leaves for other workers before it gets nothing. */
const LEFT_MAX = 256

/** One poll: the tasks that it gets, one after the other. Meanwhile room can only become less. */
export class Picker {
  readonly #state: ScheduleState
  readonly #queue: WaitingQueue
  readonly #poll: Poll
  /** Groups without a task for this poll. */
  readonly #unable = new Set<Group>()
  /** Of groups whose first tasks are left for other workers: how many. */
  readonly #left = new Map<Group, number>()
  #leaves = 0

  constructor(state: ScheduleState, queue: WaitingQueue, poll: Poll) {
    this.#state = state
    this.#queue = queue
    this.#poll = poll
  }

  next(): Waiting | undefined {
    const next = this.#aged() ?? this.#others()
    if (next !== undefined) this.#queue.noteHandOut(next)
    return next
  }

  #aged(): Waiting | undefined {
    const aged = oldestAged(this.#state, this.#queue, this.#poll.nowMs)
    // In turn with urgent ones: otherwise, after a backlog, nothing urgent would go first any more.
    if (aged !== undefined && this.#queue.isTurnOfAged) {
      const { nowMs } = this.#poll
      if (!this.#state.capacity.fits(aged, { isAged: true, nowMs })) this.#state.capacity.hold(aged, nowMs)
      else if (this.#mayTake(aged)) {
        this.#queue.isTurnOfAged = false
        return aged
      }
    }
    this.#queue.isTurnOfAged = true
    return undefined
  }

  #others(): Waiting | undefined {
    if (this.#state.capacity.isFull) return undefined
    return this.#overtaken() ?? this.#mostUrgent()
  }

  /**
   * Long before anything has aged: without this, whatever is less urgent than what other executions keep bringing would wait until
   * then. What does not fit is passed over here; room is kept for it once it has aged.
   */
  #overtaken(): Waiting | undefined {
    if (this.#queue.overtakes < this.#state.options.overtakesMax) return undefined
    for (const group of this.#queue.byAge()) {
      const first = group.byAge.at(0)
      if (first === undefined || this.#unable.has(group)) continue
      if (!this.#isAble(group)) {
        this.#unable.add(group)
        continue
      }
      if (!this.#mayTake(first)) return undefined
      this.#queue.overtakes = 0
      return first
    }
    return undefined
  }

  #mostUrgent(): Waiting | undefined {
    for (;;) {
      const found = this.#best()
      if (found === undefined) return undefined
      const [group, best] = found
      if (this.#mayTake(best)) return best
      if (++this.#leaves > LEFT_MAX) return undefined
      this.#left.set(group, (this.#left.get(group) ?? 0) + 1)
    }
  }

  #best(): readonly [Group, Waiting] | undefined {
    let found: readonly [Group, Waiting] | undefined
    for (const group of this.#queue.byUrgency()) {
      if (this.#unable.has(group)) continue
      const left = this.#left.get(group) ?? 0
      const first = group.byUrgency.at(left)
      if (first === undefined || !this.#isAble(group)) {
        this.#unable.add(group)
        continue
      }
      const candidate = [group, first] as const
      if (found === undefined || this.#queue.compareIn(candidate, found) < 0) found = candidate
      // All that follow are less urgent. After one whose first tasks are left, that need not be so.
      if (left === 0) break
    }
    return found
  }

  /** Of the members of a group, either all fit or none. */
  #isAble({ byUrgency }: Group): boolean {
    const first = byUrgency.at(0)
    if (first === undefined || !this.#state.breakers.allows(first.target, this.#poll.nowMs)) return false
    return this.#state.capacity.fits(first, { isAged: false, nowMs: this.#poll.nowMs })
  }

  #mayTake(waiting: Waiting): boolean {
    const { executor, nowMs } = this.#poll
    return this.#state.balancer.mayTake(waiting, { queue: this.#state.keyOf(this.#poll), executor, nowMs })
  }
}

function oldestAged(state: ScheduleState, queue: WaitingQueue, nowMs: number): Waiting | undefined {
  const { ageAfterMs } = state.options
  if (ageAfterMs === Infinity) return undefined
  for (const { byAge } of queue.byAge()) {
    const first = byAge.at(0)
    if (first === undefined || nowMs - first.dueMs < ageAfterMs) return undefined
    if (state.breakers.allows(first.target, nowMs)) return first
  }
  return undefined
}
