// The Python package of the same name, as its users have it: installed from its package index into a virtual environment
// of its own, and started with its own command.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestContext } from 'vitest'
import { usePython, type PythonEnvironment } from '../servers/python.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const REQUIREMENTS = join(HERE, 'requirements.txt')
const COMMAND_MS = 60_000

export type Peer = PythonEnvironment

export interface PeerSettings {
  readonly conductorUrl: string
  readonly lakefs: { readonly url: string; readonly accessKeyId: string; readonly secretAccessKey: string }
  readonly taskName: string
  /** Where it keeps workspaces and logs. */
  readonly directory: string
}

export interface RunningPeer {
  /** What it said so far. */
  readonly output: () => string
  /** Ends all of it at once, as a machine that goes away would. */
  kill(): Promise<void>
}

/** The package for the tests of a file; without it they are skipped with the reason, and fail where `CI` is `true`. */
export function usePeer(): (context: Pick<TestContext, 'skip'>) => Peer {
  return usePython({ name: 'the Python package', requirements: REQUIREMENTS })
}

/** What `perago extract` of the Python package writes for the task. */
export async function extractTaskDef(
  { python }: Peer,
  settings: PeerSettings,
): Promise<Record<string, unknown>> {
  const target = join(settings.directory, 'task-def.json')
  const child = spawnPeer(python, settings, ['extract', 'interop_task', '--output', target])
  await endOf(child.process)
  if (child.process.exitCode !== 0) throw new Error(`extract: ${child.output()}`)
  return JSON.parse(readFileSync(target, 'utf8')) as Record<string, unknown>
}

/** Starts its worker. It takes tasks some seconds later; the server tells when. */
export function startPeer({ python }: Peer, settings: PeerSettings): RunningPeer {
  const child = spawnPeer(python, settings, ['start', 'interop_task', '-j', '1'])
  const kill = async (): Promise<void> => {
    // It forks: the group has everything it started.
    killGroup(child.process)
    await endOf(child.process)
  }
  return { output: child.output, kill }
}

/** Runs a few lines of Python beside the package, and gives what they print. */
export async function askPeer(
  { python }: Peer,
  settings: PeerSettings,
  program: string,
  ...args: readonly string[]
): Promise<string> {
  const child = spawnPeer(python, settings, args, ['-c', program])
  await endOf(child.process)
  if (child.process.exitCode !== 0) throw new Error(`a program of the Python package: ${child.output()}`)
  return child.output().trim()
}

interface PeerProcess {
  readonly process: ChildProcess
  readonly output: () => string
}

function spawnPeer(
  python: string,
  settings: PeerSettings,
  args: readonly string[],
  program: readonly string[] = ['-m', 'perago.cli'],
): PeerProcess {
  const { conductorUrl, lakefs, taskName, directory } = settings
  const child = spawn(python, [...program, ...args], {
    cwd: directory,
    detached: true,
    env: {
      PATH: process.env.PATH,
      PERAGO_TEST_MARK: process.env.PERAGO_TEST_MARK,
      PYTHONPATH: HERE,
      PYTHONDONTWRITEBYTECODE: '1',
      INTEROP_TASK_NAME: taskName,
      CONDUCTOR_SERVER_URL: `${conductorUrl}/api`,
      LAKECTL_SERVER_ENDPOINT_URL: lakefs.url,
      LAKECTL_CREDENTIALS_ACCESS_KEY_ID: lakefs.accessKeyId,
      LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
      PERAGO_WORKSPACE_ROOT: join(directory, 'workspaces'),
      PERAGO_LOG_ROOT: join(directory, 'logs'),
      PERAGO_WORKER_ID_PREFIX: 'python',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-20_000)))
  return { process: child, output: () => said }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function endOf(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const late = setTimeout(() => killGroup(child), COMMAND_MS)
  await once(child, 'close')
  clearTimeout(late)
}
