/** `perago lakefs` in its own process, which can be killed. */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const READY_WITHIN_MS = 60_000

export interface LakefsProcess {
  readonly url: string
  readonly pid: number
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit status. */
  stop(): Promise<number | null>
}

export const TEST_ACCESS_KEY = 'AKIAKILLTESTKILLTEST'
export const TEST_SECRET_KEY = 'kill-test-secret-kill-test-secret-0001'

export async function startLakefsProcess(dataDir: string): Promise<LakefsProcess> {
  const child = spawn(
    process.execPath,
    [MAIN, 'lakefs', '--port', '0', '--data', dataDir, '--log-level', 'warn'],
    {
      env: {
        PATH: process.env['PATH'],
        PERAGO_EMBEDDED_ACCESS_KEY_ID: TEST_ACCESS_KEY,
        PERAGO_EMBEDDED_SECRET_ACCESS_KEY: TEST_SECRET_KEY,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const gone = once(child, 'exit').then(([status]) => status as number | null)
  const url = await firstReadyLine(child)
  return {
    url,
    pid: child.pid!,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    stop() {
      child.kill('SIGTERM')
      return gone
    },
  }
}

function firstReadyLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`perago lakefs was not ready within ${READY_WITHIN_MS} ms: ${stderr}`))
    }, READY_WITHIN_MS)
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      const ready = /^ready (\S+)\n/.exec(stdout)
      if (ready?.[1] === undefined) return
      clearTimeout(timer)
      resolve(ready[1])
    })
    child.once('exit', (status, signal) => {
      clearTimeout(timer)
      reject(new Error(`perago lakefs ended with ${status ?? signal} before it was ready: ${stderr}`))
    })
  })
}
