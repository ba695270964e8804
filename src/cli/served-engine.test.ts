// Commands of people on the engine of `perago serve --engine`, as they are shipped: `npm test` builds dist/ first.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openProject, type Project } from '../../test/support/cli/command.ts'

const WAIT_MS = 60_000

const PIPELINE = {
  name: 'signed',
  units: {
    first: { human: {} },
    second: { human: {}, after: ['first'] },
    work: { task: 'orders.clean', after: ['second'] },
  },
}

let project: Project
beforeEach(async () => {
  project = await openProject()
})
afterEach(() => project.close())

interface Served {
  readonly url: string
  readonly token: string
  readonly post: (path: string, body: object) => Promise<Record<string, unknown>>
}

async function serveEngine(role = 'operator'): Promise<Served> {
  const created = await project.run(['token', 'create', '--name', 'me', '--role', role, '--json'])
  const { token } = JSON.parse(created.stdout) as { token: string }
  const server = project.start(['serve', '--engine', '--port', '0'])
  const url = (await server.firstLine).replace('ready ', '')
  const post: Served['post'] = async (path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, unknown>
  }
  return { url, token, post }
}

test(
  'CL-66 an execution of a served engine is drawn and rolled back, given its address and a token',
  async () => {
    const { url, token, post } = await serveEngine()
    const { execution_id: id } = (await post('/executions', { definition: PIPELINE })) as {
      execution_id: string
    }
    await post(`/executions/${id}/units/first/complete`, {})
    const on = (...args: string[]) =>
      project.run([...args, '--server', url, '--token', 'env:MINE'], { MINE: token })

    expect((await on('graph', id)).stdout).toMatch(/first +human +completed\n.*second +human +executing/)
    const dry = await on('rollback', id, '--unit', 'first', '--dry-run')
    expect(dry).toMatchObject({ code: 0, stdout: 'runs again  first, second\n' })
    expect(await on('rollback', id, '--unit', 'first', '--json')).toMatchObject({ code: 0 })
    expect((await on('graph', id)).stdout).toMatch(/first +human +executing\n.*second +human +pending/)

    // As workers have it.
    const settings = {
      ...{ CONDUCTOR_SERVER_URL: `${url}/api`, CONDUCTOR_AUTH_KEY: 'me', CONDUCTOR_AUTH_SECRET: token },
    }
    const configured = await project.run(['graph', id], settings)
    expect(configured.stdout).toMatch(/first +human +executing/)
    expect(configured.stderr).toContain(`on ${url}`)

    await post('/pipelines', { ...PIPELINE, schedules: { daily: { cron: '0 3 * * *' } } })
    expect((await on('ps', '--schedules')).stdout).toMatch(
      /^signed\/daily +0 3 \* \* \* UTC +next \S+T03:00:00.000Z\n$/,
    )
    const listed = await project.run(['ps', '--schedules', '--json'], settings)
    expect(JSON.parse(listed.stdout)).toMatchObject({ schedules: [{ pipeline: 'signed', name: 'daily' }] })
  },
  WAIT_MS,
)

test(
  'CL-66 a token that may not, none, or no engine at the address is told with what to do',
  async () => {
    const { url, token, post } = await serveEngine('viewer')
    const id = '6f1f2c3d-6b1a-4a57-9c9e-0d8f5a1b2c3d'
    expect(await post('/executions', { definition: PIPELINE })).toMatchObject({ error: { kind: 'refused' } })
    const rollback = (...args: string[]) => project.run(['rollback', id, ...args], { MINE: token })
    expect((await rollback('--server', url)).stderr).toContain('token')
    expect((await rollback('--server', url, '--token', 'env:MINE')).code).toBe(2)
    const given = await rollback('--server', url, '--token', token)
    expect(given).toMatchObject({ code: 2, stderr: expect.stringContaining('--token env:') as string })
    expect(given.stderr).not.toContain(token)
    expect((await rollback('--server', 'perago.example')).stderr).toContain('cli/bad-usage')
    expect((await project.run(['ps', '--server', url])).stderr).toContain('--server belongs to --schedules')

    expect((await rollback()).stderr).toContain('name a "perago serve --engine" with --server')
    const closed = await rollback('--server', 'http://127.0.0.1:9')
    expect(closed.stderr).toContain('cli/engine-gone')
  },
  WAIT_MS,
)

test(
  'CL-65 perago run says of a task that nobody works on what to start',
  async () => {
    const { url, token, post } = await serveEngine('admin')
    await post('/pipelines', { name: 'lonely', units: { clean: { task: 'orders.clean' } } })
    const settings = {
      ...{ CONDUCTOR_SERVER_URL: `${url}/api`, CONDUCTOR_AUTH_KEY: 'me', CONDUCTOR_AUTH_SECRET: token },
    }
    const running = project.start(['run', 'lonely', '--input', '{}'], settings)
    await expect.poll(() => running.stderr(), { timeout: WAIT_MS }).toContain('"warning"')
    const [warning = ''] = running
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"warning"'))
    expect(JSON.parse(warning)).toEqual({
      warning:
        'nobody works on "orders.clean": no worker has ever asked for it. Start a worker: "perago start MODULE", with the module that exports the task.',
    })
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(3)
  },
  WAIT_MS,
)
