import { createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { listen } from './listen.ts'

const servers: Server[] = []
function newServer(): Server {
  const server = createServer()
  servers.push(server)
  return server
}
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

test('BA-103 a server gets a free port and tells where it listens', async () => {
  const address = await listen(newServer(), { host: '127.0.0.1', port: 0 }, (cause) => cause)
  expect(address).toMatch(/^127\.0\.0\.1:\d+$/)
})

test('BA-103 a port that is taken is refused in the words of the caller', async () => {
  const address = await listen(newServer(), { host: '127.0.0.1', port: 0 }, (cause) => cause)
  const port = Number(address.split(':')[1])
  const refused = listen(
    newServer(),
    { host: '127.0.0.1', port },
    ({ code }) => new Error(`no port: ${code}`),
  )
  await expect(refused).rejects.toThrow('no port: EADDRINUSE')
})

test('BA-103 an error of an open server does not end the process', async () => {
  const server = newServer()
  await listen(server, { host: '127.0.0.1', port: 0 }, (cause) => cause)
  expect(server.emit('error', new Error('accept EMFILE'))).toBe(true)
})
