import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort, findProgram, makeDirectory, removeDirectory, startProcess } from './process.ts'
import type { Endpoint, ServerRecipe, StartedServer } from './real-server.ts'
import { exchange } from './wire.ts'

const READY_MS = 15_000
const PASSWORD_BYTES = 16

export const REDIS: ServerRecipe = {
  kind: 'redis',
  variable: 'PERAGO_TEST_REDIS_URL',
  readEnvironment: ({ PERAGO_TEST_REDIS_URL: url }) => (url ? { url, facts: {} } : undefined),
  check: async (endpoint, signal) => {
    const answer = await askRedis(endpoint, 'PING', signal)
    if (answer !== '+PONG') throw new Error(`Redis answered ${answer}`)
  },
  container: {
    image: 'redis:7-alpine',
    port: 6379,
    environment: {},
    endpointAt: (host, port) => ({ url: `redis://${host}:${String(port)}`, facts: {} }),
  },
  start: startRedis,
  startsAs: 'native',
  readyMs: READY_MS,
}

/** Sends one inline command and gives the first line of its answer, type letter included. */
export async function askRedis(endpoint: Endpoint, command: string, signal: AbortSignal): Promise<string> {
  const { hostname, port, username, password } = new URL(endpoint.url)
  const login = password === '' ? [] : [`AUTH ${username} ${decodeURIComponent(password)}`.replace('  ', ' ')]
  const lines = [...login, command]
  const answer = await exchange({
    host: hostname,
    port: Number(port || '6379'),
    send: lines.map((line) => `${line}\r\n`).join(''),
    isWhole: (received) => received.toString().split('\r\n').length > lines.length,
    signal,
  })
  return answer.toString().split('\r\n')[lines.length - 1] ?? ''
}

async function startRedis(): Promise<StartedServer> {
  const command = findProgram('redis-server', [], 'apt-get install redis-server')
  const directory = makeDirectory('redis')
  try {
    const [port, password] = [await findFreePort(), randomBytes(PASSWORD_BYTES).toString('hex')]
    const url = `redis://:${password}@127.0.0.1:${String(port)}`
    const configuration = join(directory, 'redis.conf')
    // Without a password anybody on this machine could make Redis write files under our account.
    const settings = [
      `port ${String(port)}`,
      'bind 127.0.0.1',
      `dir ${directory}`,
      `requirepass ${password}`,
      'save ""',
    ]
    writeFileSync(configuration, settings.join('\n'), { mode: 0o600 })
    const running = await startProcess({
      command,
      args: [configuration],
      directory,
      stopSignal: 'SIGTERM',
      readyMs: READY_MS,
      check: (signal) => REDIS.check({ url, facts: {} }, signal),
    })
    return { url, facts: {}, directory, close: running.close }
  } catch (error) {
    removeDirectory(directory)
    throw error
  }
}
