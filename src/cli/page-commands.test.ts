// The page of the commands, as they are shipped: `npm test` builds dist/ first.
import { existsSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openProject, type Project, type Started } from '../../test/support/cli/command.ts'
import { BROWSER, buildPage, INDEX, logInWithKey } from '../../test/support/doors/page.ts'
import { openTestTerminal } from '../../test/support/cli/test-terminal.ts'
import { silentLogger } from '../base/logger.ts'
import { startEmbeddedLakefs } from '../embedded/lakefs/server.ts'
import { BUILT_PAGE } from '../server/http/page-routes.ts'
import { openLakefsPage } from './lakefs-page.ts'

const WAIT_MS = 90_000
const PAIR = {
  PERAGO_EMBEDDED_ACCESS_KEY_ID: 'AKIAPAGE',
  PERAGO_EMBEDDED_SECRET_ACCESS_KEY: 'a-secret-for-the-page',
}

let project: Project
beforeEach(async () => {
  project = await openProject()
})
afterEach(() => project.close())

/** The page, or what to do where it is not built. */
async function expectPage(url: string): Promise<void> {
  const page = await fetch(url, { headers: BROWSER })
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const text = await page.text()
  if (existsSync(`${BUILT_PAGE}index.html`))
    expect([page.status, text]).toEqual([200, expect.stringContaining('<')])
  else expect([page.status, text]).toEqual([404, expect.stringContaining('npm run build')])
}

/** The address that a command has printed, in its two parts. */
async function addressIn(printed: () => string, after: string): Promise<{ url: string; key: string }> {
  await expect.poll(printed, { timeout: WAIT_MS }).toContain('#key=')
  const [, url = '', key = ''] = new RegExp(`${after} +(http://[^/]+)/#key=(\\S+)\\n`).exec(printed()) ?? []
  expect(key).toMatch(/^[\w-]{43}$/)
  return { url, key }
}

async function namesOf(url: string, headers: Record<string, string>): Promise<readonly string[]> {
  const answered = await fetch(`${url}/repositories`, { headers })
  const { repositories } = (await answered.json()) as { repositories: { name: string }[] }
  return repositories.map(({ name }) => name)
}

async function startLakefs(...more: readonly string[]): Promise<Started & { readonly url: string }> {
  const server = project.start(['lakefs', '--memory', '--port', '0', '--repository', 'lake', ...more], PAIR)
  return { ...server, url: (await server.firstLine).replace('ready ', '') }
}

test(
  'CL-200 perago dev prints the address of its page with a key, which opens what it runs and its lakeFS',
  async () => {
    await project.write(
      'tasks.mjs',
      `import { defineTask } from 'perago'
       import { z } from 'zod'
       export const note = defineTask({ name: 'demo.note', owner: 'data@example.org', params: z.object({}), result: z.string(), body: () => 'noted' })`,
    )
    const dev = project.start(['dev', 'tasks.mjs', '--repository', 'lake', '--log-level', 'debug'])
    const { url, key } = await addressIn(dev.stdout, 'page')
    expect(await dev.firstLine).toBe(`ready ${url}/api`)
    await expectPage(url)
    const headers = await logInWithKey(url, key)
    const session = await fetch(`${url}/session`, { headers })
    expect(await session.json()).toMatchObject({
      shows: ['repositories', 'examination', 'recoveries', 'workers', 'workflows', 'store', 'executions'],
    })
    expect(await namesOf(url, headers)).toEqual(['lake'])
    expect((await fetch(`${url}/executions`, { headers })).status).toBe(200)
    dev.child.kill('SIGTERM')
    expect((await dev.ended).code).toBe(0)
    expect(dev.stderr()).not.toContain(key)
  },
  WAIT_MS,
)

test('CL-200 perago serve has the page at its address, which takes tokens only', async () => {
  const server = project.start(['serve', '--memory', '--port', '0'])
  const url = (await server.firstLine).replace('ready ', '')
  await expectPage(url)
  expect((await fetch(url)).status).toBe(401)
  await expect(logInWithKey(url, 'a-key')).rejects.toThrow('api/bad-token')
  server.child.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, stdout: `ready ${url}\n`, stderr: '' })
})

