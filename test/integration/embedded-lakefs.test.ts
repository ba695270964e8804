import { createHash, randomBytes, type Hash } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { openTestLakefs } from '../../src/testing/lakefs.ts'
import {
  startEmbeddedLakefs,
  type EmbeddedLakefs,
  type EmbeddedLakefsOptions,
} from '../../src/embedded/lakefs/server.ts'
import { LakefsRequests } from '../support/lakefs-requests.ts'

let dataDir = ''
const servers: EmbeddedLakefs[] = []
const clients: LakefsRequests[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'perago-lakefs-'))
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  await Promise.all(servers.splice(0).map((server) => server.close()))
  await rm(dataDir, { recursive: true })
})

async function start(options: EmbeddedLakefsOptions = {}): Promise<EmbeddedLakefs> {
  const server = await startEmbeddedLakefs({ dataDir, ...options })
  servers.push(server)
  return server
}

function clientOf(server: EmbeddedLakefs, repository = 'lake'): LakefsRequests {
  const client = new LakefsRequests(server, repository)
  clients.push(client)
  return client
}

test('ES-18 what was acknowledged is there after a restart, with the same credentials', async () => {
  const first = await start()
  expect(first.generated).toBe(true)
  const before = await clientOf(first).create()
  await before.put('main', 'a', 'committed')
  const commit = await before.commit('main', 'one')
  await before.put('main', 'b', 'uncommitted')
  await first.close()

  const second = await start()
  expect(second).toMatchObject({
    generated: false,
    accessKeyId: first.accessKeyId,
    secretAccessKey: first.secretAccessKey,
  })
  const after = clientOf(second)
  expect((await after.get(commit, 'a')).text).toBe('committed')
  expect((await after.get('main', 'b')).text).toBe('uncommitted')
})

test('ES-18 an upload through a presigned address can be linked after a restart', async () => {
  const query = { path: 'p', presign: true }
  const first = await start({ presign: true })
  const before = await clientOf(first).create()
  const staged = await before.need(200, 'GET', '~/branches/main/staging/backing', { query })
  const { physical_address, presigned_url } = staged.json as Record<
    'physical_address' | 'presigned_url',
    string
  >
  const put = await before.sendTo('PUT', presigned_url, { body: 'kept' })
  await first.close()

  const after = clientOf(await start({ presign: true }))
  const link = (size_bytes: number) =>
    after.send('PUT', '~/branches/main/staging/backing', {
      query,
      json: { staging: { physical_address }, checksum: put.headers.etag, size_bytes },
    })
  expect((await link(5)).status).toBe(400)
  expect((await link(4)).status).toBe(200)
  expect((await after.get('main', 'p')).text).toBe('kept')
})

test('ES-19 a second server on the same directory is refused', async () => {
  await start()
  await expect(startEmbeddedLakefs({ dataDir })).rejects.toMatchObject({ code: 'embedded/data-dir-in-use' })
})

test('ES-15 a host that is not loopback is warned about', async () => {
  expect((await start()).warnings).toEqual([])
  const open = await startEmbeddedLakefs({ host: '0.0.0.0' })
  servers.push(open)
  expect(open.warnings).toEqual([expect.stringContaining('listening on 0.0.0.0, which is not loopback')])
})

test('ES-16 a port in use, a bad host and half a key pair are named', async () => {
  const { port } = await start()
  await expect(startEmbeddedLakefs({ port })).rejects.toMatchObject({
    code: 'embedded/port-in-use',
    kind: 'unavailable',
    message: `listen on 127.0.0.1:${String(port)}: another program listens there already`,
  })
  // Kept for documentation: no machine has it.
  await expect(startEmbeddedLakefs({ host: '192.0.2.1' })).rejects.toMatchObject({
    code: 'embedded/cannot-listen',
  })
  await expect(startEmbeddedLakefs({ accessKeyId: 'A' })).rejects.toMatchObject({
    code: 'embedded/half-credentials',
  })
  await expect(startEmbeddedLakefs({ accessKeyId: 'A:B', secretAccessKey: 'x' })).rejects.toMatchObject({
    code: 'embedded/bad-access-key',
  })
})

test('ES-16 a failed start leaves the directory free', async () => {
  const { port } = await start({ dataDir: join(dataDir, 'one') })
  const two = join(dataDir, 'two')
  await expect(startEmbeddedLakefs({ dataDir: two, port })).rejects.toMatchObject({
    code: 'embedded/port-in-use',
  })
  await start({ dataDir: two })
})

test('ES-17 closing lets a request under way end, and takes no other', async () => {
  const server = await start()
  const api = await clientOf(server).create()
  // Larger than what is kept in memory until it is whole.
  const half = 'x'.repeat(50_000)
  const upload = openUpload(server, 'slow', 100_000)
  upload.request.write(half)
  await expect.poll(() => readdir(join(dataDir, 'temp'))).toHaveLength(1)
  const closing = server.close()
  expect(server.close()).toBe(closing)
  // On a connection that was open still, it is refused; a new one is not accepted.
  const other = await api.get('main', 'a').then(
    ({ status }) => status,
    () => 'no connection',
  )
  expect([503, 'no connection']).toContain(other)
  upload.request.end(half)
  expect((await upload.response).statusCode).toBe(201)
  await closing
  expect((await clientOf(await start()).get('main', 'slow')).text).toBe(half + half)
})

test('ES-17 closing does not wait for ever', async () => {
  const server = await start({ limits: { closeMs: 100 } })
  await clientOf(server).create()
  const upload = openUpload(server, 'stuck', 100_000)
  upload.response.catch(() => undefined)
  upload.request.write('x'.repeat(50_000))
  await expect.poll(() => readdir(join(dataDir, 'temp'))).toHaveLength(1)
  await server.close()
  await expect(upload.response).rejects.toThrow(/socket hang up|ECONNRESET/)
})

