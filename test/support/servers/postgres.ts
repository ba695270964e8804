import { randomBytes } from 'node:crypto'
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findAccount, findFreePort, findProgram, listFolders, makeDirectory, runProgram } from './process.ts'
import { removeDirectory, startProcess, type Account } from './process.ts'
import { CannotStart, type Endpoint, type ServerRecipe, type StartedServer } from './real-server.ts'
import { exchange } from './wire.ts'

const READY_MS = 30_000
const PASSWORD_BYTES = 16
const MAX_CONNECTIONS = 500

export const POSTGRES: ServerRecipe = {
  kind: 'postgres',
  variable: 'PERAGO_TEST_POSTGRES_URL',
  readEnvironment: ({ PERAGO_TEST_POSTGRES_URL: url }) => (url ? { url, facts: {} } : undefined),
  check: checkPostgres,
  container: {
    image: 'postgres:17-alpine',
    port: 5432,
    environment: { POSTGRES_PASSWORD: 'perago' },
    endpointAt: (host, port) => ({
      url: `postgresql://postgres:perago@${host}:${String(port)}/postgres`,
      facts: {},
    }),
  },
  start: startPostgres,
  startsAs: 'native',
  readyMs: READY_MS,
}

/** Where `psql` and the server's own programs are; Debian keeps the latter off the PATH. */
export function findPostgresProgram(name: string): string {
  const bins = listFolders('/usr/lib/postgresql')
    .map((version) => join(version, 'bin'))
    .reverse()
  return findProgram(name, bins, 'apt-get install postgresql')
}

async function startPostgres(): Promise<StartedServer> {
  const [initdb, server] = [findPostgresProgram('initdb'), findPostgresProgram('postgres')]
  const account = accountForServer()
  const directory = makeDirectory('postgres', account)
  try {
    const password = randomBytes(PASSWORD_BYTES).toString('hex')
    const passwordFile = join(directory, 'password')
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (account !== undefined) chownSync(passwordFile, account.uid, account.gid)
    const data = join(directory, 'data')
    const init = [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
    ]
    await runProgram(initdb, [...init, '--no-sync'], { timeoutMs: READY_MS, account, cwd: directory })
    const port = await findFreePort()
    const url = `postgresql://postgres:${password}@127.0.0.1:${String(port)}/postgres`
    const running = await startProcess({
      command: server,
      // The data lives as long as the tests: syncing it to disk would only cost time. Files that run at the same time
      // share the server, and each open store has connections of its own.
      args: [
        ...['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', directory],
        ...['-c', 'fsync=off', '-c', `max_connections=${String(MAX_CONNECTIONS)}`],
      ],
      directory,
      account,
      // Fast shutdown: PostgreSQL's answer to SIGTERM waits for every client to leave.
      stopSignal: 'SIGINT',
      readyMs: READY_MS,
      check: (signal) => checkPostgres({ url, facts: {} }, signal),
    })
    return { url, facts: {}, directory, close: running.close }
  } catch (error) {
    removeDirectory(directory)
    throw error
  }
}

function accountForServer(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const account = findAccount('postgres')
  if (account === undefined)
    throw new CannotStart('PostgreSQL refuses to run as root, and there is no account `postgres`')
  return account
}

/**
 * Sends a start-up message and looks at the first letter of the answer. `R` asks for authentication, so the server
 * takes clients; `E` says that it does not yet (or not this one).
 */
async function checkPostgres(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  const { hostname, port, username } = new URL(endpoint.url)
  const body = Buffer.from(`user\0${decodeURIComponent(username) || 'postgres'}\0\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(head.length + body.length, 0)
  head.writeInt32BE(PROTOCOL_3_0, 4)
  const answer = await exchange({
    host: hostname,
    port: Number(port || '5432'),
    send: Buffer.concat([head, body]),
    isWhole: (received) => received.length > 0,
    signal,
  })
  if (answer.toString('latin1', 0, 1) !== 'R')
    throw new Error(`PostgreSQL answered ${answer.toString('latin1')}`)
}

const PROTOCOL_3_0 = 0x00030000
