/** A task of a plan: what its author gave, and what a run has made of it. */

import type { PlanStatus } from './plan-status.ts'
import type { PlanSpace } from './plan-space.ts'
import { SignalChannel } from './signal-channel.ts'

/** What the lint and the runner know of a task before it runs. */
export interface TaskDeclaration {
  /** Keys of the shared space that it reads. */
  readonly needs?: readonly string[]
  /** Keys that it sets. */
  readonly produces?: readonly string[]
  /** How often and when it is called again after a failure, before the next order begins; not unless given. */
  readonly retry?: PlanRetry
}

/** Tries again before the barrier of the task's order closes. */
export interface PlanRetry {
  /** Calls in all, the first one included. */
  readonly attempts: number
  /** Milliseconds before the next call, or a rule: `undefined` means not to try again. Default: 0. */
  readonly delayMs?: number | ((error: unknown, attempt: number) => number | undefined)
}

/** What a task gets to know of its run. */
export interface TaskContext {
  readonly planId: string
  readonly taskId: string
  /** 1 for the first call. */
  readonly attempt: number
  /** Aborted when the plan is stopped or cancelled, or when another task of the order fails. */
  readonly signal: AbortSignal
  /** Replaces the task's data; `GetTaskData` reads it. */
  SetData(data: unknown): void
}

export type TaskFunction = (context: TaskContext, sharedSpace: PlanSpace, signals: SignalChannel) => unknown

/** A task as `plan.tasks` shows it. */
export interface PlanTaskView {
  readonly id: string
  readonly order: number
  readonly function: TaskFunction
  /** `undefined` before its first call. */
  readonly context: TaskContext | undefined
  readonly signals: SignalChannel | undefined
  readonly status: PlanStatus
  readonly data: unknown
}

export interface NewTask {
  readonly id: string
  readonly order: number
  readonly function: TaskFunction
  readonly declaration: TaskDeclaration
}

/** One call of a task's function. */
export interface TaskCall {
  readonly context: TaskContext
  readonly signals: SignalChannel
  readonly abort: AbortController
}

export class PlanTask {
  readonly id: string
  readonly order: number
  readonly function: TaskFunction
  readonly declaration: TaskDeclaration
  #call: TaskCall | undefined
  #data: { readonly value: unknown } | undefined
  #result: unknown

  constructor({ id, order, function: run, declaration }: NewTask) {
    this.id = id
    this.order = order
    this.function = run
    this.declaration = declaration
  }

  /** The present call, or the last one. */
  get call(): TaskCall | undefined {
    return this.#call
  }

  /** What the task has stored itself, otherwise what it returned. */
  get data(): unknown {
    return this.#data === undefined ? this.#result : this.#data.value
  }

  setData(value: unknown): void {
    this.#data = { value }
  }

  setResult(result: unknown): void {
    this.#result = result
  }

  beginCall(planId: string, attempt: number): TaskCall {
    const abort = new AbortController()
    const signals = new SignalChannel()
    const context: TaskContext = {
      planId,
      taskId: this.id,
      attempt,
      signal: abort.signal,
      SetData: (data) => this.setData(data),
    }
    this.#call = { context, signals, abort }
    return this.#call
  }

  /** `undefined`: it is not tried again. */
  retryDelayMs(error: unknown, attempt: number): number | undefined {
    const { retry } = this.declaration
    if (retry === undefined || attempt >= retry.attempts) return undefined
    const { delayMs = 0 } = retry
    return typeof delayMs === 'number' ? delayMs : delayMs(error, attempt)
  }
}
