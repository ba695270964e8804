// Goal: `perago workflow` on a real Conductor over a lakeFS: started, listed, shown, watched, tried again, ended; and on its own clock.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { branchName, repositoryName, type RepositoryName } from '../../src/base/ids.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import { openProject, type Project } from '../support/cli/command.ts'
import { askJson } from '../support/servers/http.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { openSuiteLakefs, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'

const MAIN = branchName('main')
const TEST_MS = 240_000
const WAIT = { timeout: 120_000, interval: 500 }

const conductor = useRealServer('conductor')
const own = `wf${randomBytes(4).toString('hex')}`

let lakefs: SuiteLakefs
let client: LakefsClient
let repo: VersionedRepo
let repository: RepositoryName
let project: Project
let environment: Record<string, string>

beforeAll(async () => {
  lakefs = await openSuiteLakefs()
  client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  const names = lakefs.newRepository(own)
  repository = repositoryName(names.repository)
  await createRepository(client, { ...names, repository, defaultBranch: MAIN })
  repo = openLakefsRepo(client, repository)
  environment = {
    LAKEFS_ENDPOINT: lakefs.url,
    LAKEFS_ACCESS_KEY_ID: lakefs.accessKeyId,
    LAKEFS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
  }
  project = await openProject()
  await project.write('tasks.mjs', tasks())
}, TEST_MS)

afterAll(async () => {
  await project.close()
  await client.close()
  await lakefs.close()
})

const tasks = (): string => `
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { branchHead, defineTask, defineWorkflow, defineWorkspaceTask } from 'perago'
import { z } from 'zod'

const owner = 'data@example.org'
export const write = defineWorkspaceTask({
  name: '${own}.write', owner, params: z.object({ text: z.string() }), result: z.object({}), workspace: { prefix: 'out' },
  controls: { retry: { count: 0 } },
  body: async ({ workspace, params, attempt, log }) => {
    log.info('writes ' + params.text)
    await writeFile(workspace.path('file'), params.text + ' ' + attempt.workflowId)
    return {}
  },
})
export const open = defineTask({
  name: '${own}.open', owner, params: z.object({ door: z.string() }), result: z.object({}), controls: { retry: { count: 0 } },
  body: ({ params }) => { if (!existsSync(params.door)) throw new Error('the door is closed'); return {} },
})
export const nightly = defineWorkflow({
  name: '${own}.nightly', owner, inputParameters: ['branch', 'repository'],
  steps: [
    { task: branchHead, taskReferenceName: 'head',
      inputParameters: { params: { repository: '\${workflow.input.repository}', branch: '\${workflow.input.branch}' } } },
    { task: write, taskReferenceName: 'write', inputParameters: { workspace: '\${head.output.result}', params: { text: 'night' } } },
  ],
})
export const daily = defineWorkflow({
  name: '${own}.daily', owner, inputParameters: ['workspace', 'text'],
  steps: [{ task: write, taskReferenceName: 'write',
    inputParameters: { workspace: '\${workflow.input.workspace}', params: { text: '\${workflow.input.text}' } } }],
})
export const doors = defineWorkflow({
  name: '${own}.doors', owner, inputParameters: ['door'],
  steps: [
    { task: open, taskReferenceName: 'first', inputParameters: { params: { door: '\${workflow.input.first}' } } },
    { task: open, taskReferenceName: 'second', inputParameters: { params: { door: '\${workflow.input.second}' } } },
  ],
})
`

/** Each answer is one document. */
const asking =
  (surroundings: Record<string, string>) =>
  async (...args: string[]): Promise<Told> => {
    const { code, stdout, stderr } = await project.run([...args, '--json'], surroundings)
    return { code, stderr, json: stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>) }
  }

interface Told {
  readonly code: number | null
  readonly json: Record<string, unknown>
  readonly stderr: string
}

