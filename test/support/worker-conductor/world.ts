// A repository, a root and a corner of a Conductor for each test: what a worker needs, with nothing shared.
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { branchName, type CommitRef, type RepositoryName } from '../../../src/base/ids.ts'
import { silentLogger } from '../../../src/base/logger.ts'
import type { WorkflowId } from '../../../src/fences/attempt-snapshot.ts'
import { createRepository } from '../../../src/lakefs/administration.ts'
import { createLakefsClient } from '../../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../../src/publication/ports.ts'
import type { PeragoConfiguration } from '../../../src/runtime/configuration/configuration.ts'
import { declaredTaskDef } from '../../../src/runtime/modules/task-registration.ts'
import { openWorker, type OpenedWorker, type OpenWorkerOptions } from '../../../src/runtime/worker.ts'
import type { WorkerOrder } from '../../../src/runtime/processes/worker-processes.ts'
import type { QueueControl, WorkflowView } from '../../../src/engine/protocol/control.ts'
import type { AttemptSummary, WorkerEvent } from '../../../src/worker/events.ts'
import { loadTasks } from '../../../src/worker/bodies/load-tasks.ts'
import type { Json } from '../../../src/base/json.ts'
import { conductorControl } from '../../conformance/conductor-control.ts'
import { askJson } from '../servers/http.ts'
import { openSuiteLakefs, type SuiteLakefs } from '../servers/suite-lakefs.ts'
import { openConductorFront, type ConductorFront } from './front.ts'

export const TASKS_PATH = fileURLToPath(new URL('./tasks.mjs', import.meta.url))
export const MAIN = branchName('main')

const WAIT_MS = 90_000
const LOOK_MS = 50
const ASK_TRIES = 4

export interface WorkerLakefs {
  openRepository(): Promise<{ readonly repository: RepositoryName; readonly repo: VersionedRepo }>
  readonly configuration: PeragoConfiguration['lakefs']
  readonly secret: string
  close(): Promise<void>
}

export async function openWorkerLakefs(given?: SuiteLakefs): Promise<WorkerLakefs> {
  const server = given ?? (await openSuiteLakefs())
  const client = createLakefsClient({ ...server, endpoint: server.url })
  const { accessKeyId, secretAccessKey } = server
  return {
    configuration: { endpoint: server.url, credentials: { accessKeyId, secretAccessKey }, connections: 8 },
    secret: secretAccessKey,
    async openRepository() {
      const { repository, storageNamespace } = server.newRepository('conductor')
      await createRepository(client, { repository, storageNamespace, defaultBranch: MAIN })
      return { repository, repo: openLakefsRepo(client, repository) }
    },
    async close() {
      await client.close()
      await server.close()
    },
  }
}

/** Registers the tasks as they are declared, and for each a workflow of the same name that runs it once. */
export async function registerTasks(conductorUrl: string): Promise<void> {
  const control = conductorControl(conductorUrl)
  const tasks = await loadTasks(TASKS_PATH)
  const { status, body } = await askPatiently(() =>
    askJson(`${conductorUrl}/api/metadata/taskdefs`, { body: tasks.map(declaredTaskDef) }),
  )
  if (status >= 400) throw new Error(`register the tasks: ${status} ${JSON.stringify(body)}`)
  for (const { name } of tasks)
    await askPatiently(() => control.registerWorkflow({ name, tasks: [stepOf(name, 'it')] }))
}

/** A server that has only just started may take longer for its first answers; nothing that is asked here does harm twice. */
async function askPatiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError'
      if (!isLate || tries === ASK_TRIES) throw error
    }
  }
}

/** A step that reads the workspace of the workflow, or what the step before it has published. */
export function stepOf(
  name: string,
  taskReferenceName: string,
  { after, params = 'params' }: { readonly after?: string; readonly params?: string } = {},
): { name: string; taskReferenceName: string; inputParameters: Record<string, string> } {
  const from = after === undefined ? 'workflow.input' : `${after}.output`
  return {
    name,
    taskReferenceName,
    inputParameters: { workspace: `\${${from}.workspace}`, params: `\${workflow.input.${params}}` },
  }
}

