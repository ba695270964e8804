// One workflow of tasks in a row, and what Conductor does with attempts: hand out, time out, accept or ignore results.
import type { CommitRef } from '../../src/base/ids.ts'
import type {
  AttemptSnapshot,
  FreshAttempt,
  TaskId,
  TaskStatus,
  WorkflowId,
} from '../../src/fences/attempt-snapshot.ts'

export interface SimulatedAttempt {
  readonly snapshot: AttemptSnapshot
  readonly step: number
  readonly inputRef: CommitRef
  status: TaskStatus
}

export interface CompletedStep {
  readonly step: number
  readonly inputRef: CommitRef
  readonly outputRef: CommitRef
}

export const RETRIES_MAX = 12

export class SimulatedQueue {
  readonly attempts: SimulatedAttempt[] = []
  readonly completed: CompletedStep[] = []
  readonly #steps: number
  readonly #firstInput: CommitRef
  readonly #onAttempt: (attempt: SimulatedAttempt) => void
  workflow: 'RUNNING' | 'COMPLETED' | 'FAILED' = 'RUNNING'

  constructor(options: {
    readonly steps: number
    readonly firstInput: CommitRef
    readonly onAttempt: (attempt: SimulatedAttempt) => void
  }) {
    this.#steps = options.steps
    this.#onAttempt = options.onAttempt
    this.#firstInput = options.firstInput
  }

  start(): void {
    this.#handOut({ step: 0, inputRef: this.#firstInput, retryCount: 0 })
  }

  get open(): readonly SimulatedAttempt[] {
    return this.attempts.filter(({ status }) => status === 'IN_PROGRESS')
  }

  read(attempt: SimulatedAttempt): FreshAttempt {
    return { task: { ...attempt.snapshot, status: attempt.status }, workflow: this.workflow }
  }

  isCurrent(attempt: SimulatedAttempt): boolean {
    return attempt.status === 'IN_PROGRESS' && this.workflow === 'RUNNING'
  }

  /** A late result is answered like any other, and changes nothing. */
  complete(attempt: SimulatedAttempt, outputRef: CommitRef): void {
    if (!this.isCurrent(attempt)) return
    attempt.status = 'COMPLETED'
    const { step, inputRef } = attempt
    this.completed.push({ step, inputRef, outputRef })
    if (step + 1 === this.#steps) this.workflow = 'COMPLETED'
    else this.#handOut({ step: step + 1, inputRef: outputRef, retryCount: 0 })
  }

  fail(attempt: SimulatedAttempt, options: { readonly isTerminal: boolean }): void {
    if (!this.isCurrent(attempt)) return
    attempt.status = options.isTerminal ? 'FAILED_WITH_TERMINAL_ERROR' : 'FAILED'
    if (options.isTerminal) this.workflow = 'FAILED'
    else this.#retry(attempt)
  }

  timeOut(attempt: SimulatedAttempt): void {
    attempt.status = 'TIMED_OUT'
    this.#retry(attempt)
  }

  #retry({ step, inputRef, snapshot }: SimulatedAttempt): void {
    const retryCount = snapshot.retryCount + 1
    if (retryCount > RETRIES_MAX) this.workflow = 'FAILED'
    else this.#handOut({ step, inputRef, retryCount })
  }

  #handOut(of: { readonly step: number; readonly inputRef: CommitRef; readonly retryCount: number }): void {
    const number = this.attempts.length + 1
    const snapshot: AttemptSnapshot = {
      taskId: `task-${number}` as TaskId,
      workflowId: 'workflow' as WorkflowId,
      retryCount: of.retryCount,
      pollCount: 1,
      startTimeMs: number,
      workerId: `claim-${number}`,
    }
    const attempt: SimulatedAttempt = {
      snapshot,
      step: of.step,
      inputRef: of.inputRef,
      status: 'IN_PROGRESS',
    }
    this.attempts.push(attempt)
    this.#onAttempt(attempt)
  }
}
