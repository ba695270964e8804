// A server that is started from code.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PROJECT_ROOT, readText } from '../../test/support/source-tree.ts'
import { compileSnippets } from '../../test/support/type-check.ts'
import { openCore } from '../core/life-cycle/core.ts'
import { startEmbeddedLakefs } from '../embedded/lakefs/server.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { startServer, type RunningServer, type StartServerOptions } from './start-server.ts'

async function start(options: StartServerOptions): Promise<RunningServer> {
  const server = await startServer({ port: 0, ...options })
  onTestFinished(() => server.close())
  return server
}

test('DO-45 a program starts a server over an address, gives out tokens, and closes it with what it opened', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'perago-server-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'store.db')
  const before = openSqliteStore({ file })
  await openCore({ store: before }).startExecution({ id: 'exec_1', name: 'etl' })
  await before.close()

  const server = await start({ store: `sqlite:${file}` })
  const { token } = await server.tokens.create({ name: 'ci', role: 'viewer' })
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${server.url}/executions/exec_1/events`, { headers })
  expect(await response.json()).toMatchObject({ events: [{ type: 'pipeline.started' }] })
  const closed = server.close()
  expect(server.close()).toBe(closed)
  await closed
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
  await expect(start({ store: 'redis://127.0.0.1:1/?ca=missing' })).rejects.toMatchObject({
    code: 'runtime/bad-store-address',
  })
})

test('DO-147 a server shows the workflows of the Conductor that it is given, or of its engine, and says what it shows', async () => {
  const lakefs = { endpoint: 'http://127.0.0.1:1', accessKeyId: 'id', secretAccessKey: 'secret' }
  const conductor = { endpoint: 'http://127.0.0.1:1/api' }
  const look = async (options: Partial<StartServerOptions>, tenant?: string) => {
    const server = await start({ store: openMemoryStore(), ...options })
    const { token } = await server.tokens.create({ name: 'page', role: 'viewer', ...(tenant && { tenant }) })
    const headers = { authorization: `Bearer ${token}` }
    const [session, workflows] = await Promise.all(
      ['/session', '/workflows'].map((path) => fetch(`${server.url}${path}`, { headers })),
    )
    const { shows } = (await session!.json()) as { readonly shows: readonly string[] }
    return [workflows!.status, shows.join()]
  }
  expect(await look({})).toEqual([404, 'examination,store,executions'])
  expect(await look({ lakefs, engine: true })).toEqual([
    ...[200, 'repositories,examination,recoveries,workflows,store,executions'],
  ])
  expect(await look({ engine: true }, 'north')).toEqual([200, 'workflows,executions'])
  const [status, shows] = await look({ conductor })
  expect([status, shows]).toEqual([503, 'examination,workflows,store,executions'])
  expect(await look({ conductor }, 'north')).toEqual([404, 'executions'])
  // It is often the engine itself.
  expect((await look({ conductor, engine: true }))[0]).toBe(200)
}, 60_000)

test('DO-125 a server that is given a lakeFS shows its repositories, and otherwise says that there are none', async () => {
  const lake = await startEmbeddedLakefs({ repositories: ['lake'] })
  onTestFinished(() => lake.close())
  const { url: endpoint, accessKeyId, secretAccessKey } = lake
  const look = async (options: Partial<StartServerOptions>): Promise<Response> => {
    const server = await start({ store: openMemoryStore(), ...options })
    const { token } = await server.tokens.create({ name: 'page', role: 'viewer' })
    return fetch(`${server.url}/repositories`, { headers: { authorization: `Bearer ${token}` } })
  }
  const shown = await look({ lakefs: { endpoint, accessKeyId, secretAccessKey } })
  expect(await shown.json()).toMatchObject({ repositories: [{ name: 'lake' }] })
  expect((await look({})).status).toBe(404)
  const refused = await look({ lakefs: { endpoint, accessKeyId, secretAccessKey: 'another' } })
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    { error: { code: 'runtime/lakefs-refused' } },
  ])
})

test('DO-45 a server over an open store delivers webhooks, and leaves the store open when it closes', async () => {
  const received: string[] = []
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['perago-event']))
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    receiver.close()
  })
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  const server = await start({ store, openLoopback: 'operator', allowPrivateWebhooks: true })
  const post = (path: string, body: object): Promise<Response> =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const url = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/`
  expect((await post('/webhooks', { url, types: ['external.**'] })).status).toBe(201)
  await openCore({ store }).startExecution({ id: 'exec_1', name: 'etl' })
  const event = { execution_id: 'exec_1', event_type: 'external.approval.approved' }
  expect((await post('/events', event)).status).toBe(201)
  await expect.poll(() => received).toEqual(['external.approval.approved'])
  await server.close()
  expect((await store.range({ prefix: 'outbox:' })).entries).toEqual([])
})

test('DO-45 a server that cannot listen closes what it opened and ends with the reason', async () => {
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  await expect(start({ store, host: '0.0.0.0' })).rejects.toMatchObject({ code: 'server/plain-text' })
})

test('DO-45 the example of the guide compiles and runs', async () => {
  const section = readText('docs/guides/run-the-server.md').split('## From code')[1]
  const [, code = ''] = /^```(?:js|ts)\n([\s\S]*?)^```/m.exec(section ?? '') ?? []
  expect(compileSnippets([code.replace("'perago'", "'./src/perago.ts'")])).toEqual([[]])
  const parent = join(PROJECT_ROOT, 'test-report')
  await mkdir(parent, { recursive: true })
  const directory = await mkdtemp(join(parent, 'guide-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'example.ts')
  await writeFile(file, code.replace("'perago'", JSON.stringify(join(PROJECT_ROOT, 'src/perago.ts'))))
  const log = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => log.mockRestore())
  await import(/* @vite-ignore */ file)
  expect(log).toHaveBeenCalledWith({ webhooks: [] })
}, 60_000)
