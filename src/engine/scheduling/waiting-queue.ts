/**
 * What waits for polls of one task type and domain. Attempts that need the same are one group: where one does not fit, none of them
 * does. Groups are kept in the order in which they would be served, so a poll looks at those alone that cannot be served now, and at
 * what it gets.
 */

import { compareAge, type Load, type Strategy } from './order.ts'
import { SortedList } from './sorted-list.ts'
import type { Waiting } from './waiting.ts'

export interface Group {
  readonly key: string
  readonly workflowId: Waiting['workflowId']
  /** The most urgent one first. */
  readonly byUrgency: SortedList<Waiting>
  /** The one that is due the longest first. */
  readonly byAge: SortedList<Waiting>
  /** How many tasks of its execution run, as far as the order looks at it. */
  load: number
}

export class WaitingQueue {
  readonly #strategy: Strategy
  readonly #load: Load
  readonly #groups = new Map<string, Group>()
  readonly #byExecution = new Map<Waiting['workflowId'], Set<Group>>()
  /** By their first attempts. */
  readonly #byUrgency: SortedList<Group>
  readonly #byAge = new SortedList<Group>((one, other) => compareFirst(one.byAge, other.byAge, compareAge))
  /** Not due yet. */
  readonly #later = new SortedList<Waiting>(compareAge)
  /** Whether the next task goes to one that has waited too long, rather than to the most urgent one. */
  isTurnOfAged = true
  /** How many tasks that became due later have been handed out since the one due longest had its turn. */
  overtakes = 0

  constructor(strategy: Strategy, load: Load) {
    this.#strategy = strategy
    this.#load = load
    this.#byUrgency = new SortedList((one, other) => this.#compare(one, other))
  }

  get hasDue(): boolean {
    return this.#groups.size > 0
  }

  /** The one with the most urgent attempt first. */
  byUrgency(): Iterable<Group> {
    return this.#byUrgency
  }

  /** The one with the attempt that is due the longest first. */
  byAge(): Iterable<Group> {
    return this.#byAge
  }

  /** Negative: the attempt of the first group goes before the one of the second. */
  compareIn(one: readonly [Group, Waiting], other: readonly [Group, Waiting]): number {
    return one[0].load - other[0].load || this.#strategy.compare(one[1], other[1])
  }

  /** Before it is deleted. */
  noteHandOut({ dueMs, taskId }: Waiting): void {
    const oldest = this.#byAge.at(0)?.byAge.at(0)
    if (oldest === undefined) return
    if (oldest.taskId === taskId) this.overtakes = 0
    else if (dueMs > oldest.dueMs) this.overtakes++
  }

  add(waiting: Waiting, nowMs: number): void {
    if (waiting.dueMs > nowMs) {
      this.#later.add(waiting)
      return
    }
    const group = this.#groups.get(keyOf(waiting)) ?? this.#newGroup(waiting)
    this.#unplace(group)
    group.byUrgency.add(waiting)
    group.byAge.add(waiting)
    this.#place(group)
  }

  delete(waiting: Waiting): void {
    this.#later.delete(waiting)
    const group = this.#groups.get(keyOf(waiting))
    if (group === undefined) return
    this.#unplace(group)
    group.byUrgency.delete(waiting)
    group.byAge.delete(waiting)
    if (group.byUrgency.size > 0) this.#place(group)
    else this.#drop(group)
  }

  /** The number of running tasks of this execution has changed. */
  reload(workflowId: Waiting['workflowId']): void {
    if (!this.#strategy.isFair) return
    for (const group of this.#byExecution.get(workflowId) ?? []) {
      this.#unplace(group)
      group.load = this.#load(workflowId)
      this.#place(group)
    }
  }

  /** Moves what has become due to the groups. */
  ripen(nowMs: number): void {
    for (let next = this.#later.at(0); next !== undefined && next.dueMs <= nowMs; next = this.#later.at(0)) {
      this.#later.delete(next)
      this.add(next, nowMs)
    }
  }

  /** When the next one becomes due. */
  nextDueMs(): number | undefined {
    return this.#later.at(0)?.dueMs
  }

  #compare(one: Group, other: Group): number {
    return one.load - other.load || compareFirst(one.byUrgency, other.byUrgency, this.#strategy.compare)
  }

  #newGroup(waiting: Waiting): Group {
    const { workflowId } = waiting
    const group: Group = {
      key: keyOf(waiting),
      workflowId,
      byUrgency: new SortedList(this.#strategy.compare),
      byAge: new SortedList(compareAge),
      load: this.#strategy.isFair ? this.#load(workflowId) : 0,
    }
    this.#groups.set(group.key, group)
    const others = this.#byExecution.get(workflowId) ?? new Set()
    this.#byExecution.set(workflowId, others.add(group))
    return group
  }

  #drop(group: Group): void {
    this.#groups.delete(group.key)
    const others = this.#byExecution.get(group.workflowId)
    others?.delete(group)
    if (others?.size === 0) this.#byExecution.delete(group.workflowId)
  }

  #place(group: Group): void {
    this.#byUrgency.add(group)
    this.#byAge.add(group)
  }

  /** Before anything of it changes that decides where it is found. */
  #unplace(group: Group): void {
    if (group.byUrgency.size === 0) return
    this.#byUrgency.delete(group)
    this.#byAge.delete(group)
  }
}

function compareFirst(
  one: SortedList<Waiting>,
  other: SortedList<Waiting>,
  compare: (one: Waiting, other: Waiting) => number,
): number {
  const [first, second] = [one.at(0), other.at(0)]
  return first === undefined || second === undefined ? 0 : compare(first, second)
}

function keyOf({
  workflowId,
  phase,
  demand,
  isCritical,
  affinity,
  target,
  concurrentExecLimit,
}: Waiting): string {
  const { cpu = 0, memoryBytes = 0, gpu = 0 } = demand
  return JSON.stringify([
    ...[workflowId, phase, cpu, memoryBytes, gpu, isCritical],
    ...[affinity ?? null, target ?? null, concurrentExecLimit],
  ])
}
