/** One workflow of tasks in a row, and what Conductor does with attempts: hand out, time out, accept or ignore results. */

import type { CommitRef } from '../../base/ids.ts'
import type { Json } from '../../base/json.ts'
import type { AttemptSnapshot, TaskId, TaskStatus, WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { TaskRecord, TaskResult } from '../../worker/ports.ts'

export interface SimulatedAttempt {
  /** The process that has it. */
  readonly client: string
  readonly snapshot: AttemptSnapshot
  readonly step: number
  readonly inputRef: CommitRef
  status: TaskStatus
  /** Who posted the result that decided it. */
  decidedBy: string
  /** Why it did not complete, as its worker says. */
  reason: string
}

export interface CompletedStep {
  readonly step: number
  readonly inputRef: CommitRef
  readonly outputRef: CommitRef
  readonly client: string
  /** Of the task's output. */
  readonly result: Json | undefined
}

export const WORKFLOW = 'workflow' as WorkflowId

export interface SimulatedQueueOptions {
  readonly steps: number
  readonly retriesMax: number
  readonly firstInput: CommitRef
  readonly onAttempt: (attempt: SimulatedAttempt) => void
  /** What a task has besides its identity and its status. */
  readonly describe?: (attempt: SimulatedAttempt) => Partial<TaskRecord>
}

export class SimulatedQueue {
  readonly attempts: SimulatedAttempt[] = []
  readonly completed: CompletedStep[] = []
  readonly #of: SimulatedQueueOptions
  workflow: 'RUNNING' | 'COMPLETED' | 'FAILED' = 'RUNNING'

  constructor(of: SimulatedQueueOptions) {
    this.#of = of
  }

  start(): void {
    this.#handOut({ step: 0, inputRef: this.#of.firstInput, retryCount: 0 })
  }

  get open(): readonly SimulatedAttempt[] {
    return this.attempts.filter(({ status }) => status === 'IN_PROGRESS')
  }

  isCurrent(attempt: SimulatedAttempt): boolean {
    return attempt.status === 'IN_PROGRESS' && this.workflow === 'RUNNING'
  }

  ofClient(client: string): SimulatedAttempt | undefined {
    return this.attempts.find((attempt) => attempt.client === client)
  }

  readTask(taskId: TaskId): TaskRecord | undefined {
    const attempt = this.attempts.find(({ snapshot }) => snapshot.taskId === taskId)
    return attempt && this.recordOf(attempt)
  }

  recordOf(attempt: SimulatedAttempt): TaskRecord {
    return { ...recordOf(attempt), ...this.#of.describe?.(attempt) }
  }

  /** Whether the task exists: whose it is by now is not asked, and one that has ended is not changed. */
  renew(taskId: TaskId): boolean {
    return this.attempts.some(({ snapshot }) => snapshot.taskId === taskId)
  }

  /** Answered like any other when it is too late, and changes nothing then. */
  post(result: TaskResult, outputRef: CommitRef | undefined): void {
    const attempt = this.attempts.find(({ snapshot }) => snapshot.taskId === result.taskId)
    if (attempt === undefined || !this.isCurrent(attempt)) return
    const { step, inputRef, client } = attempt
    // A task that is handed back is a retry here: nobody counts them.
    attempt.status = result.status === 'IN_PROGRESS' ? 'CANCELED' : result.status
    attempt.decidedBy = result.workerId
    attempt.reason = result.reasonForIncompletion ?? ''
    if (result.status === 'FAILED_WITH_TERMINAL_ERROR') this.workflow = 'FAILED'
    else if (result.status !== 'COMPLETED') this.#retry(attempt)
    else if (outputRef !== undefined) {
      this.completed.push({ step, inputRef, outputRef, client, result: result.output.result })
      if (step + 1 === this.#of.steps) this.workflow = 'COMPLETED'
      else this.#handOut({ step: step + 1, inputRef: outputRef, retryCount: 0 })
    }
  }

  timeOut(attempt: SimulatedAttempt): void {
    attempt.status = 'TIMED_OUT'
    this.#retry(attempt)
  }

  describe(): string {
    const attempts = this.attempts.map(({ step, status, inputRef }) => `${step}${status}${inputRef}`)
    return `${this.workflow}${attempts.join()}${this.completed.map(({ outputRef }) => outputRef).join()}`
  }

  #retry({ step, inputRef, snapshot }: SimulatedAttempt): void {
    const retryCount = snapshot.retryCount + 1
    if (retryCount > this.#of.retriesMax) this.workflow = 'FAILED'
    else this.#handOut({ step, inputRef, retryCount })
  }

  #handOut(of: { readonly step: number; readonly inputRef: CommitRef; readonly retryCount: number }): void {
    const number = this.attempts.length + 1
    const client = `claim-${number}`
    const snapshot: AttemptSnapshot = {
      taskId: `task-${number}` as TaskId,
      workflowId: WORKFLOW,
      retryCount: of.retryCount,
      pollCount: 1,
      startTimeMs: number,
      workerId: client,
    }
    const attempt: SimulatedAttempt = {
      ...{ client, snapshot, step: of.step, inputRef: of.inputRef },
      ...{ status: 'IN_PROGRESS' as const, decidedBy: '', reason: '' },
    }
    this.attempts.push(attempt)
    this.#of.onAttempt(attempt)
  }
}

/** What does not matter here. */
const RECORD = {
  ...{ taskType: 'step', taskDefName: 'step', iteration: 0, scheduledTimeMs: 0, updateTimeMs: 0 },
  ...{
    responseTimeoutSeconds: 60,
    workflowType: 'simulated',
    correlationId: undefined,
    domain: undefined,
    input: {},
  },
  ...{ externalInputPath: undefined, externalOutputPath: undefined, reasonForIncompletion: undefined },
  ...{ output: {}, isRetried: false },
}

function recordOf({ snapshot, step, status, decidedBy }: SimulatedAttempt): TaskRecord {
  const workerId = decidedBy === '' ? snapshot.workerId : decidedBy
  const { taskId, workflowId, retryCount, pollCount, startTimeMs } = snapshot
  return Object.assign(
    { taskId, workflowId, retryCount, pollCount, startTimeMs, workerId, status, seq: step },
    { referenceTaskName: `step-${step}` },
    RECORD,
  )
}
