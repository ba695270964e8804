/** Does the work of one attempt as a worker does: the declared task over a directory, or what stands in for it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { systemClock } from '../../base/clock.ts'
import { isPeragoError, messageOf } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { silentLogger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { plainRedactor } from '../../base/redaction.ts'
import { readWith, type TaskBody, type TaskDefinition } from '../../tasks/task-definition.ts'
import { readFreshAttempt } from '../../worker/attempt/read-fresh-attempt.ts'
import { runAttempt, type AttemptOutcome } from '../../worker/attempt/run-attempt.ts'
import type { TaskQueue, TaskRecord, TaskResult } from '../../worker/ports.ts'
import { defineTask, defineWorkspaceTask } from '../../tasks/task-definition.ts'
import { openWorkspaceRoot, type WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import { asJson, type StandIn } from './behaviours.ts'
import type { TestRepository } from './test-repository.ts'

export interface WorkbenchOptions {
  readonly repository: TestRepository
  readonly queue: () => TaskQueue
}

/** What is done in an attempt. */
export interface Job {
  readonly record: TaskRecord
  /** 1, and one more with each retry. */
  readonly attempt: number
  /** Declared by the user; `undefined` for a task that the test knows by its name alone. */
  readonly task: TaskDefinition | undefined
  /** For bodies outside this thread. */
  readonly modulePath: string | undefined
  /** In the place of the task's own body. */
  readonly standIn: StandIn | undefined
}

export interface JobOutcome extends Pick<AttemptOutcome, 'currentAtMs'> {
  readonly result: TaskResult
  readonly cleanUp: () => Promise<void>
}

export class Workbench {
  readonly #options: WorkbenchOptions
  readonly #signal = new AbortController().signal
  readonly #root = once(() => openRoot())
  #isOpen = false

  constructor(options: WorkbenchOptions) {
    this.#options = options
  }

  /** Never throws: every failure is a result. */
  async run(job: Job): Promise<JobOutcome> {
    const task = job.task ?? taskLike(job.record)
    return task === undefined ? this.runPlainly(job) : this.#runTask(task, job)
  }

  /** A task of another kind of worker, or a person: what is answered is the output. */
  async runPlainly({
    record,
    attempt,
    standIn,
  }: Pick<Job, 'record' | 'attempt' | 'standIn'>): Promise<JobOutcome> {
    const { taskId, workflowId, workerId, input } = record
    const context = { params: input['params'], input, attempt, workspace: undefined, log: silentLogger }
    const base = { taskId, workflowId, workerId }
    const cleanUp = (): Promise<void> => Promise.resolve()
    try {
      const output = asOutput(asJson(await standIn?.(context)))
      return { result: { ...base, status: 'COMPLETED', output }, cleanUp }
    } catch (error) {
      const isTerminal = isPeragoError(error) && error.code === 'task/terminal'
      const status = isTerminal ? 'FAILED_WITH_TERMINAL_ERROR' : 'FAILED'
      const reasonForIncompletion = messageOf(error)
      return { result: { ...base, status, output: {}, reasonForIncompletion }, cleanUp }
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    const { root, directory } = await this.#root()
    await root.close()
    await rm(directory, { recursive: true, force: true })
  }

  async #runTask(task: TaskDefinition, { record, attempt, standIn, modulePath }: Job): Promise<JobOutcome> {
    const { repository, queue } = this.#options
    const body = standIn === undefined ? task.body : bodyOf(standIn, { task, record, attempt })
    this.#isOpen = true
    const { root } = await this.#root()
    return runAttempt(
      {
        task: { ...task, body },
        record,
        modulePath,
        executionId: `${record.workerId}-${record.pollCount}`,
        signal: this.#signal,
        shutdown: this.#signal,
      },
      {
        root,
        openRepo: repository.open,
        readFresh: (polled, options) => readFreshAttempt(queue(), polled, options),
        // What a body takes is real time; the time of the test stands still meanwhile.
        clock: systemClock,
        logger: silentLogger,
        redactor: plainRedactor,
      },
    )
  }
}

/** A task that is known by its input alone: parameters, and perhaps a workspace, make it one of ours. */
function taskLike({ taskType, input }: TaskRecord): TaskDefinition | undefined {
  if (!('params' in input)) return undefined
  const any = { name: taskType, owner: 'test@example.org', params: z.unknown(), result: z.unknown() }
  const body = (): never => {
    throw new Error('something stands in for it')
  }
  return input['workspace'] === undefined
    ? defineTask({ ...any, body })
    : defineWorkspaceTask({ ...any, workspace: {}, body })
}

function bodyOf(
  standIn: StandIn,
  { task, record: { input }, attempt }: Pick<Job, 'record' | 'attempt'> & { readonly task: TaskDefinition },
): TaskBody {
  const { name, params, result } = task
  return {
    kind: 'function',
    runIn: 'inline',
    invoke: async (given, { workspace, log }) => {
      const read = await readWith(params, given, { task: name, side: 'params' })
      const answered = await standIn({ params: read, input, attempt, workspace, log })
      return readWith(result, answered, { task: name, side: 'result' })
    },
  }
}

function asOutput(value: Json): JsonObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as JsonObject) : { result: value }
}

async function openRoot(): Promise<{ readonly root: WorkspaceRoot; readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'perago-pipeline-test-'))
  return { directory, root: await openWorkspaceRoot({ directory, workerId: 'worker' }) }
}
