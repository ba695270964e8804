import http from 'node:http'
import net from 'node:net'
import { expect, onTestFinished, test } from 'vitest'

import { LakefsRequests } from '../../../../test/support/lakefs-requests.ts'
import { EMBEDDED_LOGIN_FAILURES_MAX, EMBEDDED_OPEN_BODY_MAX_BYTES } from '../../limits.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs, type EmbeddedLakefsOptions } from '../server.ts'
import { connectionLimit } from './http-door.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

async function start(options: EmbeddedLakefsOptions = {}): Promise<[EmbeddedLakefs, LakefsRequests]> {
  const server = await startEmbeddedLakefs(options)
  const api = new LakefsRequests(server, 'lake')
  onTestFinished(async () => {
    api.close()
    await server.close()
  })
  return [server, api]
}

/** Opens a connection, writes, and resolves with all that came back when the server ends it. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
    let got = ''
    socket.on('data', (chunk) => (got += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(got))
  })
}

function connect(port: number): Promise<net.Socket> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
  })
}

test('ES-125 a body without credentials is refused beyond 4 KiB, its length announced or not', async () => {
  const [server, api] = await start()
  const { accessKeyId, secretAccessKey } = server
  const login = { access_key_id: accessKeyId, secret_access_key: secretAccessKey }
  for (const path of ['/auth/login', '/setup_lakefs', '/setup_comm_prefs']) {
    const json = { ...login, username: 'u', more: 'x'.repeat(EMBEDDED_OPEN_BODY_MAX_BYTES) }
    expect((await api.send('POST', path, { authorization: 'none', json })).status).toBe(413)
  }
  const piece = 'x'.repeat(EMBEDDED_OPEN_BODY_MAX_BYTES + 1)
  const chunked = await exchange(
    server.port,
    `POST /api/v1/auth/login HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${piece.length.toString(16)}\r\n${piece}\r\n`,
  )
  expect(chunked).toMatch(/^HTTP\/1\.1 413 /)
  expect((await api.send('POST', '/auth/login', { authorization: 'none', json: login })).status).toBe(200)
})

test('ES-126 headers and a body without credentials that come drop by drop are answered 408', async () => {
  const [{ port }] = await start({ limits: { headersMs: 300, openBodyMs: 300 } })
  const head = 'POST /api/v1/auth/login HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n'
  const drip = async (text: string): Promise<string> => {
    const socket = await connect(port)
    const timer = setInterval(() => socket.write('x'), 50)
    onTestFinished(() => clearInterval(timer))
    let got = ''
    socket.on('data', (chunk) => (got += chunk.toString()))
    socket.write(text)
    await new Promise((resolve) => socket.once('close', resolve))
    return got
  }
  const answers = await Promise.all([drip(`${head}x-slow: `), drip(`${head}content-length: 4000\r\n\r\n`)])
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
})

test('ES-127 a connection beyond the limit is answered 503, and served when another has ended', async () => {
  const [{ port, url }] = await start({ limits: { connections: 2 } })
  const held = [await connect(port), await connect(port)]
  const health = 'GET /_health HTTP/1.1\r\nhost: h\r\n\r\n'
  const refused = await exchange(port, health)
  expect(refused).toMatch(/^HTTP\/1\.1 503 /)
  expect(refused).toMatch(/^Retry-After: 1\r$/m)
  expect(refused).toMatch(/^Connection: close\r$/m)
  expect(refused).toContain('{"message":"too many connections"}')
  held[0]?.destroy()
  await expect
    .poll(async () => (await fetch(`${url}/_health`, { headers: { connection: 'close' } })).status)
    .toBe(200)
})

test.each([
  [256, 32],
  [1_024, 416],
  [1_000_000, 1_000],
  [10, 1],
])('ES-127 where %i files may be open, %i connections are served', (files, connections) => {
  expect(connectionLimit(files)).toBe(connections)
  expect(connections * 2).toBeLessThan(Math.max(files, 3))
})

test('ES-128 who tries credentials is slowed with 429, by header and by login alike', async () => {
  const [{ accessKeyId }, api] = await start()
  const authorization = `Basic ${Buffer.from(`${accessKeyId}:wrong`).toString('base64')}`
  const json = { access_key_id: accessKeyId, secret_access_key: 'wrong' }
  const statuses: number[] = []
  for (let time = 0; time < EMBEDDED_LOGIN_FAILURES_MAX / 2; time += 1) {
    statuses.push((await api.send('GET', '/user', { authorization })).status)
    statuses.push((await api.send('POST', '/auth/login', { authorization: 'none', json })).status)
  }
  expect(new Set(statuses)).toEqual(new Set([401]))
  for (const slowed of [
    await api.send('GET', '/user', { authorization }),
    await api.send('POST', '/auth/login', { authorization: 'none', json }),
  ]) {
    expect(slowed).toMatchObject({ status: 429, json: { message: 'Too many attempts, try again later' } })
    expect(Number(slowed.headers['retry-after'])).toBe(1)
  }
})

test('ES-129 a client with good credentials works on while another of its address tries wrong ones', async () => {
  const [{ accessKeyId }, api] = await start()
  await api.create()
  const authorization = `Basic ${Buffer.from(`${accessKeyId}:wrong`).toString('base64')}`
  for (let time = 0; time < EMBEDDED_LOGIN_FAILURES_MAX * 2; time += 1)
    await api.send('GET', '/user', { authorization })
  expect((await api.send('GET', '/user')).status).toBe(200)
})

test('ES-130 beyond loopback a short secret is refused', async () => {
  const pair = { accessKeyId: 'KEY', secretAccessKey: 'fifteen-letters' }
  await expect(startEmbeddedLakefs({ host: '0.0.0.0', ...pair })).rejects.toMatchObject({
    code: 'embedded/short-secret',
    kind: 'invalid',
  })
  await start({ host: '0.0.0.0', ...pair, secretAccessKey: 'sixteen-letters!' })
  await start(pair)
})

test.each([
  ['HTTP/1.0', '1.0', ''],
  ['X-Forwarded-For', '1.1', 'X-Forwarded-For: 192.0.2.1\r\n'],
  ['X-Forwarded-Proto', '1.1', 'X-Forwarded-Proto: https\r\n'],
  ['Forwarded', '1.1', 'Forwarded: for=192.0.2.1\r\n'],
  ['Via', '1.1', 'Via: 1.1 proxy\r\n'],
  ['CF-Connecting-IP', '1.1', 'CF-Connecting-IP: 192.0.2.1\r\n'],
  ['X-Real-IP', '1.1', 'X-Real-IP: 192.0.2.1\r\n'],
])('ES-131 with a short secret, what a proxy forwards is refused: %s', async (_, version, header) => {
  const pair = { accessKeyId: 'KEY', secretAccessKey: 'short' }
  const authorization = `Basic ${Buffer.from('KEY:short').toString('base64')}`
  const ask = (port: number): Promise<string> =>
    exchange(
      port,
      `GET /api/v1/user HTTP/${version}\r\nhost: h\r\nconnection: close\r\nauthorization: ${authorization}\r\n${header}\r\n`,
    )
  const [{ port }, api] = await start(pair)
  expect(await ask(port)).toMatch(/^HTTP\/1\.1 403 /)
  expect((await api.send('GET', '/user')).status).toBe(200)
  const long = 'a-secret-that-is-long-enough'
  const [other, others] = await start({ accessKeyId: 'KEY', secretAccessKey: long })
  await others.create()
  expect(await ask(other.port)).toMatch(/^HTTP\/1\.1 401 /)
})

test('ES-132 from the first moment of closing no request is begun, and each answer ends its connection', async () => {
  const [server] = await start()
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => {
    agent.destroy()
  })
  const authorization = `Basic ${Buffer.from(`${server.accessKeyId}:${server.secretAccessKey}`).toString('base64')}`
  server.faults.add({ operation: 'getCurrentUser', fault: { kind: 'delay', delayMs: 400 } })
  const running = new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(`${server.url}/api/v1/user`, { agent, headers: { authorization } }, resolve).on('error', reject)
  })
  const socket = await connect(server.port)
  socket.write('GET /_health HTTP/1.1\r\nhost: h\r\n')
  // Both have arrived when a third one was answered.
  await fetch(`${server.url}/_health`, { headers: { connection: 'close' } })
  let late = ''
  socket.on('data', (chunk) => (late += chunk.toString()))
  const closing = server.close()
  socket.write('\r\n')
  await new Promise((resolve) => socket.once('close', resolve))
  // Node 26.10 closes a connection whose request has not wholly arrived, without an answer.
  if (late !== '') expect(late).toMatch(/^HTTP\/1\.1 503 [^]*^Retry-After: 1\r$[^]*"the server is closing"/m)
  const answer = await running
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, 'close'])
  answer.resume()
  await closing
})

test('ES-133 the history keeps no more of a long path than it needs', async () => {
  const [server, api] = await start()
  await api.send('GET', `/${'p'.repeat(50_000)}`, { authorization: 'none', headers: JSON_TYPE })
  expect(server.faults.history.at(-1)?.path.length).toBeLessThan(5_000)
})
