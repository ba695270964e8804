/** A worker in its own process, which owns a workspace until it is killed. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface SpawnedOwner {
  readonly token: string
  readonly dir: string
  /** As hard as it goes; resolves when the process has ended. */
  kill(): Promise<void>
}

const REGISTER = new URL('../typescript-child/register.mjs', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('owner-program.ts', import.meta.url))

export async function spawnOwner(root: string): Promise<SpawnedOwner> {
  const child = spawn(process.execPath, ['--import', REGISTER, PROGRAM, root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error('the worker ended before it was ready'))),
  ])) as [string]
  return { ...(JSON.parse(line) as { token: string; dir: string }), kill }
}
