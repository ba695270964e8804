// perago dev and the commands about pipelines, as they are shipped: `npm test` builds dist/ first.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openProject, type Project, type Started } from '../../test/support/cli/command.ts'

const WAIT_MS = 90_000

const tasks = (greeting: string, retries = 0): string => `
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { defineWorkspaceTask } from 'perago'
import { definePipeline, workspaceInput } from 'perago/engine'
import { z } from 'zod'

const owner = 'data@example.org'
const task = (name, body) => defineWorkspaceTask({
  name, owner, params: z.object({ file: z.string(), ms: z.number().default(0), until: z.string().default('') }), result: z.string(),
  workspace: { prefix: 'out' }, controls: { retry: { count: ${retries} } }, body,
})

export const write = task('demo.write', async ({ workspace, params, log }) => {
  await wait(params.ms)
  for (let looks = 0; params.until !== '' && !existsSync(params.until) && looks < 600; looks++) await wait(100)
  await writeFile(workspace.path(params.file), '${greeting}')
  log.info('wrote ' + params.file)
  return '${greeting}'
})

export const twice = definePipeline(
  { name: 'demo.twice', input: z.object({ workspace: workspaceInput }) },
  (pipeline) => {
    const first = pipeline.task('first', write, { workspace: pipeline.input.workspace, params: { file: 'c', ms: 0 } })
    const second = pipeline.task('second', write, { workspace: first.workspace, params: { file: 'd', ms: 0 } })
    return { said: second.result }
  },
)

export const refuse = task('demo.refuse', () => { throw new Error('there is no such order') })
`

const PIPELINE = `
name: demo
input: { workspace: {}, ms: { default: 0 }, until: { default: '' } }
units:
  first: { task: demo.write, workspace: '\${workflow.input.workspace}', params: { file: a, ms: '\${workflow.input.ms}', until: '\${workflow.input.until}' } }
  second: { task: demo.write, workspace: '\${first.output.workspace}', params: { file: b } }
output: { said: '\${second.output.result}', ref: '\${second.output.workspace.ref}' }
`
const FAILING = `
name: failing
input: { workspace: {} }
units:
  refuse: { task: demo.refuse, workspace: '\${workflow.input.workspace}', params: { file: a } }
`

