import { Agent, createServer, get, type RequestListener, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { HttpConnections } from './http-connections.ts'

const ending: (() => void)[] = []
afterEach(() => {
  for (const end of ending.splice(0)) end()
})

async function open(answer: RequestListener) {
  const server = createServer(answer)
  const connections = new HttpConnections(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ending.push(() => server.closeAllConnections())
  ending.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const dial = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    ending.push(() => socket.destroy())
    socket.on('error', () => undefined)
    await new Promise((resolve) => socket.once('connect', resolve))
    return socket
  }
  return { connections, dial, port }
}

function closed(socket: Socket): Promise<void> {
  socket.resume()
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

const NEVER = 3_600_000

test('BA-222 a response that began before the close is sent whole, and ends its connection', async () => {
  const responses: ServerResponse[] = []
  const { connections, dial } = await open((_, response) => {
    response.write('first')
    responses.push(response)
  })
  const socket = await dial()
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await expect.poll(() => text).toContain('first')
  const ended = connections.close({ graceMs: 0, deadlineMs: NEVER })
  await new Promise((resolve) => setTimeout(resolve, 20))
  responses[0]!.end('last')
  await Promise.all([ended, closed(socket)])
  expect(text).toContain('last')
  expect(connections.size).toBe(0)
})

test('BA-222 a close says when requests are to be refused, and that their connections end', async () => {
  const seen: boolean[] = []
  const { connections, port } = await open((_, response) => {
    seen.push(connections.isClosing)
    response.end()
  })
  const agent = new Agent({ keepAlive: true })
  ending.push(() => agent.destroy())
  const ask = () =>
    new Promise<string | undefined>((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent }, (response) => {
        response.resume().on('end', () => resolve(response.headers.connection))
      }).on('error', reject)
    })
  expect(await ask()).toBe('keep-alive')
  const ended = connections.close({ graceMs: NEVER, deadlineMs: NEVER })
  expect(await ask()).toBe('close')
  expect(seen).toEqual([false, true])
  await ended
})

test('BA-222 what runs at the deadline is cut', async () => {
  const { connections, dial } = await open(() => undefined)
  const socket = await dial()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await expect.poll(() => connections.of(socket)?.running ?? connections.size).toBe(1)
  await Promise.all([connections.close({ graceMs: 0, deadlineMs: 50 }), closed(socket)])
})

test('BA-222 the oldest connection on which nothing runs is closed, and no other', async () => {
  const { connections, dial } = await open(() => undefined)
  const busy = await dial()
  busy.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await expect.poll(() => connections.size).toBe(1)
  const [older, newer] = [await dial(), await dial()]
  await expect.poll(() => connections.size).toBe(3)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(connections.closeOldestIdle({ idleMs: NEVER })).toBe(false)
  expect(connections.closeOldestIdle({ idleMs: 0 })).toBe(true)
  expect(connections.size).toBe(2)
  await closed(older)
  expect([busy.destroyed, newer.destroyed]).toEqual([false, false])
  expect([connections.closeOldestIdle({ idleMs: 0 }), connections.closeOldestIdle({ idleMs: 0 })]).toEqual([
    true,
    false,
  ])
})
