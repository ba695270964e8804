// The commands as they are shipped: `npm test` builds dist/ first.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openProject, type Project } from '../../test/support/cli/command.ts'
import { TEST_CERTIFICATE, TEST_KEY } from '../../test/support/doors/certificate.ts'
import { externalEvent } from '../../test/support/core-world.ts'
import { EVENT_PAGE_MAX_EVENTS } from '../core/limits.ts'
import { openCore } from '../core/life-cycle/core.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'

let project: Project
beforeEach(async () => {
  project = await openProject()
})
afterEach(() => project.close())

async function startExecution(): Promise<void> {
  const store = openSqliteStore({ file: join(project.directory, '.perago/core/store.db') })
  const execution = await openCore({ store }).startExecution({
    id: 'exec_1',
    name: 'etl',
    inputs: { day: '2025-01-01' },
  })
  await execution.variables.set('a.rows', 7)
  await execution.events.publish({
    type: 'a.completed',
    source: { entityType: 'node', entityId: 'a' },
    payload: { rows: 7 },
  })
  await store.close()
}

test('DO-23 from a token to an event of outside, read again: over HTTP and on the command line', async () => {
  await startExecution()
  const created = await project.run(['token', 'create', '--name', 'ci', '--role', 'operator', '--json'])
  const { token, id } = JSON.parse(created.stdout) as { token: string; id: string }
  const server = project.start(['serve', '--port', '0'])
  const url = (await server.firstLine).replace('ready ', '')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({
    execution_id: 'exec_1',
    event_type: 'external.approval.approved',
    payload: {},
  })
  expect((await fetch(`${url}/events`, { method: 'POST', headers, body })).status).toBe(201)
  expect((await fetch(`${url}/executions/exec_1/variables`, { headers })).status).toBe(200)

  const events = await project.run(['events', 'exec_1', '--type', '*.completed', 'external.**', '--json'])
  expect(
    (JSON.parse(events.stdout) as { events: { type: string }[] }).events.map(({ type }) => type),
  ).toEqual(['a.completed', 'external.approval.approved'])
  // A token that is revoked beside the running server is refused by it.
  expect((await project.run(['token', 'revoke', id])).code).toBe(0)
  expect((await fetch(`${url}/executions/exec_1/variables`, { headers })).status).toBe(401)
  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
})

test('DO-23 events and variables are shown to people, a page at a time', async () => {
  await startExecution()
  const events = await project.run(['events', 'exec_1', '--limit', '1'])
  expect(events.stdout).toMatch(/^SEQUENCE +TIME +TYPE +PAYLOAD\n1 +\S+Z +pipeline\.started +\S.*\n$/)
  expect(events.stderr).toBe('there are more: --after 1\n')
  expect((await project.run(['events', 'exec_1', '--after', '1'])).stdout).toMatch(
    /a\.completed +\{"rows":7\}\n$/,
  )
  expect((await project.run(['vars', 'exec_1'])).stdout).toMatch(
    /a\.rows +7\npipeline\.input\.day +"2025-01-01"\n/,
  )
  expect((await project.run(['vars', 'exec_1', 'a.rows'])).stdout).toBe('7\n')
  const missing = await project.run(['vars', 'exec_1', 'a.none', '--json'])
  expect(missing.code).toBe(2)
  expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: 'api/no-such-variable' } })
  const unknown = await project.run(['events', 'exec_2'])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('[core/no-such-execution]')])
  expect((await project.run(['events', 'exec_1', '--tenant', 'acme'])).code).toBe(2)
})

test('DO-179 vars --history shows what was written to a variable, and needs its name', async () => {
  await startExecution()
  const store = openSqliteStore({ file: join(project.directory, '.perago/core/store.db') })
  const execution = await openCore({ store }).openExecution('exec_1')
  await execution.node('a').variables.set('a.rows', 8)
  await execution.variables.remove('a.rows')
  await store.close()
  const shown = await project.run(['vars', 'exec_1', 'a.rows', '--history'])
  expect(shown.stdout).toMatch(
    /^TIME +REVISION +WRITTEN BY +VALUE\n\S+Z +engine +\(removed\)\n\S+Z +\d+ +a +8\n\S+Z +\d+ +engine +7\n$/,
  )
  const json = await project.run(['vars', 'exec_1', 'a.rows', '--history', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    writes: [{ kind: 'removed' }, { value: 8, by: { unit: 'a' } }, { value: 7 }],
    may_lack: false,
  })
  const nameless = await project.run(['vars', 'exec_1', '--history'])
  expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringContaining('[cli/bad-usage]')])
})

