// A server that shows a lakeFS and has no store: as `perago ui` and `perago lakefs` have it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { BROWSER, buildPage, INDEX, logInWithKey } from '../../test/support/doors/page.ts'
import { openLake } from '../../test/support/doors/lake.ts'
import { silentLogger } from '../base/logger.ts'
import { API_FAILURES_AT_ONCE } from './limits.ts'
import { buildPageListener, servePage, type PageServerParts } from './serve-page.ts'

async function partsOf(): Promise<PageServerParts> {
  const { view, put } = await openLake()
  await put('a.csv', 'x')
  return {
    page: {
      files: await buildPage(),
      keys: { address: 'the-key', lakefs: { accessKeyId: 'AKIA', secretAccessKey: 'a-secret' } },
      repositories: view,
    },
    logger: silentLogger,
  }
}

/** As `perago ui`. */
async function serveAlone(): Promise<string> {
  const door = await servePage({ ...(await partsOf()), port: 0 })
  onTestFinished(() => door.close())
  return door.url
}

/** As `perago lakefs`: beside what another server answers. */
async function serveBeside(): Promise<string> {
  const listener = buildPageListener(await partsOf())
  const server = createServer((request, response) => {
    listener(request, response).then(
      (isAnswered) => isAnswered || response.writeHead(418).end(),
      () => request.socket.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const WAYS = [
  ['alone', serveAlone],
  ['beside another API', serveBeside],
] as const

test.each(WAYS)('DO-135 %s it has the page, sessions and repositories, and says so', async (_, serve) => {
  const url = await serve()
  const page = await fetch(url, { headers: BROWSER })
  expect([page.status, await page.text()]).toEqual([200, INDEX])
  expect((await fetch(`${url}/repositories`)).status).toBe(401)
  const headers = await logInWithKey(url, 'the-key')
  const session = await fetch(`${url}/session`, { headers })
  expect(await session.json()).toMatchObject({ name: 'page', role: 'admin', shows: ['repositories'] })
  const branches = await fetch(`${url}/repositories/lake/branches`, { headers })
  expect(await branches.json()).toMatchObject({ branches: [{ name: 'main' }] })
  const body = { access_key_id: 'AKIA', secret_access_key: 'a-secret' }
  const own = { origin: url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const logIn = (given: object) =>
    fetch(`${url}/session`, { method: 'POST', headers: own, body: JSON.stringify(given) })
  expect((await logIn(body)).status).toBe(200)
  expect((await logIn({ token: 'perago_x' })).status).toBe(401)
})

test.each(WAYS)('DO-135 %s what needs executions is not there', async (_, serve) => {
  const url = await serve()
  const headers = { ...(await logInWithKey(url, 'the-key')), 'content-type': 'application/json' }
  const asked = [
    ['GET', '/executions'],
    ['POST', '/executions'],
    ['GET', '/executions/exec_1/follow'],
    ['POST', '/events'],
    ['GET', '/pipelines'],
    ['GET', '/schedules'],
    ['GET', '/webhooks'],
  ] as const
  for (const [method, path] of asked) {
    expect((await fetch(`${url}${path}`, { method })).status).toBe(401)
    const body = method === 'POST' ? { body: '{}' } : {}
    const refused = await fetch(`${url}${path}`, { method, headers, ...body })
    expect([path, refused.status]).toEqual([path, 404])
    expect(await refused.json()).toMatchObject({ error: { code: 'api/no-executions' } })
  }
})

test('DO-135 beside another API that one keeps what is not of the page', async () => {
  const url = await serveBeside()
  const others = ['/', '/api/v1/repositories', '/healthz', '/openapi.yaml', '/sessions', '/metrics']
  for (const path of others) expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 418])
  expect((await fetch(url, { method: 'POST', headers: BROWSER })).status).toBe(418)
})

test('DO-135 beside another API who tries keys is slowed down too', async () => {
  const url = await serveBeside()
  for (let count = 0; count < API_FAILURES_AT_ONCE; count++) await logInWithKey(url, 'wrong').catch(() => 0)
  await expect(logInWithKey(url, 'wrong')).rejects.toThrow('api/too-many-requests')
})
