// Servers that accept only TLS with a client certificate, from this machine's programs.
import { chownSync, writeFileSync } from 'node:fs'
import { arch } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'
import { TEST_CERTIFICATE, TEST_KEY } from '../doors/certificate.ts'
import type { KillableKind } from './killable.ts'
import { findPostgresProgram } from './postgres.ts'
import {
  findAccount,
  findFreePort,
  findProgram,
  makeDirectory,
  removeDirectory,
  runProgram,
  startProcess,
  type Account,
  type ProcessOptions,
} from './process.ts'
import { CannotStart } from './real-server.ts'
import { presentOrSkip } from './servers.ts'

export interface TlsServer {
  readonly port: number
  /** The certificate signs itself: it is its own authority, and the client's too. */
  readonly certificate: string
  readonly key: string
}

type Prepared = Pick<ProcessOptions, 'command' | 'args' | 'environment' | 'stopSignal'>

interface Place extends TlsServer {
  readonly directory: string
  readonly account: Account | undefined
}

const READY_MS = 30_000
/** The certificate is good for the first of them alone. */
const HOSTS = ['127.0.0.1', '127.0.0.2'] as const

const PREPARE: Readonly<Record<KillableKind, (place: Place) => Promise<Prepared>>> = {
  postgres: preparePostgres,
  redis: prepareRedis,
  etcd: prepareEtcd,
}

/** Closed with the test; `check` rejects until the server answers. */
export async function openTlsServer(
  kind: KillableKind,
  context: TestContext,
  check: (server: TlsServer) => Promise<void>,
): Promise<TlsServer> {
  const account = kind === 'postgres' && process.getuid?.() === 0 ? findAccount('postgres') : undefined
  const directory = makeDirectory(`${kind}-tls`, account)
  try {
    const place: Place = {
      port: await findFreePort(),
      certificate: writeOwn(directory, 'server.pem', TEST_CERTIFICATE, account),
      key: writeOwn(directory, 'server.key', TEST_KEY, account),
      directory,
      account,
    }
    const prepared = await PREPARE[kind](place)
    const running = await startProcess({
      ...prepared,
      directory,
      account,
      readyMs: READY_MS,
      check: () => check(place),
    })
    onTestFinished(() => running.close())
    return place
  } catch (error) {
    removeDirectory(directory)
    if (!(error instanceof CannotStart)) throw error
    presentOrSkip({ kind, reason: `${kind} with TLS: ${error.message}` }, context, process.env)
    throw error
  }
}

function writeOwn(directory: string, name: string, text: string, account: Account | undefined): string {
  const path = join(directory, name)
  writeFileSync(path, text, { mode: 0o600 })
  if (account !== undefined) chownSync(path, account.uid, account.gid)
  return path
}

async function preparePostgres({ directory, account, port, certificate, key }: Place): Promise<Prepared> {
  const [initdb, command] = [findPostgresProgram('initdb'), findPostgresProgram('postgres')]
  if (process.getuid?.() === 0 && account === undefined)
    throw new CannotStart('there is no account `postgres`')
  const data = join(directory, 'data')
  const password = writeOwn(directory, 'password', 'perago', account)
  await runProgram(
    initdb,
    ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${password}`, '-E', 'UTF8', '--no-sync'],
    { timeoutMs: READY_MS, account, cwd: directory },
  )
  writeOwn(data, 'pg_hba.conf', 'hostssl all all 127.0.0.0/8 scram-sha-256 clientcert=verify-ca\n', account)
  const settings = [
    'ssl=on',
    `ssl_cert_file=${certificate}`,
    `ssl_key_file=${key}`,
    `ssl_ca_file=${certificate}`,
  ]
  return {
    command,
    args: [
      ...['-D', data, '-h', HOSTS.join(','), '-p', String(port), '-k', directory],
      ...settings.flatMap((setting) => ['-c', setting]),
    ],
    stopSignal: 'SIGINT',
  }
}

function prepareRedis({ directory, port, certificate, key }: Place): Promise<Prepared> {
  const command = findProgram('redis-server', [], 'apt-get install redis-server')
  const configuration = writeOwn(
    directory,
    'redis.conf',
    [
      ...['port 0', `tls-port ${String(port)}`, `bind ${HOSTS.join(' ')}`, `dir ${directory}`],
      ...['requirepass perago', 'save ""', 'tls-auth-clients yes'],
      ...[`tls-cert-file ${certificate}`, `tls-key-file ${key}`, `tls-ca-cert-file ${certificate}`],
    ].join('\n'),
    undefined,
  )
  return Promise.resolve({ command, args: [configuration], stopSignal: 'SIGTERM' })
}

async function prepareEtcd({ directory, port, certificate, key }: Place): Promise<Prepared> {
  const command = findProgram('etcd', [], 'apt-get install etcd-server')
  const urls = HOSTS.map((host) => `https://${host}:${String(port)}`).join(',')
  const peer = `http://127.0.0.1:${String(await findFreePort())}`
  return {
    command,
    args: [
      ...['--data-dir', join(directory, 'data'), '--name', 'only', '--initial-cluster', `only=${peer}`],
      ...['--listen-client-urls', urls, '--advertise-client-urls', urls],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--cert-file', certificate, '--key-file', key],
      ...['--client-cert-auth', '--trusted-ca-file', certificate],
    ],
    environment: arch() === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {},
    stopSignal: 'SIGTERM',
  }
}
