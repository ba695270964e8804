/** What the hooks did, newest first. In memory and bounded; nothing depends on it. */

import { randomBytes } from 'node:crypto'

import { EMBEDDED_ACTION_RUNS_MAX, EMBEDDED_ACTION_RUNS_MAX_BYTES } from '../../limits.ts'
import type { Page } from '../engine/engine.ts'

export interface HookRun {
  readonly id: string
  readonly actionName: string
  readonly hookId: string
  readonly status: 'completed' | 'failed' | 'skipped'
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly output: string
}

export interface ActionRun {
  readonly id: string
  readonly branch: string
  readonly commitId: string
  readonly eventType: string
  readonly passed: boolean
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly hooks: readonly HookRun[]
}

interface RunQuery {
  readonly after: string
  readonly amount: number
  /** Empty: any. */
  readonly branch: string
  readonly commit: string
}

export class ActionRuns {
  readonly #byRepository = new Map<string, ActionRun[]>()
  #bytes = 0

  add(repository: string, run: ActionRun): void {
    const runs = this.#byRepository.get(repository) ?? []
    // Ids get smaller with time, so the newest sorts first; runs may end in another order than they began.
    const index = runs.findIndex((other) => other.id > run.id)
    runs.splice(index < 0 ? runs.length : index, 0, run)
    this.#byRepository.set(repository, runs)
    this.#bytes += bytesOf(run)
    if (runs.length > EMBEDDED_ACTION_RUNS_MAX) this.#dropOldest(repository)
    while (this.#bytes > EMBEDDED_ACTION_RUNS_MAX_BYTES) this.#dropOldest(this.#findOldest())
  }

  get(repository: string, id: string): ActionRun | undefined {
    return this.#byRepository.get(repository)?.find((run) => run.id === id)
  }

  list(repository: string, query: RunQuery): Page<ActionRun> {
    const found = (this.#byRepository.get(repository) ?? []).filter(
      (run) =>
        run.id > query.after &&
        (query.branch === '' || run.branch === query.branch) &&
        (query.commit === '' || run.commitId === query.commit),
    )
    return { items: found.slice(0, query.amount), hasMore: found.length > query.amount }
  }

  /** A repository made again under the same name starts without runs. */
  forget(repository: string): void {
    for (const run of this.#byRepository.get(repository) ?? []) this.#bytes -= bytesOf(run)
    this.#byRepository.delete(repository)
  }

  #dropOldest(repository: string): void {
    const runs = this.#byRepository.get(repository)
    const oldest = runs?.pop()
    if (oldest !== undefined) this.#bytes -= bytesOf(oldest)
    if (runs?.length === 0) this.#byRepository.delete(repository)
  }

  /** The repository with the oldest run of all. */
  #findOldest(): string {
    let found = { repository: '', id: '' }
    for (const [repository, runs] of this.#byRepository) {
      const id = runs.at(-1)?.id ?? ''
      if (id > found.id) found = { repository, id }
    }
    return found.repository
  }
}

/** What a run takes in memory, roughly: two bytes a character, and its objects. */
function bytesOf(run: ActionRun): number {
  const texts = run.hooks.reduce(
    (chars, { actionName, hookId, output }) => chars + actionName.length + hookId.length + output.length,
    run.branch.length,
  )
  return 2 * texts + 500 * (1 + run.hooks.length)
}

const TIME_SPAN = 32 ** 9

/** Twenty characters like those of the real server; a later run has a smaller id. */
export function newRunId(nowMs: number): string {
  const falling = (TIME_SPAN - nowMs).toString(32).padStart(9, '0')
  const random = [...randomBytes(11)].map((byte) => (byte % 32).toString(32)).join('')
  return `${falling}${random}`
}
