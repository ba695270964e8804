// Goal: ways in which a worker can leave a task, a slot or a branch in a bad way, each tried with the shipped command on a
// real Conductor and over a lakeFS API, and none of them happens. `npm run build` comes first.
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { branchName, type CommitRef, type RepositoryName } from '../../src/base/ids.ts'
import type { WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { evidenceTag } from '../../src/publication/evidence.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import type { QueueControl, WorkflowView } from '../../src/engine/protocol/control.ts'
import { conductorControl } from '../conformance/conductor-control.ts'
import { openProject, type Project, type Started } from '../support/cli/command.ts'
import { bodyOf, filesOf, logOf } from '../support/publication-world.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { openSuiteLakefs, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'
import { openConductorFront, type ConductorFront } from '../support/worker-conductor/front.ts'
import { textOf, until } from '../support/worker-conductor/world.ts'

const TEST_MS = 120_000
const MAIN = branchName('main')
const TASKS = readFileSync(fileURLToPath(new URL('../support/must-not/tasks.mjs', import.meta.url)), 'utf8')
/** What other programs on a machine are configured by, and none of which is meant for us. */
const UNRELATED = {
  OTEL_SERVICE_NAME: 'somebody-else',
  OTEL_RESOURCE_ATTRIBUTES: 'team=other',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'a=b',
}

const conductor = useRealServer('conductor')
let front: ConductorFront
let control: QueueControl
let lakefs: SuiteLakefs
let client: LakefsClient
let repository: RepositoryName
let repo: VersionedRepo
let input: CommitRef
let project: Project
let environment: Record<string, string>
let domain: string
let domains = 0
let started: WorkflowId[]

beforeAll(async () => {
  lakefs = await openSuiteLakefs()
}, TEST_MS)
afterAll(() => lakefs.close())
beforeEach(async (context) => {
  const { url } = conductor(context)
  control = conductorControl(url)
  front = await openConductorFront(url)
  domain = `must${process.pid}n${++domains}`
  started = []
  client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  const fresh = lakefs.newRepository('lake')
  repository = fresh.repository
  await createRepository(client, { ...fresh, defaultBranch: MAIN })
  repo = openLakefsRepo(client, repository)
  input = await put('data/in.txt')
  project = await openProject()
  await project.write('tasks.mjs', TASKS)
  environment = {
    ...UNRELATED,
    CONDUCTOR_SERVER_URL: `${front.url}/api`,
    LAKEFS_ENDPOINT: lakefs.url,
    LAKEFS_ACCESS_KEY_ID: lakefs.accessKeyId,
    LAKEFS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
  }
  const registered = await project.run(['register', 'tasks.mjs', '--yes'], environment)
  if (registered.code !== 0) throw new Error(registered.stderr)
}, TEST_MS)

afterEach(async () => {
  await project.close()
  for (const workflow of started) await control.remove(workflow).catch(() => undefined)
  await front.close()
  await client.close()
}, TEST_MS)

async function put(path: string): Promise<CommitRef> {
  await repo.write({ branch: MAIN, path, body: bodyOf(path) })
  const outcome = await repo.commit({ branch: MAIN, message: path })
  if (!outcome.committed) throw new Error(outcome.reason)
  return outcome.commit.ref
}

async function startWorker(...more: readonly string[]): Promise<Started> {
  const worker = project.start(['start', 'tasks.mjs', '--domain', domain, ...more], environment)
  await worker.firstLine
  return worker
}

/** One task in its own workflow; its body reports under the given name. */
async function begin(
  task: string,
  name: string,
  params: { go?: string; how?: string } = {},
): Promise<WorkflowId> {
  await control.registerWorkflow({
    name: task,
    tasks: [
      {
        name: task,
        taskReferenceName: 'it',
        inputParameters: { workspace: '${workflow.input.workspace}', params: '${workflow.input.params}' },
      },
    ],
  })
  const workspace = { repository, branch: 'main', refType: 'commit', ref: input }
  const workflow = await control.start({
    name: task,
    input: { workspace, params: { begun: at(name), ...params } },
    taskToDomain: { '*': domain },
  })
  started.push(workflow)
  return workflow
}

const at = (name: string): string => join(project.directory, name)
const begunBy = (name: string, attempt = 0): Promise<void> =>
  until(`${name} runs`, () => textOf(at(`${name}-${attempt}`)) !== undefined)

async function ended(workflow: WorkflowId): Promise<WorkflowView> {
  await until('the workflow ends', async () => (await control.readWorkflow(workflow))?.status !== 'RUNNING')
  const view = await control.readWorkflow(workflow)
  if (view === undefined) throw new Error('the workflow is gone')
  return view
}

const statusesOf = ({ tasks }: WorkflowView): string[] => tasks.map(({ status }) => status)

describe('a worker that is asked to stop, or starts', { timeout: TEST_MS }, () => {
  test('IO-30 SIGTERM does not hang, and no new task is taken after it', async () => {
    const worker = await startWorker('--health-port', '0')
    const health = /health and metrics at (\S+)/.exec(worker.stderr())?.[1] ?? '?'
    const first = await begin('must_inline', 'first', { go: at('go') })
    await begunBy('first')
    worker.child.kill('SIGTERM')
    await until('it is stopping', async () =>
      (await (await fetch(`${health}/readyz`)).text()).includes('stopping'),
    )
    const second = await begin('must_inline', 'second')
    await writeFile(at('go'), '')
    expect((await worker.ended).code).toBe(0)
    expect(await control.readWorkflow(first)).toMatchObject({
      status: 'COMPLETED',
      output: { result: { attempt: 0 } },
    })
    expect((await control.readWorkflow(second))?.tasks).toMatchObject([
      { status: 'SCHEDULED', retryCount: 0 },
    ])
    expect(textOf(at('second-0'))).toBeUndefined()
  })

  test('IO-31 what a killed supervisor left behind does not stop the next start, and its task does not wait for a timeout', async () => {
    const killed = await startWorker()
    const workflow = await begin('must_inline', 'first', { go: at('never') })
    await begunBy('first')
    killed.child.kill('SIGKILL')
    await killed.ended
    const next = await startWorker()
    const view = await ended(workflow)
    expect([view.status, statusesOf(view)]).toEqual(['COMPLETED', ['FAILED', 'COMPLETED']])
    next.child.kill('SIGTERM')
    expect((await next.ended).code).toBe(0)
  })

  test('IO-32 workers that cannot run do not end the command with status 0', async () => {
    // Loads where it is looked at, and not where it is to run.
    await project.write('broken.mjs', `if (process.send) throw new Error('not in here')\n${TASKS}`)
    const { code, stderr } = await project.run(['start', 'broken.mjs', '--domain', domain], environment)
    expect(code).toBe(2)
    expect(stderr).toContain('not in here')
  })

  test('IO-33 variables that are meant for others do not stop a command', async () => {
    for (const args of [
      ['check', 'tasks.mjs'],
      ['extract', 'tasks.mjs'],
      ['config'],
      ['doctor', 'tasks.mjs'],
    ])
      expect(await project.run(args, environment)).toMatchObject({ code: 0 })
  })
})

describe('a body that ends, or is ended', { timeout: TEST_MS }, () => {
  test.each(['must_process', 'must_program'])(
    'IO-34 an executor that is killed does not wedge its slot (%s)',
    async (task) => {
      await startWorker('--slots', '1')
      const workflow = await begin(task, 'first', { go: at('never') })
      await begunBy('first')
      process.kill(Number(textOf(at('first-0'))), 'SIGKILL')
      const view = await ended(workflow)
      expect([view.status, statusesOf(view)]).toEqual(['COMPLETED', ['FAILED', 'COMPLETED']])
      expect((await ended(await begin(task, 'second', { go: at('.') }))).status).toBe('COMPLETED')
    },
  )

  test('IO-35 a body that exits or crashes does not leave its task to time out, wherever it runs', async () => {
    await startWorker('--slots', '1')
    const places = ['must_inline', 'must_thread', 'must_process']
    const all = places.flatMap((task) => ['exit', 'crash'].map((how) => ({ task, how })))
    const workflows = await Promise.all(all.map(({ task, how }) => begin(task, `${task}-${how}`, { how })))
    for (const workflow of workflows) {
      const view = await ended(workflow)
      expect([view.status, statusesOf(view)]).toEqual(['COMPLETED', ['FAILED', 'COMPLETED']])
      expect(view.tasks[0]?.reasonForIncompletion).toMatch(
        /\[(worker\/body-exited|task\/failed)\]\. .* at [\w.-]+:\d+/,
      )
    }
  })
})

describe('somebody else, or the network', { timeout: TEST_MS }, () => {
  test('IO-36 a foreign commit is not dropped without a trace, and not at all where only own ones may be replaced', async () => {
    await startWorker()
    const replacing = await begin('must_write', 'first', { go: at('go') })
    const keeping = await begin('must_write_own', 'second', { go: at('go-own') })
    await Promise.all([begunBy('first'), begunBy('second')])
    const foreign = await put('foreign.txt')
    await writeFile(at('go-own'), '')
    expect(statusesOf(await ended(keeping))).toEqual(['FAILED_WITH_TERMINAL_ERROR'])
    expect((await repo.readBranch(MAIN))?.head).toBe(foreign)

    await writeFile(at('go'), '')
    const { output, tasks } = await ended(replacing)
    const [head, parent] = (await logOf(repo)).map(({ ref }) => ref)
    expect([output, parent]).toMatchObject([{ workspace: { ref: head } }, input])
    const tag = evidenceTag(foreign)
    expect(await filesOf(repo, branchName(tag))).toHaveProperty(['foreign.txt'])
    const said = (await control.readLogs(tasks[0]?.taskId ?? ('?' as never))).join('\n')
    expect(said).toContain(`superseded ${foreign}`)
    expect(said).toContain(tag)
  })

  test('IO-37 one 429, 500, 502 or 503 of any call of Conductor does not fail the attempt', async () => {
    const calls: Readonly<Record<string, (request: Passing) => boolean>> = {
      poll: ({ path }) => path.includes('/tasks/poll/'),
      renew: ({ update }) => update.status === 'IN_PROGRESS',
      'read the task': ({ method, path }) => method === 'GET' && /^\/api\/tasks\/[0-9a-f-]{36}$/.test(path),
      'read the workflow': ({ method, path }) => method === 'GET' && path.startsWith('/api/workflow/'),
      'post the result': ({ update }) => update.status === 'COMPLETED',
    }
    await startWorker()
    for (const status of [429, 500, 502, 503]) {
      const struck = new Set<string>()
      front.interfere = (request) => {
        const call = Object.entries(calls).find(([name, isIt]) => !struck.has(name) && isIt(request))?.[0]
        if (call === undefined) return 'pass'
        struck.add(call)
        return status
      }
      const workflow = await begin('must_write', `by-${status}`, { go: at(`go-${status}`) })
      const toBeStruck = Object.keys(calls).length
      await until('all but the result were struck', () => struck.size === toBeStruck - 1)
      await writeFile(at(`go-${status}`), '')
      const view = await ended(workflow)
      expect([status, view.status, statusesOf(view)]).toEqual([status, 'COMPLETED', ['COMPLETED']])
      expect(struck.size).toBe(toBeStruck)
      const [head, parent] = (await logOf(repo)).map(({ ref }) => ref)
      expect(parent).toBe(input)
      input = head ?? input
    }
  })
})

type Passing = Parameters<ConductorFront['interfere']>[0]
