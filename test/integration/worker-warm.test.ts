// Goal: of a chain of tasks on one worker only the first one downloads anything, wherever their bodies run.
// Bodies outside this thread load the package as it was built: `npm run build` comes first.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { branchName, type CommitRef, type RepositoryName } from '../../src/base/ids.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { plainRedactor } from '../../src/base/redaction.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { openWorkerMetrics } from '../../src/runtime/telemetry/worker-metrics.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import type { WorkerEvent } from '../../src/worker/events.ts'
import { openLocalLeases } from '../../src/worker/leases/lease.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import { openOutbox } from '../../src/worker/results/outbox.ts'
import { WarmDirectories } from '../../src/worker/attempt/warm-directories.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { ContentCache } from '../../src/workspace/cache/content-cache.ts'
import { openWorkspaceRoot } from '../../src/workspace/ownership/ownership.ts'
import { filesOf } from '../support/publication-world.ts'
import { openSuiteLakefs, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'

const modulePath = fileURLToPath(new URL('../support/worker/tasks.mjs', import.meta.url))
const main = branchName('main')
const FILES = 40

let lakefs: SuiteLakefs
let client: LakefsClient
/** What was asked of lakeFS, operation by operation. */
const asked: string[] = []
beforeAll(async () => {
  lakefs = await openSuiteLakefs()
  client = createLakefsClient({
    ...lakefs,
    endpoint: lakefs.url,
    onExchange: ({ operation }) => void asked.push(operation),
  })
})
afterAll(async () => {
  await client.close()
  await lakefs.close()
})

let root: string
let queue: TestQueue
let repository: RepositoryName
let inputRef: CommitRef

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'perago-warm-'))
  const fresh = lakefs.newRepository('warm')
  repository = fresh.repository
  await createRepository(client, { ...fresh, defaultBranch: main })
  const repo = openLakefsRepo(client, repository)
  for (let file = 0; file < FILES; file++) {
    const body = { sizeBytes: 4096, open: () => Buffer.alloc(4096, file) }
    await repo.write({ branch: main, path: `orders/${file % 5}/${file}`, body })
  }
  const outcome = await repo.commit({ branch: main, message: 'Input' })
  if (!outcome.committed) throw new Error(outcome.reason)
  inputRef = outcome.commit.ref
  queue = openTestQueue()
})
afterEach(() => rm(root, { recursive: true, force: true }))

const CHAIN = ['here', 'thread', 'child', 'program', 'here']

/** Runs a chain through its own worker; returns the report of each checkout. */
async function runChain(options: {
  readonly warm: boolean
  readonly cache: boolean
  readonly chain?: readonly string[]
  readonly branch?: string
}): Promise<{ readonly origins: readonly string[]; readonly metrics: string; readonly status: string }> {
  const { chain = CHAIN, branch = 'main' } = options
  const tasks = await loadTasks(modulePath)
  for (const { name } of tasks) await queue.registerTask({ name, responseTimeoutSeconds: 30 })
  await queue.registerWorkflow({
    name: `chain-${branch}`,
    tasks: chain.map((name, at) => ({
      name,
      taskReferenceName: `step${at}`,
      inputParameters: {
        workspace: at === 0 ? '${workflow.input.workspace}' : `\${step${at - 1}.output.workspace}`,
        params: { text: `step ${at}` },
      },
    })),
  })
  const workspaceRoot = await openWorkspaceRoot({ directory: root, workerId: 'w' })
  const warm = new WarmDirectories({ root: workspaceRoot, clock: systemClock, logger: silentLogger })
  const cache = new ContentCache({ root, maxBytes: 100_000_000 })
  const leases = openLocalLeases({ queue, clock: systemClock, logger: silentLogger })
  const directory = join(root, 'outbox')
  const outbox = await openOutbox({ directory, logger: silentLogger, now: () => new Date() })
  const origins: string[] = []
  const metrics = openWorkerMetrics(() => undefined)
  const note = (event: WorkerEvent): void => {
    if (event.kind !== 'step' || event.event.step !== 'lay-out') return
    const { isWarm, cachedFiles } = event.event.details
    origins.push(isWarm === true ? 'warm' : `${String(cachedFiles)} from the cache`)
  }
  const worker = startWorker({
    queue,
    tasks: tasks.map((task) => ({ task, modulePath })),
    openRepo: (name) => openLakefsRepo(client, name),
    root: workspaceRoot,
    leases,
    outbox,
    workerId: 'w',
    logger: silentLogger,
    redactor: plainRedactor,
    observers: [note, metrics.observe],
    ...(options.warm ? { warm } : {}),
    ...(options.cache ? { cache } : {}),
  })
  try {
    const workspace = { repository, branch, refType: 'commit', ref: inputRef }
    const id = await queue.start({ name: `chain-${branch}`, input: { workspace } })
    await expect
      .poll(async () => (await queue.readWorkflow(id))?.status, { timeout: 60_000 })
      .not.toBe('RUNNING')
    const view = await queue.readWorkflow(id)
    return { origins, metrics: await metrics.render(), status: view?.status ?? 'gone' }
  } finally {
    await worker.stop()
    await leases.close()
    await cache.close()
    await warm.close()
    await workspaceRoot.close()
  }
}

const downloads = (): number =>
  asked.filter((operation) => operation === 'getObject' || operation === 'listObjects').length

test('WK-170 only the first task of a chain downloads, wherever the bodies run, and all publish what they should', async () => {
  asked.length = 0
  const { origins, metrics, status } = await runChain({ warm: true, cache: true })
  expect(status).toBe('COMPLETED')
  expect(origins).toEqual(['0 from the cache', 'warm', 'warm', 'warm', 'warm'])
  // One listing, and each object once.
  expect(downloads()).toBe(1 + FILES)
  const files = await filesOf(openLakefsRepo(client, repository))
  expect(Object.keys(files)).toHaveLength(FILES + 1)
  expect(files['orders/out.txt']).toBe('step 4 by attempt 0')
  expect(files['orders/3/33']).toBe(String.fromCharCode(33).repeat(4096))
  expect(metrics).toContain('perago_worker_lay_outs_total{task="thread",origin="warm"} 1')
  expect(metrics).toContain(`perago_worker_lay_out_files_total{task="here",origin="repository"} ${FILES}`)
  expect(await readdir(join(root, 'workers'))).toEqual([])
})

test('WK-171 what one worker fetched another takes from the cache, and an unchanged object is never fetched twice', async () => {
  await openLakefsRepo(client, repository).createBranch({ branch: branchName('other'), from: inputRef })
  asked.length = 0
  const first = await runChain({ warm: false, cache: true, chain: ['here'] })
  expect(first).toMatchObject({ status: 'COMPLETED', origins: ['0 from the cache'] })
  expect(downloads()).toBe(1 + FILES)
  asked.length = 0
  const second = await runChain({ warm: false, cache: true, chain: ['program'], branch: 'other' })
  expect(second).toMatchObject({ status: 'COMPLETED', origins: [`${FILES} from the cache`] })
  expect(downloads()).toBe(1)
  expect(second.metrics).toContain(
    `perago_worker_lay_out_files_total{task="program",origin="cache"} ${FILES}`,
  )
})

test('WK-171 without either everything is fetched by each task', async () => {
  asked.length = 0
  const { origins, status } = await runChain({ warm: false, cache: false })
  expect(status).toBe('COMPLETED')
  expect(new Set(origins)).toEqual(new Set(['0 from the cache']))
  // What the first task added is there for the others.
  expect(downloads()).toBe(CHAIN.length * (1 + FILES) + (CHAIN.length - 1))
})