describe('perago dev', () => {
  let project: Project

  beforeEach(async () => {
    project = await openProject()
    await project.write('tasks.mjs', tasks('hello'))
    await project.write('demo.yaml', PIPELINE)
    await project.write('failing.yaml', FAILING)
  })
  afterEach(() => project.close())

  const startDev = async (): Promise<Started> => {
    const dev = project.start(['dev', 'tasks.mjs', 'demo.yaml', 'failing.yaml', '--repository', 'lake'])
    expect(await dev.firstLine).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+\/api$/)
    return dev
  }

  const askLakefs = async (path: string): Promise<Record<string, unknown>> => {
    const file = await readFile(join(project.directory, '.perago/lakefs/address.json'), 'utf8')
    const { url } = JSON.parse(file) as { url: string }
    const { stdout } = await project.run(['lakefs', 'credentials', '--json'])
    const { accessKeyId, secretAccessKey } = JSON.parse(stdout) as Record<string, string>
    const key = Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')
    const answer = await fetch(`${url}/api/v1/repositories/lake/${path}`, {
      headers: { authorization: `Basic ${key}` },
    })
    return (await answer.json()) as Record<string, unknown>
  }

  const input = async (more: object = {}): Promise<string> => {
    const { commit_id: ref } = await askLakefs('branches/main')
    return JSON.stringify({
      workspace: { repository: 'lake', branch: 'main', refType: 'commit', ref },
      ...more,
    })
  }

  const run = async (name: string, ...more: string[]) =>
    project.run(['run', name, '--repo', 'lake', '--branch', 'main', '--json', ...more])

  test(
    'EN-715 the routes of executions are on the same port, for programs of this machine',
    async () => {
      const dev = await startDev()
      const url = (await dev.firstLine).replace(/^ready (.*)\/api$/, '$1')
      const definition = { name: 'signed', units: { sign: { human: {} } } }
      const post = (path: string, body: object, headers = {}) =>
        fetch(`${url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
      expect((await post('/executions', { definition }, { origin: 'http://evil.example' })).status).toBe(401)
      const started = await post('/executions', { definition })
      const { execution_id: id } = (await started.json()) as { execution_id: string }
      expect((await project.run(['ps'])).stdout).toContain(id)
      await post(`/executions/${id}/units/sign/complete`, {})
      const waited = await fetch(`${url}/executions/${id}/wait`)
      expect(await waited.json()).toMatchObject({ ended: true, execution: { status: 'COMMIT' } })
      const pipelines = await fetch(`${url}/pipelines`)
      expect(await pipelines.json()).toMatchObject({
        pipelines: expect.arrayContaining([{ name: 'demo', version: 1 }]) as unknown,
      })
    },
    WAIT_MS,
  )

  test(
    'CL-61 a pipeline runs on this machine alone, and publishes; a task that is defined anew runs without a new start',
    async () => {
      const dev = await startDev()
      const first = await run('demo')
      expect(first).toMatchObject({ code: 0 })
      const done = JSON.parse(first.stdout) as { status: string; output: { said: string; ref: string } }
      expect(done).toMatchObject({ status: 'COMPLETED', output: { said: 'hello' } })
      expect((await askLakefs('branches/main'))['commit_id']).toBe(done.output.ref)
      expect(await askLakefs('refs/main/objects/ls?prefix=out/')).toMatchObject({
        results: [{ path: 'out/a' }, { path: 'out/b' }],
      })

      expect(JSON.parse((await run('demo.twice')).stdout)).toMatchObject({ output: { said: 'hello' } })

      await project.write('tasks.mjs', tasks('changed', 1))
      await expect
        .poll(() => dev.stderr(), { timeout: WAIT_MS })
        .toContain('reloaded after a change of tasks.mjs')
      const second = await run('demo')
      expect(JSON.parse(second.stdout)).toMatchObject({ output: { said: 'changed' } })

      await project.write('tasks.mjs', 'export const broken =')
      await expect.poll(() => dev.stderr(), { timeout: WAIT_MS }).toContain('not reloaded')
      expect(await run('demo')).toMatchObject({ code: 0 })
      dev.child.kill('SIGTERM')
      expect(await dev.ended).toMatchObject({ code: 0 })
    },
    3 * WAIT_MS,
  )

  test(
    'CL-62 a failed pipeline is told with its reason and an exit code, and shown, listed, logged and cancelled',
    async () => {
      await startDev()
      const failed = await run('failing')
      expect(failed.code).toBe(3)
      const { error } = JSON.parse(failed.stderr.trim().split('\n').at(-1) ?? '') as {
        error: { message: string; details: { workflow_id: string } }
      }
      expect(error.message).toContain('there is no such order')
      const shown = await project.run(['show', error.details.workflow_id])
      expect(shown.stdout).toMatch(/^failing failed: .*\n {2}✗ refuse +failed +.* there is no such order/)

      const started = await project.run([
        ...['run', 'demo', '--no-wait', '--input', await input({ ms: 60_000 })],
      ])
      const id = started.stdout.trim()
      expect((await project.run(['ps'])).stdout).toContain(`${id}  demo`)
      expect((await project.run(['pause', id])).stdout).toBe('demo paused\n')
      expect((await project.run(['resume', id])).stdout).toBe('demo running\n')
      expect((await project.run(['cancel', id, '--reason', 'wrong day'])).stdout).toBe('demo terminated\n')
      expect((await project.run(['ps'])).stdout).toBe('nothing runs\n')

      const done = JSON.parse((await run('demo')).stdout) as { workflow_id: string }
      expect((await project.run(['logs', done.workflow_id])).stdout).toContain('first  wrote a')
      expect((await project.run(['show', 'nobody'])).code).toBe(2)
    },
    3 * WAIT_MS,
  )

  test(
    'CL-65 CL-66 a task without a worker is told, and schedules are listed',
    async () => {
      const lonely = [
        'name: lonely',
        "schedules: { nightly: { cron: '0 3 * * *' } }",
        'units: { clean: { task: orders.clean } }',
      ]
      await project.write('lonely.yaml', lonely.join('\n'))
      const dev = project.start(['dev', 'tasks.mjs', 'lonely.yaml'])
      expect(await dev.firstLine).toMatch(/^ready /)
      expect((await project.run(['ps', '--schedules'])).stdout).toMatch(
        /^lonely\/nightly +0 3 \* \* \* UTC +next \S+T03:00:00.000Z\n$/,
      )
      const running = project.start(['run', 'lonely', '--input', '{}'])
      await expect.poll(() => running.stderr(), { timeout: WAIT_MS }).toContain('"warning"')
      expect(running.stderr()).toContain('no worker has ever asked for it. Export the task from the module')
      running.child.kill('SIGINT')
      expect((await running.ended).code).toBe(3)
    },
    WAIT_MS,
  )

  test(
    'CL-63 a pipeline goes on where it stood after perago dev was killed',
    async () => {
      const dev = await startDev()
      const until = join(project.directory, 'go')
      const started = await project.run(['run', 'demo', '--no-wait', '--input', await input({ until })])
      const id = started.stdout.trim()
      const show = async () =>
        JSON.parse((await project.run(['show', id, '--json'])).stdout) as {
          status: string
          tasks: { task: string; status: string }[]
        }
      await expect.poll(async () => (await show()).tasks[0]?.status, { timeout: WAIT_MS }).toBe('IN_PROGRESS')
      dev.child.kill('SIGKILL')
      await dev.ended
      expect((await project.run(['ps'])).stderr).toContain('cli/no-runner')

      await project.write('go', '')
      await startDev()
      await expect
        .poll(async () => (await show()).status, { timeout: WAIT_MS, interval: 500 })
        .toBe('COMPLETED')
      const { results } = (await askLakefs('refs/main/commits')) as { results: { message: string }[] }
      // The first commit of the repository, and one for each task.
      expect(results).toHaveLength(3)
    },
    3 * WAIT_MS,
  )

  test('CL-62 a branch is named once, and completely', async () => {
    for (const args of [
      ['--repo', 'lake'],
      ['--repo', 'lake', '--branch', 'main', '--input', '{"workspace":{}}'],
    ])
      expect((await project.run(['run', 'demo', ...args])).stderr).toContain('cli/bad-usage')
  })

  test('CL-62 where nothing runs workflows, it is said what to start', async () => {
    const { code, stderr } = await project.run(['run', 'demo'])
    expect(code).toBe(2)
    expect(stderr).toContain('perago dev MODULE')
  })
})