test('CL-201 perago lakefs has the page beside its API, for the printed key and for its key pair', async () => {
  const server = await startLakefs()
  const { url, key } = await addressIn(server.stderr, 'page')
  expect(url).toBe(server.url)
  await expectPage(url)
  expect(await namesOf(url, await logInWithKey(url, key))).toEqual(['lake'])
  const logIn = await fetch(`${url}/session`, {
    method: 'POST',
    headers: { origin: url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    body: JSON.stringify({
      access_key_id: PAIR.PERAGO_EMBEDDED_ACCESS_KEY_ID,
      secret_access_key: PAIR.PERAGO_EMBEDDED_SECRET_ACCESS_KEY,
    }),
  })
  expect(await logIn.json()).toMatchObject({ name: 'lakefs', shows: ['repositories', 'recoveries'] })
  expect((await fetch(url)).status).toBe(404)
  expect((await fetch(`${url}/api/v1/repositories`)).status).toBe(401)
  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0, stdout: `ready ${url}\n` })
})

test('DO-170 the pages of perago lakefs and perago ui tell what perago verify tells, also without a Conductor', async () => {
  const server = await startLakefs()
  const ui = project.start(['ui', '--port', '0'], {
    LAKEFS_ENDPOINT: server.url,
    LAKEFS_ACCESS_KEY_ID: PAIR.PERAGO_EMBEDDED_ACCESS_KEY_ID,
    LAKEFS_SECRET_ACCESS_KEY: PAIR.PERAGO_EMBEDDED_SECRET_ACCESS_KEY,
  })
  for (const address of [await addressIn(server.stderr, 'page'), await addressIn(ui.stdout, 'ready')]) {
    const headers = await logInWithKey(address.url, address.key)
    const path = '/repositories/lake/branches/main/verification'
    const verified = await fetch(`${address.url}${path}`, { headers })
    expect(await verified.json()).toMatchObject({ holds: true, commits: 1, stopped: 'beginning' })
    expect((await fetch(`${address.url}${path}`)).status).toBe(401)
  }
  for (const one of [ui, server]) {
    one.child.kill('SIGTERM')
    expect((await one.ended).code).toBe(0)
  }
})

test('CL-201 beyond loopback perago lakefs prints no key: the key pair opens the page', async () => {
  const server = await startLakefs('--host', '0.0.0.0')
  await expect.poll(server.stderr).toMatch(/^page http:\/\/127\.0\.0\.1:\d+\/$/m)
  await expectPage(server.url.replace('0.0.0.0', '127.0.0.1'))
})

test('CL-201 the page of perago lakefs is that of its directory', async () => {
  const page = openLakefsPage({
    ...openTestTerminal(),
    logger: silentLogger,
    files: await buildPage(),
  })
  const server = await startEmbeddedLakefs({ repositories: ['lake'], fallback: page.fallback })
  try {
    expect((await fetch(server.url, { headers: BROWSER })).status).toBe(404)
    const [url = '', key = ''] = page.open(server).split('/#key=')
    expect(await (await fetch(url, { headers: BROWSER })).text()).toBe(INDEX)
    expect(await namesOf(url, await logInWithKey(url, key))).toEqual(['lake'])
  } finally {
    await server.close()
    await page.close()
  }
})

test('CL-202 perago ui opens the page over the configured lakeFS, on loopback, until it is stopped', async () => {
  const lakefs = await startLakefs()
  const configured = {
    LAKEFS_ENDPOINT: lakefs.url,
    LAKEFS_ACCESS_KEY_ID: PAIR.PERAGO_EMBEDDED_ACCESS_KEY_ID,
    LAKEFS_SECRET_ACCESS_KEY: PAIR.PERAGO_EMBEDDED_SECRET_ACCESS_KEY,
  }
  const ui = project.start(['ui', '--port', '0'], configured)
  const { url, key } = await addressIn(ui.stdout, 'ready')
  expect(new URL(url).hostname).toBe('127.0.0.1')
  await expectPage(url)
  expect((await fetch(`${url}/repositories`)).status).toBe(401)
  const headers = await logInWithKey(url, key)
  expect(await namesOf(url, headers)).toEqual(['lake'])
  const refused = await fetch(`${url}/executions`, { headers })
  expect(await refused.json()).toMatchObject({ error: { code: 'api/no-executions' } })
  ui.child.kill('SIGINT')
  expect(await ui.ended).toEqual({ code: 0, stdout: `ready ${url}/#key=${key}\n`, stderr: '' })
})

test('CL-202 perago ui without anything to show says what to set', async () => {
  const { code, stdout, stderr } = await project.run(['ui', '--port', '0'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('cli/nothing-to-show')
})
