// One queue, one repository and one root: what the tests of the worker vary one thing at a time.
import { z } from 'zod'
import { systemClock, type Clock } from '../../../src/base/clock.ts'
import { branchName, type CommitRef } from '../../../src/base/ids.ts'
import { silentLogger, type Logger } from '../../../src/base/logger.ts'
import { plainRedactor } from '../../../src/base/redaction.ts'
import type { TaskId, WorkflowId } from '../../../src/fences/attempt-snapshot.ts'
import { ScriptedRepo } from '../../../src/testing/scripted-repo.ts'
import type { AttemptStepEvent } from '../../../src/worker/events.ts'
import type { TaskRecord } from '../../../src/worker/ports.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import {
  runAttempt,
  type AttemptOutcome,
  type AttemptRequest,
  type AttemptSurroundings,
} from '../../../src/worker/attempt/run-attempt.ts'
import {
  defineWorkspaceTask,
  type TaskDefinition,
  type WorkspaceTaskInput,
} from '../../../src/tasks/task-definition.ts'
import { openWorkspaceRoot, type WorkspaceRoot } from '../../../src/workspace/ownership/ownership.ts'

export const MAIN = branchName('main')
export const OWNER = 'data@example.org'

export function recordOf(overrides: Partial<TaskRecord> = {}): TaskRecord {
  return {
    taskId: 'task-1' as TaskId,
    workflowId: 'workflow-1' as WorkflowId,
    retryCount: 0,
    pollCount: 1,
    startTimeMs: 1_700_000_000_000,
    workerId: 'worker-1',
    status: 'IN_PROGRESS',
    taskType: 'orders.clean',
    taskDefName: 'orders.clean',
    referenceTaskName: 'clean',
    seq: 1,
    iteration: 0,
    scheduledTimeMs: 1_700_000_000_000,
    updateTimeMs: 1_700_000_000_000,
    responseTimeoutSeconds: 60,
    workflowType: 'daily',
    correlationId: undefined,
    domain: undefined,
    input: {},
    output: {},
    externalInputPath: undefined,
    externalOutputPath: undefined,
    reasonForIncompletion: undefined,
    isRetried: false,
    ...overrides,
  }
}

const params = z.object({ day: z.string() })
const result = z.object({ rows: z.int() })
type Input = WorkspaceTaskInput<typeof params, typeof result>

/** A task on files below `orders/`. */
export function filesTask(input: Partial<Input> & Pick<Input, 'body'>): TaskDefinition {
  return defineWorkspaceTask({
    name: 'orders.clean',
    owner: OWNER,
    params,
    result,
    workspace: { prefix: 'orders' },
    ...input,
  })
}

export function inputFor(ref: CommitRef, day = '2026-01-01', repository = 'scripted'): JsonObject {
  return { workspace: { repository, branch: 'main', refType: 'commit', ref }, params: { day } }
}

export interface AttemptWorld {
  readonly repo: ScriptedRepo
  readonly root: WorkspaceRoot
  readonly inputRef: CommitRef
  /** The steps, as they ended. */
  readonly steps: string[]
  readonly events: AttemptStepEvent[]
  run(task: TaskDefinition, changes?: AttemptChanges): Promise<AttemptOutcome>
}

export type AttemptChanges = Partial<AttemptRequest> &
  Partial<AttemptSurroundings> & { readonly attempt?: Partial<TaskRecord> }

/** A repository whose `main` holds `orders/a.csv`, and its own root. */
export async function openAttemptWorld(directory: string, clock: Clock = systemClock): Promise<AttemptWorld> {
  const repo = new ScriptedRepo()
  const inputRef = repo.commitDirectly(MAIN, { 'orders/a.csv': 'a', 'other/b.csv': 'b' }, 'Input')
  const root = await openWorkspaceRoot({ directory, workerId: 'worker-1' })
  const events: AttemptStepEvent[] = []
  const steps: string[] = []
  return {
    repo,
    root,
    inputRef,
    steps,
    events,
    run(task, changes = {}) {
      const { attempt, ...others } = changes
      const record = recordOf({ input: inputFor(inputRef), taskType: task.name, ...attempt })
      return runAttempt(
        {
          task,
          record,
          executionId: `run-${record.taskId}-${record.retryCount}-${steps.length}`,
          signal: new AbortController().signal,
          shutdown: new AbortController().signal,
          observe: (event) => {
            events.push(event)
            steps.push(event.step)
          },
          ...others,
        },
        {
          root,
          openRepo: () => repo.connect('worker'),
          readFresh: (polled) =>
            Promise.resolve({ task: { ...polled, status: 'IN_PROGRESS' }, workflow: 'RUNNING' }),
          clock,
          logger: silentLogger,
          redactor: plainRedactor,
          ...others,
        },
      )
    },
  }
}

/** A logger that collects its lines. */
export function keepingLogger(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = []
  const say = (message: string): void => void lines.push(message)
  const logger: Logger = { trace: say, debug: say, info: say, warn: say, error: say, child: () => logger }
  return { logger, lines }
}