test('DO-93 the commands go on over pages, up to their limit: an empty page is not the end for them', async () => {
  const store = openSqliteStore({ file: join(project.directory, '.perago/core/store.db') })
  const execution = await openCore({ store }).startExecution({ id: 'exec_1', name: 'etl' })
  const publish = (type: string) => execution.events.publish(externalEvent(type))
  await Promise.all(Array.from({ length: EVENT_PAGE_MAX_EVENTS + 100 }, () => publish('external.often')))
  for (let n = 0; n < 2; n += 1) await publish('external.rare')
  await Promise.all(Array.from({ length: 120 }, (_, n) => execution.variables.set(`shared.n${String(n)}`, n)))
  await store.close()
  const rare = await project.run(['events', 'exec_1', '--type', 'external.rare', '--json'])
  expect((JSON.parse(rare.stdout) as { events: unknown[] }).events).toHaveLength(2)
  const first = await project.run(['events', 'exec_1', '--type', 'external.rare', '--limit', '1'])
  expect(first.stderr).toBe(`there are more: --after ${String(EVENT_PAGE_MAX_EVENTS + 102)}\n`)
  const all = await project.run(['vars', 'exec_1', '--json'])
  expect(Object.keys(JSON.parse(all.stdout) as object)).toEqual(['variables'])
  expect((JSON.parse(all.stdout) as { variables: unknown[] }).variables).toHaveLength(122)
  const some = await project.run(['vars', 'exec_1', '--prefix', 'shared.n11', '--limit', '3'])
  expect(some.stdout).toMatch(/^NAME +VALUE\nshared\.n11 +11\nshared\.n110 +110\nshared\.n111 +111\n$/)
  expect(some.stderr).toBe('there are more: --after shared.n111\n')
  const rest = await project.run(['vars', 'exec_1', '--after', 'shared.n98'])
  expect(rest.stdout).toMatch(
    /^NAME +VALUE\nshared\.n99 .*\nsystem\.execution_id .*\nsystem\.started_at .*\n$/,
  )
})

test('DO-23 tokens are listed without their secrets; the secret is the only answer of create', async () => {
  const first = await project.run([
    'token',
    'create',
    '--name',
    'reader',
    '--expires-in',
    '30d',
    '--tenant',
    'acme',
  ])
  expect(first.stdout).toMatch(/^perago_\S+\n$/)
  const [, id = '', secret = ''] = /^perago_(.{12})_(.{43})\n$/.exec(first.stdout) ?? []
  const listed = await project.run(['token', 'list'])
  expect(listed.stdout).toContain(id)
  expect(listed.stdout).toMatch(/viewer +acme +\d{4}-\S+Z +reader/)
  expect(listed.stdout + (await project.run(['token', 'list', '--json'])).stdout).not.toContain(secret)
  expect((await project.run(['token', 'revoke', 'nothing'])).stderr).toContain('[api/no-such-token]')
  expect((await project.run(['token', 'create', '--name', 'x', '--role', 'root'])).code).toBe(2)
})

test('DO-11 DO-23 with a certificate serve speaks TLS, and no plain text beyond loopback unless allowed', async () => {
  await project.write('cert.pem', TEST_CERTIFICATE)
  await project.write('key.pem', TEST_KEY)
  const server = project.start([
    'serve',
    '--port',
    '0',
    '--memory',
    '--tls-cert',
    'cert.pem',
    '--tls-key',
    'key.pem',
  ])
  expect(await server.firstLine).toMatch(/^ready https:/)
  server.child.kill('SIGTERM')
  await server.ended
  const plain = await project.run(['serve', '--port', '0', '--memory', '--host', '0.0.0.0'])
  expect([plain.code, plain.stderr]).toEqual([2, expect.stringContaining('[server/plain-text]')])
  const half = await project.run(['serve', '--memory', '--tls-cert', 'cert.pem'])
  expect([half.code, half.stderr]).toEqual([2, expect.stringContaining('--tls-cert and --tls-key')])
  const none = await project.run(['serve', '--memory', '--tls-cert', 'none.pem', '--tls-key', 'key.pem'])
  expect(none.stderr).toContain('none.pem: there is no such file')
})

test('DO-28 a webhook that is added on the command line is sent events, or told why not, and is sent them again', async () => {
  await startExecution()
  const received: string[] = []
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['perago-event']))
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  try {
    const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const added = await project.run(['webhooks', 'add', address, '--type', 'external.**', '--attempts', '1'])
    const [id = '', secret = ''] = added.stdout.trim().split(' ')
    expect((await project.run(['webhooks', 'list'])).stdout).toContain(`${id}  external.**`)
    expect((await project.run(['webhooks', 'list', '--json'])).stdout).not.toContain(secret)
    const { stdout: token } = await project.run(['token', 'create', '--name', 'ci', '--role', 'operator'])
    const post = async (url: string, type: string) => {
      const headers = { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ execution_id: 'exec_1', event_type: type })
      expect((await fetch(`${url}/events`, { method: 'POST', headers, body })).status).toBe(201)
    }
    const strict = project.start(['serve', '--port', '0'])
    await post((await strict.firstLine).replace('ready ', ''), 'external.a.b')
    await expect
      .poll(async () => (await project.run(['webhooks', 'dead', id])).stdout, { timeout: 20_000 })
      .toContain('[server/private-address]')
    strict.child.kill('SIGTERM')
    await strict.ended
    expect(received).toEqual([])
    const server = project.start(['serve', '--port', '0', '--allow-private-webhooks'])
    await post((await server.firstLine).replace('ready ', ''), 'external.c.d')
    expect((await project.run(['webhooks', 'redeliver', id])).stdout).toBe('1 to be delivered again\n')
    await expect
      .poll(() => received.toSorted(), { timeout: 20_000 })
      .toEqual(['external.a.b', 'external.c.d'])
    expect((await project.run(['webhooks', 'remove', id])).code).toBe(0)
    server.child.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  } finally {
    await new Promise((resolve) => receiver.close(resolve))
  }
})
