// The shipped command, started like a user would: dist/cli/main.js in its own directory.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PROJECT_ROOT } from '../source-tree.ts'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Everything written to standard output so far. */
  readonly stdout: () => string
  /** … and to standard error. */
  readonly stderr: () => string
  /** Settles when standard output has its first line; fails when the process ends before. */
  readonly firstLine: Promise<string>
}

/** A project that has installed perago. */
export interface Project {
  readonly directory: string
  write(name: string, text: string): Promise<void>
  /** `input` is what it reads from standard input. */
  start(args: readonly string[], environment?: Readonly<Record<string, string>>, input?: string): Started
  run(args: readonly string[], environment?: Readonly<Record<string, string>>, input?: string): Promise<Ended>
  /** Ends what still runs, and removes the directory. */
  close(): Promise<void>
}

export async function openProject(): Promise<Project> {
  const directory = await mkdtemp(join(tmpdir(), 'perago-project-'))
  await mkdir(join(directory, 'node_modules'))
  await symlink(PROJECT_ROOT, join(directory, 'node_modules/perago'))
  await symlink(join(PROJECT_ROOT, 'node_modules/zod'), join(directory, 'node_modules/zod'))
  // What receivers of webhooks verify signatures with.
  await symlink(
    join(PROJECT_ROOT, 'node_modules/standardwebhooks'),
    join(directory, 'node_modules/standardwebhooks'),
  )
  await writeFile(
    join(directory, 'package.json'),
    '{"name": "a-project", "private": true, "type": "module"}\n',
  )
  const running = new Set<Started>()

  const start: Project['start'] = (args, environment = {}, input) => {
    const child = spawn(process.execPath, [join(PROJECT_ROOT, 'dist/cli/main.js'), ...args], {
      cwd: directory,
      // Nothing of the developer's own environment, or a LAKEFS_ENDPOINT in it would decide a test.
      env: { PATH: process.env.PATH, ...environment },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    child.stdin?.end(input)
    let stdout = ''
    let stderr = ''
    const firstLine = new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        stdout += chunk.toString()
        if (stdout.includes('\n')) resolve(stdout.slice(0, stdout.indexOf('\n')))
      })
      child.on('close', () => reject(new Error(`the command ended without a line: ${stderr}`)))
    })
    firstLine.catch(() => undefined)
    const ended = new Promise<Ended>((resolve) => {
      child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      child.on('close', (code) => {
        running.delete(started)
        resolve({ code, stdout, stderr })
      })
    })
    const started: Started = { child, ended, firstLine, stdout: () => stdout, stderr: () => stderr }
    running.add(started)
    return started
  }

  return {
    directory,
    start,
    run: (args, environment, input) => start(args, environment, input).ended,
    async write(name, text) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    },
    async close() {
      for (const { child, ended } of [...running]) {
        child.kill('SIGKILL')
        await ended
      }
      await rm(directory, { recursive: true })
    },
  }
}
