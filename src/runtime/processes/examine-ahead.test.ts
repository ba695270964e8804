// Goal: a module that cannot start is told as before, and the process that supervises never has it in memory.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { prestartWorker, type PrestartedWorker } from './prestarted-worker.ts'
import { startProcesses } from './start-processes.ts'
import type { WorkerOrder } from './worker-processes.ts'

let directory: string
let prestarted: PrestartedWorker

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-examine-'))
  prestarted = prestartWorker()
})
afterEach(async () => {
  prestarted.discard()
  await rm(directory, { recursive: true, force: true })
})

async function start(module: string, signal?: AbortSignal): Promise<unknown> {
  const modulePath = join(directory, 'tasks.mjs')
  await writeFile(modulePath, module)
  const order: WorkerOrder = {
    configuration: {} as WorkerOrder['configuration'],
    modulePath,
    secrets: ['hunter2'],
    log: { level: 'error', format: 'json', isTerminal: false },
    options: { root: join(directory, 'root') },
  }
  return startProcesses({ order, count: 1, logger: silentLogger, prestarted, signal }).catch(
    (error: unknown) => error,
  )
}

test('WK-359 the tasks are looked at by the first worker process, and its error is told with its causes', async () => {
  const pidFile = join(directory, 'pid')
  const error = await start(`
    import { appendFileSync } from 'node:fs'
    appendFileSync(${JSON.stringify(pidFile)}, process.pid + ' ')
    throw new Error('no hunter2 here')`)
  expect(error).toMatchObject({ kind: 'invalid', code: 'worker/module-failed' })
  expect((error as Error).message).toMatch(/tasks\.mjs.*no \[redacted\] here/)
  expect((error as Error).cause).toMatchObject({ message: 'no [redacted] here' })
  expect(await readFile(pidFile, 'utf8')).toBe(`${prestarted.child.pid} `)
})

test('WK-359 a module that ends its process is told, and nothing is started', async () => {
  expect(await start('process.exit(7)')).toMatchObject({
    code: 'runtime/workers-ended',
    message: expect.stringMatching(/7/) as string,
  })
})

test('WK-359 a stop while the module is loaded ends the start', async () => {
  const stopping = new AbortController()
  const starting = start('await new Promise(() => setInterval(() => {}, 1_000))', stopping.signal)
  stopping.abort(new Error('asked to stop'))
  expect(await starting).toMatchObject({ message: 'asked to stop' })
})
