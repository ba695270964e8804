// A repository on an embedded lakeFS, a queue in this process, and a workflow whose one task publishes to `main`: what the tests
// of recovery bring into each situation.
import { randomBytes } from 'node:crypto'
import { systemClock } from '../../src/base/clock.ts'
import { repositoryName, type CommitRef, type RepositoryName } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { startEmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { snapshotOf, type TaskId, type WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { createRepository, setBranchProtection } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { openHardFences } from '../../src/publication/hard-fences.ts'
import type { LedgerKeys } from '../../src/publication/ledger-signature.ts'
import type { CommitRecord, Metadata, VersionedRepo } from '../../src/publication/ports.ts'
import { publish } from '../../src/publication/publish.ts'
import type { RecoveryWorld } from '../../src/recovery/ports.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { readFreshAttempt } from '../../src/worker/attempt/read-fresh-attempt.ts'
import type { TaskRecord, TaskResult } from '../../src/worker/ports.ts'
import type { HeldResult } from '../../src/worker/results/outbox-entries.ts'
import type { SuiteLakefs } from './servers/suite-lakefs.ts'
import { bytes, commitOf, MAIN } from '../conformance/versioned-repo-cases/world.ts'

export interface RecoveryLakefs {
  readonly client: LakefsClient
  readonly environment: Readonly<Record<string, string>>
  newRepository(): { readonly repository: RepositoryName; readonly storageNamespace: string }
  close(): Promise<void>
}

/** The embedded one unless given. */
export async function openRecoveryLakefs(given?: SuiteLakefs): Promise<RecoveryLakefs> {
  const server = given ?? (await startEmbeddedLakefs())
  const client = createLakefsClient({ ...server, endpoint: server.url })
  return {
    client,
    environment: {
      LAKEFS_ENDPOINT: server.url,
      LAKEFS_ACCESS_KEY_ID: server.accessKeyId,
      LAKEFS_SECRET_ACCESS_KEY: server.secretAccessKey,
    },
    newRepository: () => {
      if (given !== undefined) return given.newRepository('recovery')
      const repository = repositoryName(`recovery-${randomBytes(4).toString('hex')}`)
      return { repository, storageNamespace: `local://${repository}` }
    },
    close: async () => {
      await client.close()
      await server.close()
    },
  }
}

export class RecoveryTestWorld {
  readonly #client: LakefsClient
  readonly repository: RepositoryName
  readonly repo: VersionedRepo
  readonly queue: TestQueue
  /** What the outboxes of this machine hold. */
  readonly held: HeldResult[] = []
  readonly world: RecoveryWorld
  /** With which `publish` signs. */
  ledgerKeys: LedgerKeys | undefined
  /** The commit that the first workflow reads. */
  input!: CommitRef

  private constructor(client: LakefsClient, repository: RepositoryName, queue: TestQueue) {
    this.#client = client
    this.repository = repository
    this.repo = openLakefsRepo(client, repository)
    this.queue = queue
    this.world = {
      queue: {
        ...queue,
        readWorkflow: async (workflowId) => {
          const found = await queue.readWorkflow(workflowId)
          return found && { ...found, name: 'daily' }
        },
        startWorkflow: (start) => queue.start(start),
      },
      repoOf: (name) => openLakefsRepo(client, name),
      fences: openHardFences({ clock: systemClock }),
      readHeldResults: () => Promise.resolve(this.held),
      clock: systemClock,
      logger: silentLogger,
    }
  }

  static async open(
    { client, newRepository }: Pick<RecoveryLakefs, 'client' | 'newRepository'>,
    queue: TestQueue = openTestQueue(),
    files: Readonly<Record<string, string>> = {},
  ): Promise<RecoveryTestWorld> {
    const { repository, storageNamespace } = newRepository()
    await createRepository(client, { repository, storageNamespace, defaultBranch: MAIN })
    const world = new RecoveryTestWorld(client, repository, queue)
    const task = { name: 'load', retryCount: 1, retryDelaySeconds: 0, responseTimeoutSeconds: 60 }
    await queue.registerTask({ ...task, timeoutPolicy: 'RETRY' })
    const inputParameters = { workspace: '${workflow.input.workspace}', params: {} }
    await queue.registerWorkflow({
      name: 'daily',
      tasks: [{ name: 'load', taskReferenceName: 'load', inputParameters }],
    })
    world.input = (await commitOf(world.repo, MAIN, { 'a.txt': 'first', ...files })).ref
    return world
  }

  /** As by an operator: merges only, or everything again. */
  protect(patterns: readonly string[]): Promise<void> {
    return setBranchProtection(this.#client, { repository: this.repository, patterns })
  }

  get place(): string {
    return `${this.repository}/${MAIN}`
  }

  async start(ref: CommitRef = this.input): Promise<WorkflowId> {
    const workspace = { repository: this.repository, branch: MAIN, refType: 'commit', ref }
    return this.queue.start({ name: 'daily', input: { workspace } })
  }

  /** Takes the next attempt, as a worker does. */
  async claim(): Promise<TaskRecord> {
    const workerId = `worker-${randomBytes(4).toString('hex')}`
    const [task] = await this.queue.poll({ taskType: 'load', workerId, count: 1, waitMs: 0 })
    if (task === undefined) throw new Error('there is no task to take')
    return task
  }

  /** The real publication of this attempt; `metadata` of the commits follows from it. */
  async publish(
    task: TaskRecord,
    files: Readonly<Record<string, string>> = { 'a.txt': `of ${task.taskId}` },
    codeVersion?: string,
  ): Promise<CommitRef> {
    const { ref } = task.input['workspace'] as unknown as { readonly ref: CommitRef }
    const uploads = Object.entries(files).map(([path, text]) => ({ path, body: bytes(text) }))
    const { referenceTaskName, seq, iteration } = task
    const attempt = snapshotOf(task)
    const { outputRef } = await publish({
      repo: this.repo,
      target: { branch: MAIN, inputRef: ref, prefix: '' },
      changes: { uploads, deletes: [] },
      authority: {
        ...{ kind: 'attempt', attempt, referenceTaskName, seq, iteration, codeVersion },
        executionId: `run-${task.taskId}`,
        readFresh: () => readFreshAttempt(this.queue, attempt),
      },
      fences: this.world.fences,
      ledgerKeys: this.ledgerKeys,
    })
    return outputRef
  }

  outputOf(task: TaskRecord, ref: CommitRef): JsonObject {
    return { workspace: { ...(task.input['workspace'] as JsonObject), ref }, result: { rows: 1 } }
  }

  resultOf(task: TaskRecord, status: TaskResult['status'], ref?: CommitRef): TaskResult {
    const { taskId, workflowId, workerId } = task
    const output = ref === undefined ? {} : this.outputOf(task, ref)
    return { taskId, workflowId, workerId, status, output }
  }

  complete(task: TaskRecord, ref: CommitRef): Promise<boolean> {
    return this.queue.postResult(this.resultOf(task, 'COMPLETED', ref))
  }

  fail(task: TaskRecord): Promise<boolean> {
    return this.queue.postResult(this.resultOf(task, 'FAILED_WITH_TERMINAL_ERROR'))
  }

  /** As a worker that was killed before it could send its result leaves it. */
  hold(task: TaskRecord, ref: CommitRef, isRefused = false): void {
    const result = this.resultOf(task, 'COMPLETED', ref)
    const attempt = snapshotOf(task)
    this.held.push({
      attempt,
      result,
      writtenAt: new Date(0).toISOString(),
      path: 'outbox/0/1.json',
      isRefused,
    })
  }

  /** Somebody who knows nothing of perago. */
  async commit(files: Readonly<Record<string, string>>, metadata: Metadata = {}): Promise<CommitRef> {
    return (await commitOf(this.repo, MAIN, files, { metadata })).ref
  }

  /** As by a bare reset of somebody who knows no fence. */
  async reset(to: CommitRef): Promise<void> {
    const head = await this.head()
    const outcome = await this.repo.moveBranch({ branch: MAIN, expectedHead: head, to })
    if (!outcome.moved) throw new Error('the branch did not move')
  }

  async head(): Promise<CommitRef> {
    const found = await this.repo.readBranch(MAIN)
    if (found === undefined) throw new Error('there is no branch')
    return found.head
  }

  async history(): Promise<CommitRecord[]> {
    const commits: CommitRecord[] = []
    for await (const commit of this.repo.log(MAIN, { firstParent: true })) commits.push(commit)
    return commits
  }

  async taskStatus(taskId: TaskId): Promise<string | undefined> {
    return (await this.queue.readTask(taskId))?.status
  }
}