test(
  'CL-150 CL-159 workflows are started by hand, and by the clock of a Conductor with a fixed input',
  async (context) => {
    const { url } = conductor(context)
    const surroundings = { ...environment, CONDUCTOR_SERVER_URL: `${url}/api` }
    const perago = asking(surroundings)
    const headOf = async () => (await repo.readBranch(MAIN))?.head
    expect(await perago('register', 'tasks.mjs', '--yes')).toMatchObject({ code: 0 })
    const registered = await askJson(`${url}/api/metadata/taskdefs/perago.branch_head`)
    expect(registered.body).toMatchObject({ name: 'perago.branch_head' })

    // Nobody works yet: the queue is named.
    const waiting = await perago(
      'workflow',
      'start',
      `${own}.doors`,
      '--input',
      '{"first": "/", "second": "/"}',
    )
    const unpolled = async () => (await perago('doctor', 'tasks.mjs')).json['queues']
    await expect.poll(unpolled, WAIT).toMatchObject({
      queues: expect.arrayContaining([
        { taskType: `${own}.open`, waiting: 1, lastPollAt: null, isOfModule: true, isUnpolled: true },
      ]) as unknown,
    })
    const worker = project.start(['start', 'tasks.mjs'], surroundings)
    expect(await worker.firstLine).toMatch(/^ready /)
    const id = String(waiting.json['workflow_id'])
    const watched = await project.run(['workflow', 'watch', id], surroundings)
    expect(watched.code).toBe(0)
    const lines = watched.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(lines.at(-1)).toMatchObject({ workflow_id: id, status: 'COMPLETED' })
    expect(lines).toContainEqual(expect.objectContaining({ task: 'second', status: 'COMPLETED' }))

    // By hand: the branch becomes its head, in the form of the contract; a commit may be shortened.
    const before = await headOf()
    const place = ['--repository', repository, '--branch', 'main']
    const text = JSON.stringify({ text: 'day' })
    const started = await perago(
      ...['workflow', 'start', `${own}.daily`, ...place, '--input', text, '--correlation-id', own, '--wait'],
    )
    expect(started).toMatchObject({
      code: 0,
      json: {
        status: 'COMPLETED',
        workspace: { repository, branch: 'main', refType: 'commit', ref: before },
      },
    })
    const after = await headOf()
    expect(after).not.toBe(before)
    const short = after?.slice(0, 16) ?? ''
    const plain = await project.run(
      [
        'workflow',
        'start',
        `${own}.daily`,
        '--repo',
        repository,
        '--branch',
        'main',
        '--ref',
        short,
        '--input',
        text,
      ],
      surroundings,
    )
    expect(plain).toMatchObject({ code: 0 })
    expect(plain.stderr).toContain(`${short} is the commit ${after}`)
    expect(await project.run(['workflow', 'watch', plain.stdout.trim()], surroundings)).toMatchObject({
      code: 0,
    })
    expect(await perago('workflow', 'start', `${own}.daily`, '--idempotency-key', 'k')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cli/no-idempotency-keys') as string,
    })
    const found = await perago('workflow', 'ls', '--correlation-id', own)
    expect(found.json).toMatchObject({
      is_whole: true,
      workflows: [{ status: 'COMPLETED', correlation_id: own }],
    })

    // By the clock.
    const schedule = `${own}.schedule`
    const start = { name: `${own}.nightly`, version: 1, input: { repository, branch: 'main' } }
    const body = {
      name: schedule,
      cronExpression: '*/10 * * * * *',
      zoneId: 'UTC',
      startWorkflowRequest: start,
    }
    const scheduler = `${url}/api/scheduler/schedules`
    expect((await askJson(scheduler, { method: 'POST', body })).status).toBe(200)
    try {
      const completed = async () =>
        (
          (await perago('workflow', 'ls', '--name', `${own}.nightly`, '--status', 'completed')).json[
            'workflows'
          ] as object[]
        ).length
      await expect.poll(completed, WAIT).toBeGreaterThanOrEqual(2)
    } finally {
      await askJson(`${scheduler}/${schedule}`, { method: 'DELETE' })
    }
    const published: unknown[] = []
    for await (const { metadata } of repo.log(MAIN)) published.push(metadata['publish.task'])
    expect(published.filter((name) => name === 'write').length).toBeGreaterThanOrEqual(4)
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  },
  2 * TEST_MS,
)

test(
  'CL-153 CL-156 a failed workflow is found, shown with its attempts, tried again from a task, and ended with a reason',
  async (context) => {
    const { url } = conductor(context)
    const surroundings = { ...environment, CONDUCTOR_SERVER_URL: `${url}/api` }
    const perago = asking(surroundings)
    expect(await perago('register', 'tasks.mjs', '--yes')).toMatchObject({ code: 0 })
    const worker = project.start(['start', 'tasks.mjs', '--root', 'second-root'], surroundings)
    expect(await worker.firstLine).toMatch(/^ready /)
    const input = JSON.stringify({ first: '/', second: `${project.directory}/door` })
    const failed = await perago('workflow', 'start', `${own}.doors`, '--input', input, '--wait')
    expect(failed.code).toBe(3)
    const list = ['workflow', 'ls', '--name', `${own}.doors`, '--failed', '--since', '1h']
    await expect.poll(async () => (await perago(...list)).json['workflows'], WAIT).toHaveLength(1)
    const [{ workflow_id: id }] = (await perago(...list)).json['workflows'] as [{ workflow_id: string }]
    expect(await perago(...list, '--since', '2020-01-01', '--until', '2020-01-02')).toMatchObject({
      json: { workflows: [], is_whole: true },
    })

    expect(await perago('workflow', 'retry', id, '--from', 'secnd')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean') as string,
    })
    expect(await perago('workflow', 'retry', id)).toMatchObject({ code: 0 })
    expect((await project.run(['workflow', 'watch', id], surroundings)).code).toBe(3)
    const shown = await project.run(['workflow', 'show', id], surroundings)
    expect(shown.stdout).toMatch(/✗ second +failed .*attempt 2 .*the door is closed/)
    expect(shown.stdout).toMatch(/before +failed .*the door is closed/)
    expect(shown.stdout).toContain(`perago logs ${id}`)
    expect((await perago('workflow', 'show', id)).json).toMatchObject({
      status: 'FAILED',
      version: 1,
      started_at: expect.stringMatching(/Z$/) as string,
      tasks: [
        { task: 'first' },
        { task: 'second', attempt: 1 },
        { task: 'second', attempt: 2, worker_id: expect.any(String) as string },
      ],
    })

    await project.write('door', '')
    expect(await perago('workflow', 'retry', id, '--from', 'first')).toMatchObject({ code: 0 })
    expect((await project.run(['workflow', 'watch', id], surroundings)).code).toBe(0)
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)

    const open = await perago('workflow', 'start', `${own}.doors`, '--input', input)
    const ended = await perago(
      'workflow',
      'terminate',
      String(open.json['workflow_id']),
      '--reason',
      'wrong day',
    )
    expect(ended.json).toMatchObject({ status: 'TERMINATED', reason: 'wrong day' })
    const last = await project.run(['workflow', 'watch', String(open.json['workflow_id'])], surroundings)
    expect(last.code).toBe(3)
  },
  TEST_MS,
)
