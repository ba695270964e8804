// PostgreSQL, Redis and etcd from Debian's packages: each in its own directory, on a free loopback port, configured to keep
// acknowledged writes through a power failure.
import { spawnSync } from 'node:child_process'
import {
  accessSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { createConnection } from 'node:net'
import { arch, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { findFreePort, startProgram, waitFor } from './processes.mjs'

const READY_MS = 30_000
const PASSWORD = 'perago'

/** PERAGO_TEST_POSTGRES_URL names a running one. */
export async function startPostgres(bench) {
  const named = process.env.PERAGO_TEST_POSTGRES_URL
  if (named) return { url: named, pid: undefined }
  const [initdb, server, privileges] = [findPostgres('initdb'), findPostgres('postgres'), 'setpriv']
  // PostgreSQL refuses to run as root.
  const account = process.getuid() === 0 ? findAccount('postgres') : undefined
  const as = (command, args) =>
    account === undefined
      ? [command, args]
      : [privileges, [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', command, ...args]]
  const directory = mkdtempSync(join(tmpdir(), 'perago-bench-postgres-'))
  bench.defer(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  if (account !== undefined) chownSync(directory, account.uid, account.gid)
  const data = join(directory, 'data')
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8']
  const made = spawnSync(...as(initdb, init), { encoding: 'utf8', cwd: directory })
  if (made.status !== 0) throw new Error(`start PostgreSQL: ${made.stderr}`)
  const port = await findFreePort()
  const flags = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', directory]
  const program = startProgram(...as(server, flags), { cwd: directory })
  bench.defer(() => program.close())
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  const { default: pg } = await import('pg')
  const isReady = async () => {
    const client = new pg.Client(url)
    await client.connect()
    await client.end()
    return true
  }
  await waitFor('start PostgreSQL', isReady, { withinMs: READY_MS, program })
  return { url, pid: program.pid }
}

/** PERAGO_TEST_REDIS_URL names a running one. */
export async function startRedis(bench) {
  const named = process.env.PERAGO_TEST_REDIS_URL
  if (named) return { url: named, pid: undefined }
  const directory = join(bench.directory, 'redis')
  mkdirSync(directory)
  const port = await findFreePort()
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    directory,
    '--requirepass',
    PASSWORD,
  ]
  const kept = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  const program = startProgram(findProgram('redis-server'), [...settings, ...kept], { cwd: directory })
  bench.defer(() => program.close())
  await waitFor('start Redis', () => listens(port), { withinMs: READY_MS, program })
  return { url: `redis://:${PASSWORD}@127.0.0.1:${port}`, pid: program.pid }
}

/** PERAGO_TEST_ETCD_URL names a running one. */
export async function startEtcd(bench) {
  const named = process.env.PERAGO_TEST_ETCD_URL
  if (named) return { url: named, pid: undefined }
  const directory = join(bench.directory, 'etcd')
  mkdirSync(directory)
  const url = `http://127.0.0.1:${await findFreePort()}`
  const peer = `http://127.0.0.1:${await findFreePort()}`
  const args = [
    ...['--data-dir', join(directory, 'data'), '--name', 'only', '--initial-cluster', `only=${peer}`],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
  ]
  // Debian's etcd refuses 64-bit ARM without this.
  const env = arch() === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {}
  const program = startProgram(findProgram('etcd'), args, { cwd: directory, env })
  bench.defer(() => program.close())
  const isReady = async () => (await (await fetch(`${url}/health`)).json()).health === 'true'
  await waitFor('start etcd', isReady, { withinMs: READY_MS, program })
  return { url, pid: program.pid }
}

/** On Debian the server's programs are not on the PATH. */
function findPostgres(name) {
  const home = '/usr/lib/postgresql'
  const versions = listFolder(home).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  return findProgram(
    name,
    versions.map((version) => join(home, version, 'bin')),
  )
}

function listFolder(path) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function findProgram(name, first = []) {
  const places = [...first, ...(process.env.PATH ?? '').split(delimiter)].map((place) => join(place, name))
  const found = places.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  if (found === undefined) throw new Error(`start ${name}: there is no such program here`)
  return found
}

function findAccount(name) {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((candidate) => candidate.startsWith(`${name}:`))
  if (line === undefined) throw new Error(`start PostgreSQL as root: there is no account "${name}"`)
  const [, , uid, gid] = line.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

function listens(port) {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', reject)
  })
}