export interface WorkerWorld {
  readonly control: QueueControl
  readonly front: ConductorFront
  readonly repository: RepositoryName
  readonly repo: VersionedRepo
  readonly inputRef: CommitRef
  readonly root: string
  readonly configuration: PeragoConfiguration
  /** Where the tasks of this world wait. */
  readonly domain: string
  /** Events of the workers of `open`. */
  readonly events: WorkerEvent[]
  /** A path below the root's parent that nothing else uses. */
  at(name: string): string
  start(
    workflow: string,
    params?: Readonly<Record<string, Json>>,
    options?: { readonly branch?: string; readonly input?: Readonly<Record<string, Json>> },
  ): Promise<WorkflowId>
  open(options?: Partial<OpenWorkerOptions>): Promise<OpenedWorker>
  orderOf(options?: { readonly root?: string; readonly index?: number; readonly slots?: number }): WorkerOrder
  ended(workflowId: WorkflowId): Promise<WorkflowView>
  summaries(): readonly AttemptSummary[]
  close(): Promise<void>
}

let worlds = 0

/** `given` reaches the queue behind the address, unless it is a Conductor. */
export async function openWorkerWorld(
  conductorUrl: string,
  lakefs: WorkerLakefs,
  given: QueueControl = conductorControl(conductorUrl),
): Promise<WorkerWorld> {
  const control: QueueControl = {
    ...given,
    readWorkflow: (workflowId) => askPatiently(() => given.readWorkflow(workflowId)),
    readLogs: (taskId) => askPatiently(() => given.readLogs(taskId)),
    decide: (workflowId) => askPatiently(() => given.decide(workflowId)),
  }
  const directory = await mkdtemp(join(tmpdir(), 'perago-conductor-worker-'))
  const root = join(directory, 'root')
  const front = await openConductorFront(conductorUrl)
  // Each test has its own domain, so that its workers get only its tasks.
  const domain = `it${process.pid}n${++worlds}`
  const { repository, repo } = await lakefs.openRepository()
  await repo.write({
    branch: MAIN,
    path: 'data/in.txt',
    body: { sizeBytes: 2, open: () => Buffer.from('in') },
  })
  const outcome = await repo.commit({ branch: MAIN, message: 'Input' })
  if (!outcome.committed) throw new Error(outcome.reason)
  const inputRef = outcome.commit.ref
  const configuration: PeragoConfiguration = {
    lakefs: lakefs.configuration,
    conductor: { serverUrl: front.url, auth: undefined },
    log: { level: 'warn', format: 'json' },
  }
  const started: WorkflowId[] = []
  const opened: OpenedWorker[] = []
  const events: WorkerEvent[] = []

  return {
    control,
    front,
    repository,
    repo,
    inputRef,
    root,
    configuration,
    domain,
    events,
    at: (name) => join(directory, name),
    async start(name, params = {}, { branch = 'main', input = {} } = {}) {
      const workspace = { repository, branch, refType: 'commit', ref: inputRef }
      const workflowId = await control.start({
        name,
        input: { workspace, params, ...input },
        taskToDomain: { '*': domain },
      })
      started.push(workflowId)
      return workflowId
    },
    async open(options = {}) {
      const worker = await openWorker(configuration, TASKS_PATH, {
        root,
        domain,
        logger: silentLogger,
        observers: [(event) => events.push(event)],
        ...options,
      })
      opened.push(worker)
      await worker.worker.ready
      return worker
    },
    orderOf: ({ root: other = root, index = 0, slots = 1 } = {}) => ({
      configuration,
      modulePath: TASKS_PATH,
      secrets: [lakefs.secret],
      log: { level: 'silent', format: 'json', isTerminal: false },
      options: { root: other, domain, index, slots },
    }),
    async ended(workflowId) {
      for (let look = 0; ; look++) {
        const view = await control.readWorkflow(workflowId)
        if (view === undefined) throw new Error('the workflow is gone')
        if (view.status !== 'RUNNING') return view
        if (look * LOOK_MS > WAIT_MS)
          throw new Error(`the workflow does not end: ${JSON.stringify(view.tasks)}`)
        // Without this, the server checks a deadline a minute late.
        if (look % 10 === 9) await control.decide(workflowId)
        await wait(LOOK_MS)
      }
    },
    summaries: () => events.flatMap((event) => (event.kind === 'attempt-ended' ? [event.summary] : [])),
    async close() {
      await Promise.all(opened.map((worker) => worker.close({ deadlineMs: 0 })))
      for (const workflowId of started) await control.remove(workflowId).catch(() => undefined)
      await front.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Waits until it holds; fails with its name when it never does. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look * LOOK_MS <= WAIT_MS; look++) {
    if (await holds()) return
    await wait(LOOK_MS)
  }
  throw new Error(`it never came to pass: ${what}`)
}

export function textOf(path: string): string | undefined {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return text === '' ? undefined : text
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
