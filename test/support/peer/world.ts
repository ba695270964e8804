// One repository, one queue and workers of both kinds: what a workflow that crosses between them needs.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
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
import { openWorker, type OpenedWorker } from '../../../src/runtime/worker.ts'
import { spawnWorker } from '../../../src/runtime/processes/worker-processes.ts'
import type { WorkerProcess } from '../../../src/runtime/processes/supervisor.ts'
import type { QueueControl, WorkflowView } from '../../../src/engine/protocol/control.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { conductorControl } from '../../conformance/conductor-control.ts'
import { bodyOf } from '../publication-world.ts'
import { askJson } from '../servers/http.ts'
import type { SuiteLakefs } from '../servers/suite-lakefs.ts'
import { openConductorFront, type ConductorFront } from '../worker-conductor/front.ts'
import { startPeer, type Peer, type PeerSettings, type RunningPeer } from './peer.ts'

export const TASKS_PATH = fileURLToPath(new URL('./interop-tasks.mjs', import.meta.url))
export const DECLARED_PATH = fileURLToPath(new URL('./declared.mjs', import.meta.url))
export const MAIN = branchName('main')

const WAIT_MS = 90_000
const LOOK_MS = 50

export interface InteropWorld {
  readonly control: QueueControl
  readonly front: ConductorFront
  readonly configuration: PeragoConfiguration
  /** A way to lakeFS on which a request may fail, for a Python worker that is started with it. */
  readonly lakefsFront: ConductorFront
  readonly repository: RepositoryName
  readonly repo: VersionedRepo
  readonly inputRef: CommitRef
  /** A path that nothing else uses. */
  at(name: string): string
  settingsOf(taskName: string, lakefsUrl?: string): Promise<PeerSettings>
  /** Registers a workflow of one step for each task, each upon what the one before has published. */
  registerChain(name: string, tasks: readonly string[]): Promise<void>
  start(
    workflow: string,
    told: { readonly params: readonly JsonObject[]; readonly branch?: string; readonly ref?: CommitRef },
  ): Promise<WorkflowId>
  startPython(peer: Peer, taskName: string, lakefsUrl?: string): Promise<RunningPeer>
  openOurs(): Promise<OpenedWorker>
  /** One of our worker processes, to be killed. */
  spawnOurs(): Promise<WorkerProcess>
  ended(workflowId: WorkflowId): Promise<WorkflowView>
  close(): Promise<void>
}

export async function openInteropWorld(conductorUrl: string, lakefs: SuiteLakefs): Promise<InteropWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'perago-interop-'))
  const front = await openConductorFront(conductorUrl)
  const control = conductorControl(conductorUrl)
  const lakefsFront = await openConductorFront(lakefs.url)
  const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  const { repository, storageNamespace } = lakefs.newRepository('together')
  await createRepository(client, { repository, storageNamespace, defaultBranch: MAIN })
  const repo = openLakefsRepo(client, repository)
  await repo.write({ branch: MAIN, path: 'shared/log.txt', body: bodyOf('input\n') })
  await repo.write({ branch: MAIN, path: 'elsewhere.txt', body: bodyOf('elsewhere') })
  const outcome = await repo.commit({ branch: MAIN, message: 'Input' })
  if (!outcome.committed) throw new Error(outcome.reason)
  const inputRef = outcome.commit.ref
  const { accessKeyId, secretAccessKey } = lakefs
  const configuration: PeragoConfiguration = {
    lakefs: { endpoint: lakefs.url, credentials: { accessKeyId, secretAccessKey }, connections: 8 },
    conductor: { serverUrl: front.url, auth: undefined },
    log: { level: 'warn', format: 'json' },
  }
  const started: WorkflowId[] = []
  const closing: (() => Promise<unknown>)[] = []
  let directories = 0

  const world: InteropWorld = {
    control,
    front,
    configuration,
    lakefsFront,
    repository,
    repo,
    inputRef,
    at: (name) => join(directory, name),
    async settingsOf(taskName, url = lakefs.url) {
      const own = join(directory, `python-${++directories}`)
      await mkdir(own)
      return {
        conductorUrl: front.url,
        lakefs: { url, accessKeyId, secretAccessKey },
        taskName,
        directory: own,
      }
    },
    registerChain: (name, tasks) =>
      control.registerWorkflow({
        name,
        tasks: tasks.map((task, index) => ({
          name: task,
          taskReferenceName: `step${index}`,
          inputParameters: {
            workspace: `\${${index === 0 ? 'workflow.input' : `step${index - 1}.output`}.workspace}`,
            params: `\${workflow.input.params${index}}`,
          },
        })),
      }),
    async start(name, { params, branch = 'main', ref = inputRef }) {
      const workspace = { repository, branch, refType: 'commit', ref }
      const each = Object.fromEntries(params.map((value, index) => [`params${index}`, value]))
      const workflowId = await control.start({ name, input: { workspace, ...each } })
      started.push(workflowId)
      return workflowId
    },
    async startPython(peer, taskName, lakefsUrl) {
      const running = startPeer(peer, await world.settingsOf(taskName, lakefsUrl))
      closing.push(() => running.kill())
      await until(
        'the Python worker polls',
        async () => {
          const { body } = await askJson(`${conductorUrl}/api/tasks/queue/polldata?taskType=${taskName}`)
          return JSON.stringify(body).includes('"python')
        },
        running.output,
      )
      return running
    },
    async openOurs() {
      const opened = await openWorker(configuration, TASKS_PATH, {
        root: join(directory, `ours-${++directories}`),
        logger: silentLogger,
      })
      closing.push(() => opened.close({ deadlineMs: 0 }))
      await opened.worker.ready
      return opened
    },
    async spawnOurs() {
      const worker = spawnWorker({
        configuration,
        modulePath: TASKS_PATH,
        secrets: [secretAccessKey],
        log: { level: 'silent', format: 'json', isTerminal: false },
        options: { root: join(directory, `ours-${++directories}`) },
      })
      closing.push(() => {
        worker.kill()
        return worker.ended
      })
      const early = worker.ended.then(({ how }) =>
        Promise.reject(new Error(`a worker process ended: ${how}`)),
      )
      await Promise.race([worker.ready, early])
      return worker
    },
    async ended(workflowId) {
      let view: WorkflowView | undefined
      let looks = 0
      await until('the workflow ends', async () => {
        // Without this, the server checks a deadline a minute late.
        if (++looks % 10 === 0) await control.decide(workflowId)
        view = await control.readWorkflow(workflowId)
        return view?.status !== 'RUNNING'
      })
      if (view === undefined) throw new Error('the workflow is gone')
      return view
    },
    async close() {
      await Promise.all(closing.map((close) => close()))
      for (const workflowId of started) await control.remove(workflowId).catch(() => undefined)
      await front.close()
      await lakefsFront.close()
      await client.close()
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return world
}

/** Waits until it holds; fails with its name, and with what may explain it, when it never does. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  explain: () => string = () => '',
): Promise<void> {
  for (let look = 0; look * LOOK_MS <= WAIT_MS; look++) {
    if (await holds()) return
    await wait(LOOK_MS)
  }
  throw new Error(`it never came to pass: ${what}. ${explain()}`)
}