test.each(['raw', 'form'])('ES-45 a %s upload whose sender goes away leaves nothing', async (kind) => {
  const server = await start()
  const api = await clientOf(server).create()
  const objects = await readdir(join(dataDir, 'objects'))
  const head = '--B\r\nContent-Disposition: form-data; name="content"; filename="f"\r\n\r\n'
  const upload = openUpload(
    server,
    'aborted',
    1_000_000,
    kind === 'form' ? 'multipart/form-data; boundary=B' : undefined,
  )
  upload.response.catch(() => undefined)
  upload.request.write(`${kind === 'form' ? head : ''}${'x'.repeat(300_000)}`)
  await expect.poll(() => readdir(join(dataDir, 'temp'))).toHaveLength(1)
  upload.request.destroy()
  await expect.poll(() => readdir(join(dataDir, 'temp'))).toEqual([])
  expect(await readdir(join(dataDir, 'objects'))).toEqual(objects)
  expect((await api.get('main', 'aborted')).status).toBe(404)
})

test('ES-45 a sender that falls silent is cut off', async () => {
  const server = await start({ limits: { idleMs: 200 } })
  const api = await clientOf(server).create()
  const upload = openUpload(server, 'silent', 10)
  upload.request.write('01234')
  await expect(upload.response).rejects.toThrow(/socket hang up|ECONNRESET/)
  await expect.poll(() => readdir(join(dataDir, 'temp'))).toEqual([])
  expect((await api.get('main', 'silent')).status).toBe(404)
})

test('ES-45 a request that takes the server long is not cut off', async () => {
  const server = await start({ limits: { idleMs: 100 } })
  const api = await clientOf(server).create()
  server.faults.add({ operation: 'getBranch', fault: { kind: 'delay', delayMs: 500 } })
  expect((await api.send('GET', '~/branches/main')).status).toBe(200)
})

test('ES-09 what is no HTTP is answered with 400 and leaves the server well', async () => {
  const server = await start()
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = net.connect(server.port, '127.0.0.1', () => socket.end('this is not HTTP\r\n\r\n'))
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => {
      resolve(text)
    })
  })
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  await clientOf(server).create()
})

test('ES-89 an object of 128 MiB goes in and out in pieces', async () => {
  const sizeBytes = 128 * 1024 * 1024
  const server = await start()
  await clientOf(server).create()
  const [memory, stopWatching] = watchMemory()

  const upload = openUpload(server, 'large', sizeBytes)
  const sent = createHash('md5')
  const piece = randomBytes(1024 * 1024)
  memory.baseBytes = process.memoryUsage().external
  Readable.from(repeat(piece, 128, sent)).pipe(upload.request)
  const { checksum } = JSON.parse(await textOf(await upload.response)) as { checksum: string }
  expect(checksum).toBe(sent.digest('hex'))

  const received = createHash('md5')
  let receivedBytes = 0
  for await (const chunk of await download(server, 'large')) {
    received.update(chunk as Buffer)
    receivedBytes += (chunk as Buffer).length
  }
  stopWatching()
  expect(receivedBytes).toBe(sizeBytes)
  expect(received.digest('hex')).toBe(checksum)
  // Both ends run in this process, and what is garbage already still counts.
  expect(memory.peakBytes - memory.baseBytes).toBeLessThan(sizeBytes / 2)
})

test('ES-99 a server for one test is in memory and gone with its scope', async () => {
  const useOnce = async (): Promise<string> => {
    await using lakefs = await openTestLakefs()
    const api = await clientOf(lakefs).create()
    await api.put('main', 'a')
    return lakefs.url
  }
  const url = await useOnce()
  await expect(fetch(`${url}/_health`)).rejects.toThrow()
  expect((await stat(dataDir)).isDirectory()).toBe(true)
  expect(await readdir(dataDir)).toEqual([])
})

function authorizationOf(server: EmbeddedLakefs): string {
  return `Basic ${Buffer.from(`${server.accessKeyId}:${server.secretAccessKey}`).toString('base64')}`
}

/** An upload under way, whose body the test writes itself. */
function openUpload(
  server: EmbeddedLakefs,
  path: string,
  lengthBytes: number,
  contentType = 'application/octet-stream',
): { request: http.ClientRequest; response: Promise<http.IncomingMessage> } {
  const request = http.request(`${server.url}/api/v1/repositories/lake/branches/main/objects?path=${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: authorizationOf(server),
      'content-type': contentType,
      'content-length': lengthBytes,
    },
  })
  const response = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })
  return { request, response }
}

function download(server: EmbeddedLakefs, path: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    http
      .get(
        `${server.url}/api/v1/repositories/lake/refs/main/objects?path=${path}`,
        { agent: false, headers: { authorization: authorizationOf(server) } },
        resolve,
      )
      .on('error', reject)
  })
}

async function textOf(message: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function* repeat(piece: Buffer, times: number, hash: Hash): Generator<Buffer> {
  for (let time = 0; time < times; time += 1) {
    hash.update(piece)
    yield piece
  }
}

function watchMemory(): [{ baseBytes: number; peakBytes: number }, () => void] {
  const memory = { baseBytes: 0, peakBytes: 0 }
  const timer = setInterval(() => {
    memory.peakBytes = Math.max(memory.peakBytes, process.memoryUsage().external)
  }, 5)
  return [memory, () => clearInterval(timer)]
}
