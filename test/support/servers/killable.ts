// A server that a test may kill and start again on the same data and port. Only this machine's own programs will do.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, writeFileSync } from 'node:fs'
import { arch } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { ETCD } from './etcd.ts'
import { findPostgresProgram, POSTGRES } from './postgres.ts'
import {
  findAccount,
  findFreePort,
  findProgram,
  makeDirectory,
  removeDirectory,
  runProgram,
} from './process.ts'
import { CannotStart, type ServerRecipe } from './real-server.ts'
import { REDIS } from './redis.ts'
import { presentOrSkip } from './servers.ts'

export type KillableKind = 'postgres' | 'redis' | 'etcd'

export interface KillableServer {
  readonly url: string
  readonly port: number
  /** Ends it as a crash would: nothing is written or said before. */
  readonly kill: () => Promise<void>
  /** Resolves once it answers again. */
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

interface Program {
  readonly recipe: ServerRecipe
  readonly command: string
  readonly args: readonly string[]
  readonly url: string
  readonly environment?: Readonly<Record<string, string>>
  readonly account?: { readonly uid: number; readonly gid: number } | undefined
  /** PostgreSQL's own word for "die now" ends the processes under it, too. */
  readonly crash: 'SIGKILL' | 'SIGQUIT'
}

const READY_MS = 30_000
const PREPARE: Readonly<Record<KillableKind, (directory: string, port: number) => Promise<Program>>> = {
  postgres: preparePostgres,
  redis: prepareRedis,
  etcd: prepareEtcd,
}

/** Skips the test where the program is missing, or fails it where the machine claims to be CI. */
export async function openKillable(kind: KillableKind, context: TestContext): Promise<KillableServer> {
  const account = kind === 'postgres' && process.getuid?.() === 0 ? findAccount('postgres') : undefined
  const directory = makeDirectory(kind, account)
  let child: ChildProcess | undefined
  try {
    const port = await findFreePort()
    const program = await PREPARE[kind](directory, port)
    const end = async (): Promise<void> => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(program.crash)
      await ended
    }
    const start = async (): Promise<void> => {
      child = spawn(program.command, program.args, {
        cwd: directory,
        env: { ...process.env, ...program.environment },
        stdio: 'ignore',
        ...program.account,
      })
      const bound = AbortSignal.timeout(READY_MS)
      for (;;) {
        try {
          await program.recipe.check({ url: program.url, facts: {} }, bound)
          return
        } catch (error) {
          if (bound.aborted) throw error
          await wait(50)
        }
      }
    }
    await start()
    const close = async (): Promise<void> => {
      await end()
      removeDirectory(directory)
    }
    return { url: program.url, port, kill: end, start, close }
  } catch (error) {
    child?.kill('SIGKILL')
    removeDirectory(directory)
    if (!(error instanceof CannotStart)) throw error
    presentOrSkip({ kind, reason: `${kind}, to be killed: ${error.message}` }, context, process.env)
    throw error
  }
}

async function preparePostgres(directory: string, port: number): Promise<Program> {
  const [initdb, command] = [findPostgresProgram('initdb'), findPostgresProgram('postgres')]
  const account = process.getuid?.() === 0 ? findAccount('postgres') : undefined
  if (process.getuid?.() === 0 && account === undefined)
    throw new CannotStart('there is no account `postgres`')
  const [data, passwordFile] = [join(directory, 'data'), join(directory, 'password')]
  writeFileSync(passwordFile, 'perago', { mode: 0o600 })
  if (account !== undefined) chownSync(passwordFile, account.uid, account.gid)
  const args = [
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--no-sync',
  ]
  await runProgram(initdb, args, { timeoutMs: READY_MS, account, cwd: directory })
  return {
    recipe: POSTGRES,
    command,
    args: ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', directory],
    url: `postgresql://postgres:perago@127.0.0.1:${String(port)}/postgres`,
    account,
    crash: 'SIGQUIT',
  }
}

function prepareRedis(directory: string, port: number): Promise<Program> {
  const command = findProgram('redis-server', [], 'apt-get install redis-server')
  const configuration = join(directory, 'redis.conf')
  const settings = [
    ...[`port ${String(port)}`, 'bind 127.0.0.1', `dir ${directory}`, 'requirepass perago', 'save ""'],
    ...['appendonly yes', 'appendfsync always'],
  ]
  writeFileSync(configuration, settings.join('\n'), { mode: 0o600 })
  const url = `redis://:perago@127.0.0.1:${String(port)}`
  return Promise.resolve({ recipe: REDIS, command, args: [configuration], url, crash: 'SIGKILL' })
}

async function prepareEtcd(directory: string, port: number): Promise<Program> {
  const command = findProgram('etcd', [], 'apt-get install etcd-server')
  const url = `http://127.0.0.1:${String(port)}`
  const peer = `http://127.0.0.1:${String(await findFreePort())}`
  return {
    recipe: ETCD,
    command,
    args: [
      ...['--data-dir', join(directory, 'data'), '--name', 'only', '--initial-cluster', `only=${peer}`],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ],
    url,
    environment: arch() === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {},
    crash: 'SIGKILL',
  }
}
