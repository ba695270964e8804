import { expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'

const lakefs = useEmbeddedLakefs({ limits: { jsonBytes: 10_000 } })

const UNAUTHENTICATED = { message: 'error authenticating request' }

test('ES-01 errors are JSON with a message, JSON ends with a newline, every answer has a request id', async () => {
  const api = await lakefs.open()
  const replies = [
    await api.send('GET', '~'),
    await api.send('GET', '/repositories/none'),
    await api.send('GET', '/nowhere'),
    await api.send('GET', '~', { authorization: 'none' }),
    await api.send('POST', '~/branches', { json: {} }),
  ]
  expect(replies.map((reply) => reply.status)).toEqual([200, 404, 404, 401, 400])
  for (const reply of replies) {
    expect(reply.headers['content-type']).toBe('application/json')
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(reply.text.endsWith('}\n')).toBe(true)
  }
  for (const reply of replies.slice(1)) expect(reply.json).toEqual({ message: expect.any(String) as string })
  expect(new Set(replies.map((reply) => reply.headers['x-request-id'])).size).toBe(replies.length)
})

test('ES-02 an unknown route or method is a 404, never a 405', async () => {
  const api = lakefs.unmade()
  for (const [method, path] of [
    ['GET', '/no/such/route'],
    ['PATCH', '/repositories'],
    ['POST', '/repositories/r/branches/b/hard_reset'],
  ] as const) {
    expect(await api.send(method, path)).toMatchObject({
      status: 404,
      json: { message: 'invalid API endpoint' },
    })
  }
  expect((await api.sendTo('GET', `${api.url}/elsewhere`)).status).toBe(404)
})

test('ES-07 a JSON body beyond the limit is answered with 413', async () => {
  const api = await lakefs.open()
  const reply = await api.send('POST', '~/branches/main/commits', { json: { message: 'm'.repeat(10_000) } })
  expect(reply.status).toBe(413)
})

test('ES-09 a request line beyond the limit is refused', async () => {
  const api = await lakefs.open()
  const reply = await api.get('main', 'k'.repeat(70_000))
  expect(reply.status).toBe(431)
})

test('ES-10 without good credentials nothing is told, and no body is read', async () => {
  const api = await lakefs.open()
  const wrong = `Basic ${Buffer.from('nobody:wrong').toString('base64')}`
  for (const authorization of ['none', wrong, 'Token abc', 'Bearer abc.def.ghi']) {
    const reply = await api.send('GET', '/repositories', { authorization })
    expect(reply).toMatchObject({ status: 401, json: UNAUTHENTICATED })
    expect(reply.headers['www-authenticate']).toBeUndefined()
  }
  const upload = await api.send('POST', '~/branches/main/objects', {
    query: { path: 'a' },
    body: Buffer.alloc(200_000),
    authorization: 'none',
  })
  expect(upload.status).toBe(401)
  const head = await api.send('HEAD', '~/refs/main/objects', { query: { path: 'a' }, authorization: 'none' })
  expect(head).toMatchObject({ status: 401, text: '' })
})

test('ES-11 a login gives a token that works as credentials', async () => {
  const api = await lakefs.open()
  const { accessKeyId, secretAccessKey } = lakefs.server
  const login = (json: object) => api.send('POST', '/auth/login', { json, authorization: 'none' })
  const granted = await login({ access_key_id: accessKeyId, secret_access_key: secretAccessKey })
  const { token, token_expiration } = granted.json as { token: string; token_expiration: number }
  expect(granted.status).toBe(200)
  expect(Number.isInteger(token_expiration)).toBe(true)
  expect((await api.send('GET', '~', { authorization: `Bearer ${token}` })).status).toBe(200)
  const refused = await login({ access_key_id: 'x', secret_access_key: 'y' })
  expect(refused).toMatchObject({ status: 401, json: UNAUTHENTICATED })
  expect((await login({ access_key_id: 'x' })).status).toBe(400)
})

test('ES-14 health and set-up need no credentials, configuration does', async () => {
  const api = lakefs.unmade()
  const open = { authorization: 'none' }
  expect(await api.send('GET', '/healthcheck', open)).toMatchObject({ status: 204, text: '' })
  expect((await api.sendTo('GET', `${api.url}/_health`)).status).toBe(200)
  expect((await api.send('GET', '/setup_lakefs', open)).json).toMatchObject({ state: 'initialized' })
  const again = await api.send('POST', '/setup_lakefs', { ...open, json: { username: 'again' } })
  expect(again).toMatchObject({ status: 409, json: { message: 'lakeFS already initialized' } })
  expect((await api.send('POST', '/setup_comm_prefs', { ...open, json: {} })).status).toBe(409)
  for (const path of ['/config', '/config/version', '/config/storage', '/user']) {
    expect((await api.send('GET', path, open)).status).toBe(401)
  }
})

test('ES-14 what clients ask on start-up has an answer', async () => {
  const api = lakefs.unmade()
  const storage = { blockstore_type: 'local', pre_sign_support: false, pre_sign_multipart_upload: false }
  const version = { version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string, version_context: 'lakeFS' }
  expect((await api.need(200, 'GET', '/config')).json).toMatchObject({
    storage_config: { ...storage, default_namespace_prefix: 'local://', import_support: false },
    version_config: version,
  })
  expect((await api.need(200, 'GET', '/config/storage')).json).toMatchObject(storage)
  expect((await api.need(200, 'GET', '/config/version')).json).toEqual(version)
  expect((await api.need(200, 'GET', '/user')).json).toMatchObject({ user: { id: 'admin' } })
  expect((await api.need(200, 'GET', '/auth/capabilities')).json).toEqual({ invite_user: false })
  expect((await api.need(200, 'GET', '/config/garbage-collection')).json).toEqual({ grace_period: 86_400 })
  await api.need(204, 'POST', '/statistics', { json: { events: [] } })
})
