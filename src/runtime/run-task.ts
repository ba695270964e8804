/** One task, once, without a task queue: laid out, checked, run and published as a worker would. */

import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { InvalidError, MissingError } from '../base/errors.ts'
import { branchName, commitRef, repositoryName, type CommitRef } from '../base/ids.ts'
import type { Logger } from '../base/logger.ts'
import { plainRedactor, type Redactor } from '../base/redaction.ts'
import { suggest } from '../base/suggestion.ts'
import { requirePayloadFits } from '../worker/payload-limits.ts'
import type { LakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import type { AttemptStepEvent } from '../worker/events.ts'
import { loadTasks } from '../worker/bodies/load-tasks.ts'
import type { TaskId, TaskRecord, WorkflowId } from '../worker/ports.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { AttemptOutcome } from '../worker/attempt/attempt-life.ts'
import { runAttempt } from '../worker/attempt/run-attempt.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import { openWorkspaceRoot } from '../workspace/ownership/ownership.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { openLakefs } from './connections/lakefs-connection.ts'

export interface RunTaskRequest {
  /** The name of the task in its module. */
  readonly task: string
  readonly params: Json
  /** Left out for a task without a workspace. */
  readonly workspace?: {
    readonly repository: string
    readonly branch: string
    /** The commit to read; the head of the branch unless given. */
    readonly ref?: string
  }
}

export interface RunTaskOptions {
  /** Where the workspace is laid out. */
  readonly root: string
  readonly logger: Logger
  readonly redactor?: Redactor
  /** Aborted to end the task; its reason is an error. */
  readonly signal: AbortSignal
  readonly onStep?: (event: AttemptStepEvent) => void
  readonly onProgress?: (done: number, total?: number, what?: string) => void
}

/**
 * The publish fence judges as always. There is no attempt fence to pass, for nobody else was given this task: what
 * stands in for its snapshot is made up here, under an id that no queue has. A commit above the input is never replaced:
 * no workflow claims the branch, so it is not known to be an earlier try at the same step.
 */
export async function runTask(
  configuration: PeragoConfiguration,
  modulePath: string,
  request: RunTaskRequest,
  options: RunTaskOptions,
): Promise<Omit<AttemptOutcome, 'cleanUp'>> {
  const { logger, signal, redactor = plainRedactor } = options
  const task = findTask(await loadTasks(modulePath), request.task, modulePath)
  if (task.workspace !== undefined && request.workspace === undefined) throw noTarget(task)
  let client: LakefsClient | undefined
  // A task without a workspace needs no lakeFS, so none has to be configured.
  const openRepo = (name: string): VersionedRepo =>
    openLakefsRepo((client ??= openLakefs(configuration, { logger })), repositoryName(name))
  try {
    const input = await inputOf(request, openRepo, signal)
    const root = await openWorkspaceRoot({ directory: options.root, workerId: `run-${process.pid}`, logger })
    try {
      const { cleanUp, ...outcome } = await runAttempt(
        {
          task: { ...task, controls: { ...task.controls, replace: 'own' } },
          modulePath: resolve(modulePath),
          record: recordOf(task, input),
          executionId: randomUUID(),
          signal,
          shutdown: signal,
          ...(options.onStep === undefined ? {} : { observe: options.onStep }),
          ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
        },
        {
          root,
          openRepo,
          readFresh: (attempt) =>
            Promise.resolve({ task: { ...attempt, status: 'IN_PROGRESS' }, workflow: 'RUNNING' }),
          clock: systemClock,
          logger,
          redactor,
          // What is tried out here is meant for a queue.
          checkOutput: (output) => requirePayloadFits('task output', output),
        },
      )
      await cleanUp()
      return outcome
    } finally {
      await root.close()
    }
  } finally {
    await client?.close()
  }
}

function findTask(tasks: readonly TaskDefinition[], name: string, modulePath: string): TaskDefinition {
  const task = tasks.find((candidate) => candidate.name === name)
  if (task !== undefined) return task
  const names = tasks.map((candidate) => candidate.name)
  const meant = suggest(name, names)
  throw new MissingError(
    'runtime/no-such-task',
    `run task "${name}": ${JSON.stringify(modulePath)} has none of that name`,
    {
      details: { tasks: names },
      next: meant === undefined ? `Choose one of ${names.join(', ')}.` : `Did you mean "${meant}"?`,
    },
  )
}

function noTarget({ name }: TaskDefinition): InvalidError {
  return new InvalidError(
    'runtime/no-target',
    `run task "${name}": it works on a repository, and none is named`,
    { next: 'Name the repository, and the branch to publish to.' },
  )
}

async function inputOf(
  { params, workspace }: RunTaskRequest,
  openRepo: (repository: string) => VersionedRepo,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (workspace === undefined) return { params }
  const { repository, branch } = workspace
  const ref: CommitRef =
    workspace.ref === undefined
      ? await headOf(openRepo(repository), branch, signal)
      : commitRef(workspace.ref)
  return { params, workspace: { repository, branch, refType: 'commit', ref } }
}

async function headOf(repo: VersionedRepo, branch: string, signal: AbortSignal): Promise<CommitRef> {
  const found = await repo.readBranch(branchName(branch), { signal })
  if (found !== undefined) return found.head
  throw new MissingError(
    'runtime/no-such-branch',
    `read branch "${branch}" of "${repo.repository}": there is none`,
    {
      next: 'Correct the name, or create the branch.',
    },
  )
}

function recordOf(task: TaskDefinition, input: JsonObject): TaskRecord {
  const nowMs = Date.now()
  const id = randomUUID()
  return {
    taskId: `run-${id}` as TaskId,
    workflowId: `run-${id}` as WorkflowId,
    workerId: `run-${id}`,
    status: 'IN_PROGRESS',
    taskType: task.name,
    taskDefName: task.name,
    referenceTaskName: task.name,
    retryCount: 0,
    pollCount: 1,
    seq: 1,
    iteration: 0,
    scheduledTimeMs: nowMs,
    startTimeMs: nowMs,
    updateTimeMs: nowMs,
    responseTimeoutSeconds: task.controls.timeout.responseSeconds,
    workflowType: 'perago run',
    correlationId: undefined,
    domain: undefined,
    input,
    output: {},
    externalInputPath: undefined,
    externalOutputPath: undefined,
    reasonForIncompletion: undefined,
    isRetried: false,
  }
}
