/** What the hooks did, newest first. In memory and bounded; nothing depends on it. */

import { randomBytes } from 'node:crypto'

import { EMBEDDED_ACTION_RUNS_MAX } from '../../limits.ts'
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

  add(repository: string, run: ActionRun): void {
    const runs = this.#byRepository.get(repository) ?? []
    // Ids get smaller with time, so the newest sorts first; runs may end in another order than they began.
    const index = runs.findIndex((other) => other.id > run.id)
    runs.splice(index < 0 ? runs.length : index, 0, run)
    this.#byRepository.set(repository, runs.slice(0, EMBEDDED_ACTION_RUNS_MAX))
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
    this.#byRepository.delete(repository)
  }
}

const TIME_SPAN = 32 ** 9

/** Twenty characters like those of the real server; a later run has a smaller id. */
export function newRunId(nowMs: number): string {
  const falling = (TIME_SPAN - nowMs).toString(32).padStart(9, '0')
  const random = [...randomBytes(11)].map((byte) => (byte % 32).toString(32)).join('')
  return `${falling}${random}`
}
