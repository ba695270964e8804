/** One task, once, without a task queue: its steps are those of a worker's attempt. */

import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { InvalidError, MissingError } from '../base/errors.ts'
import { commitRef, repositoryName } from '../base/ids.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Logger } from '../base/logger.ts'
import { plainRedactor, type Redactor } from '../base/redaction.ts'
import { suggest } from '../base/suggestion.ts'
import type { LakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import { openHardFences } from '../publication/hard-fences.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import type { RunOptions, RunOutcome, RunRequest } from '../worker/attempt/attempt-state.ts'
import { runSteps } from '../worker/attempt/run-steps.ts'
import { bindBranchHead } from '../worker/bodies/bind-branch-head.ts'
import { catchStrayErrors } from '../worker/bodies/stray-errors.ts'
import { requirePayloadFits } from '../worker/payload-limits.ts'
import type { ChangeSet } from '../workspace/comparing/diff.ts'
import { openWorkspaceRoot } from '../workspace/ownership/ownership.ts'
import { openContentCache } from './open-content-cache.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { openLakefs } from './connections/lakefs-connection.ts'
import { ledgerOf } from './ledger-settings.ts'
import { commitOf } from './commit-of.ts'
import { loadWithBuiltIns } from './modules/built-in-tasks.ts'
import { headOf } from './read-head.ts'

export interface RunTaskRequest {
  /** The name of the task in its module. */
  readonly task: string
  readonly params: Json
  /** Left out for a task without a workspace. */
  readonly workspace?: {
    readonly repository: string
    readonly branch: string
    /** Anything that names a commit; the head of the branch unless given. */
    readonly ref?: string
  }
  /** Publish nothing, and say what would be published. */
  readonly isDryRun?: boolean
}

/** What a dry run would have published. */
export interface PlannedPublication {
  readonly branch: string
  /** Whether the branch still is at the commit that was read: otherwise the publish fence refuses. */
  readonly isHead: boolean
  readonly uploads: readonly { readonly path: string; readonly sizeBytes: number; readonly isNew: boolean }[]
  readonly deletes: readonly string[]
}

export interface RunTaskOutcome extends Omit<RunOutcome, 'cleanUp' | 'planned'> {
  readonly planned?: PlannedPublication
}

export interface RunTaskOptions extends Pick<RunOptions, 'observe' | 'onProgress' | 'onTransferred'> {
  /** Where the workspace is laid out. */
  readonly root: string
  readonly logger: Logger
  /** How many bytes of objects to keep in the root for later runs, so that they are not fetched again; 0 keeps none. */
  readonly cacheBytes?: number
  /** The version of the task code, recorded with the publication. */
  readonly codeVersion?: string
  readonly redactor?: Redactor
  /** Aborted to end the task; its reason is an error. */
  readonly signal: AbortSignal
  /** Told which commit a name stands for. */
  readonly onResolved?: ((name: string, ref: string) => void) | undefined
}

/**
 * The publish fence judges as always. There is no attempt, so there is no attempt fence to pass, and a commit above the
 * input is never replaced: no workflow claims the branch, so it cannot be taken for an earlier try at the same step.
 * A dry run writes nothing of its own to lakeFS, and the body runs all the same; a claim that was left on the branch is collapsed, as by
 * everybody who reads a head to work on.
 */
export async function runTask(
  configuration: PeragoConfiguration,
  modulePath: string,
  request: RunTaskRequest,
  options: RunTaskOptions,
): Promise<RunTaskOutcome> {
  const {
    logger,
    signal,
    redactor = plainRedactor,
    root: directory,
    onResolved,
    cacheBytes,
    codeVersion,
    ...observers
  } = options
  const { tasks } = await loadWithBuiltIns(modulePath)
  const declared = findTask(tasks, request.task, modulePath)
  if (declared.workspace !== undefined && request.workspace === undefined) throw noTarget(declared)
  let client: LakefsClient | undefined
  // A task without a workspace needs no lakeFS, so none has to be configured.
  const open = (): LakefsClient => (client ??= openLakefs(configuration, { logger }))
  const openRepo = (name: string): VersionedRepo => openLakefsRepo(open(), repositoryName(name))
  const task = bindBranchHead(declared, openRepo)
  const ledger = ledgerOf(configuration)
  const fences = openHardFences({ policy: configuration.lakefs.fence, clock: systemClock, logger })
  try {
    const input = await inputOf(request, open, { signal, onResolved })
    const root = await openWorkspaceRoot({ directory, workerId: `run-${process.pid}`, logger })
    // An output that no task queue would accept is refused here too: the task is meant for one.
    const checkOutput = (output: JsonObject): void => requirePayloadFits('task output', output)
    const cache = openContentCache(root.directory, { cacheBytes, logger })
    const release = catchHere()
    try {
      const { isDryRun } = request
      const { cleanUp, planned, ...outcome } = await runSteps(
        {
          ...{ task, modulePath: resolve(modulePath), signal, shutdown: signal, isDryRun, ...observers },
          ...identify(task, codeVersion),
          readInput: () => input,
        },
        {
          ...{ root, openRepo, fences, ledger, clock: systemClock, logger, redactor, checkOutput },
          ...defined({ cache }),
          secretResults: configuration.results?.secrets,
        },
      )
      await cleanUp()
      if (planned === undefined || outcome.error !== undefined) return outcome
      return { ...outcome, planned: await describePlan(planned, { request, input, openRepo, signal }) }
    } finally {
      release()
      await cache?.close()
      await root.close()
    }
  } finally {
    await client?.close()
  }
}

/** What the body leaves uncaught fails the task; anything else goes where it went before. */
function catchHere(): () => void {
  const former = process.listeners('uncaughtException')
  for (const listener of former) process.off('uncaughtException', listener)
  const release = catchStrayErrors((error) => {
    const thrown = error instanceof Error ? error : new Error(String(error))
    if (former.length === 0) throw thrown
    for (const listener of former) listener(thrown, 'uncaughtException')
  })
  return () => {
    release()
    for (const listener of former) process.on('uncaughtException', listener)
  }
}

/** Under an id that no task queue has. */
function identify(
  { name }: TaskDefinition,
  codeVersion: string | undefined,
): Pick<RunRequest, 'authority' | 'info' | 'owner'> {
  const executionId = randomUUID()
  const id = `run-${executionId}`
  const ids = { taskId: id, workflowId: id, retryCount: 0 }
  return {
    authority: { kind: 'actor', actor: 'run', subject: name, executionId, codeVersion },
    info: { ...ids, taskName: name, referenceName: name, iteration: 0 },
    owner: { ...ids, pollCount: 1, workerId: id },
  }
}

function findTask(tasks: readonly TaskDefinition[], name: string, modulePath: string): TaskDefinition {
  const task = tasks.find((candidate) => candidate.name === name)
  if (task !== undefined) return task
  const names = tasks.map((candidate) => candidate.name)
  const meant = suggest(name, names)
  throw new MissingError(
    'runtime/no-such-task',
    `run task "${name}": ${JSON.stringify(modulePath)} exports no task of that name`,
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
  open: () => LakefsClient,
  { signal, onResolved }: Pick<RunTaskOptions, 'signal' | 'onResolved'>,
): Promise<JsonObject> {
  if (workspace === undefined) return { params }
  const { repository, branch } = workspace
  const ref = commitRef(await commitOf(open(), workspace, signal))
  if (workspace.ref !== undefined && workspace.ref !== ref) onResolved?.(workspace.ref, ref)
  return { params, workspace: { repository, branch, refType: 'commit', ref } }
}

async function describePlan(
  { uploads, deletes }: ChangeSet,
  { request, input, openRepo, signal }: PlanSurroundings,
): Promise<PlannedPublication> {
  const { repository = '', branch = '' } = request.workspace ?? {}
  const { ref } = input['workspace'] as { readonly ref: string }
  const isHead = (await headOf(openRepo(repository), branch, signal)) === ref
  const planned = uploads.map(({ key: path, sizeBytes, isNew }) => ({ path, sizeBytes, isNew }))
  return { branch, isHead, uploads: planned, deletes }
}

interface PlanSurroundings {
  readonly request: RunTaskRequest
  readonly input: JsonObject
  readonly openRepo: (repository: string) => VersionedRepo
  readonly signal: AbortSignal
}
