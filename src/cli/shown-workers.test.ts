// The workers of a machine, as the commands show them, as they are shipped: `npm test` builds dist/ first.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openProject, type Project } from '../../test/support/cli/command.ts'
import { logInWithKey } from '../../test/support/doors/page.ts'

const WAIT_MS = 90_000
const TASKS = `import { defineTask } from 'perago'
import { z } from 'zod'
export const note = defineTask({ name: 'demo.note', owner: 'data@example.org', params: z.object({}), result: z.string(), body: () => 'noted' })`

let project: Project
beforeEach(async () => {
  project = await openProject()
  await project.write('tasks.mjs', TASKS)
})
afterEach(() => project.close())

interface Told {
  readonly pid: number
  readonly state: string
  readonly polls: readonly { readonly task_type: string; readonly succeeded_at?: string }[]
}

async function workersOf(url: string, headers: Record<string, string> = {}): Promise<readonly Told[]> {
  const response = await fetch(`${url}/workers`, { headers })
  expect(response.status).toBe(200)
  return ((await response.json()) as { readonly workers: readonly Told[] }).workers
}

test(
  'DO-158 perago dev, serve and ui show the workers below their root; one that is killed gives way to its successor',
  async () => {
    const dev = project.start(['dev', 'tasks.mjs', '--no-reload'])
    await expect.poll(dev.stdout, { timeout: WAIT_MS }).toContain('metrics')
    const [, url = '', key = ''] = /page +(http:\/\/[^/]+)\/#key=(\S+)\n/.exec(dev.stdout()) ?? []
    const headers = await logInWithKey(url, key)
    const polled = { task_type: 'demo.note', succeeded_at: expect.stringMatching(/Z$/) as string }
    const one = [
      { state: 'running', polls: expect.arrayContaining([expect.objectContaining(polled)]) as never },
    ]
    await expect.poll(() => workersOf(url, headers), { timeout: WAIT_MS }).toMatchObject(one)
    const [worker] = await workersOf(url, headers)

    const serve = project.start(['serve', '--memory', '--port', '0', '--open-loopback', 'viewer'])
    const elsewhere = [
      ...['serve', '--memory', '--port', '0', '--open-loopback', 'viewer'],
      '--root',
      'other',
    ]
    const other = project.start(elsewhere)
    const conductor = { CONDUCTOR_SERVER_URL: `${url}/api` }
    const ui = project.start(['ui', '--port', '0', '--root', '.perago/work'], conductor)
    const addressOf = async (started: typeof ui) => (await started.firstLine).replace('ready ', '')
    expect(await workersOf(await addressOf(serve))).toMatchObject([{ pid: worker?.pid, state: 'running' }])
    expect(await workersOf(await addressOf(other))).toEqual([])
    const [uiUrl = '', uiKey = ''] = (await addressOf(ui)).split('/#key=')
    expect(await workersOf(uiUrl, await logInWithKey(uiUrl, uiKey))).toMatchObject([{ pid: worker?.pid }])

    process.kill(worker?.pid ?? 0, 'SIGKILL')
    const states = async () =>
      (await workersOf(url, headers)).map(({ pid, state }) => [pid === worker?.pid, state])
    await expect.poll(states, { interval: 20 }).toEqual([[true, 'gone']])
    await expect.poll(states, { timeout: WAIT_MS }).toEqual([[false, 'running']])

    dev.child.kill('SIGTERM')
    expect((await dev.ended).code).toBe(0)
    expect(readdirSync(join(project.directory, '.perago/work/status'))).toEqual([])
  },
  WAIT_MS,
)
