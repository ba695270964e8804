import type { IncomingMessage } from 'node:http'
import net from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startEmbeddedLakefs, type EmbeddedLakefs, type EmbeddedLakefsOptions } from '../server.ts'

async function start(options: EmbeddedLakefsOptions = {}): Promise<[EmbeddedLakefs, string[]]> {
  const asked: string[] = []
  const server = await startEmbeddedLakefs({
    fallback: async (request, response) => {
      asked.push(`${request.method ?? ''} ${request.url ?? ''}`)
      if (request.url !== '/page') return false
      const body = await readAll(request)
      response.writeHead(201, { 'content-type': 'text/plain' }).end(`page ${body}`)
      return true
    },
    ...options,
  })
  onTestFinished(() => server.close())
  return [server, asked]
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

test('ES-300 what is no operation of lakeFS may be answered by somebody else', async () => {
  const [{ url, faults }, asked] = await start()
  const answered = await fetch(`${url}/page`, { method: 'POST', body: 'please' })
  expect([answered.status, await answered.text()]).toEqual([201, 'page please'])
  const left = await fetch(`${url}/api/v1/nothing`)
  expect([left.status, await left.json()]).toEqual([404, { message: 'invalid API endpoint' }])
  expect((await fetch(`${url}/api/v1/repositories`)).status).toBe(401)
  expect((await fetch(`${url}/_health`)).status).toBe(200)
  expect(asked).toEqual(['POST /page', 'GET /api/v1/nothing'])
  expect(faults.history.map(({ status }) => status)).toEqual([201, 404, 401, 200])
})

test('ES-300 what fails there is an internal error, and the server goes on', async () => {
  const [{ url }] = await start({ fallback: () => Promise.reject(new Error('it broke')) })
  expect((await fetch(`${url}/page`)).status).toBe(500)
  expect((await fetch(`${url}/_health`)).status).toBe(200)
})

test('ES-301 the rules for strangers hold there: proxies need a long secret, and a body comes in time', async () => {
  const [{ url, port }, asked] = await start({
    accessKeyId: 'KEY',
    secretAccessKey: 'short',
    limits: { openBodyMs: 300 },
  })
  expect((await fetch(`${url}/page`, { headers: { 'x-forwarded-for': '192.0.2.1' } })).status).toBe(403)
  expect(asked).toEqual([])
  const startedMs = performance.now()
  await new Promise<void>((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.write('POST /page HTTP/1.1\r\nhost: h\r\ncontent-length: 4000\r\n\r\n')
    })
    const drip = setInterval(() => socket.write('x'), 50)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(drip)
      resolve()
    })
  })
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})
