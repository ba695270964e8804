// Goal: a worker process takes no more memory for short-lived objects than it needs, unless its user wants it to.
import { afterEach, expect, test, vi } from 'vitest'
import { WORKER_SEMI_SPACE_MIB, WORKER_V8_THREADS } from '../limits.ts'
import { prestartWorker } from './prestarted-worker.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

function argumentsOfWorker(nodeOptions: string): readonly string[] {
  vi.stubEnv('NODE_OPTIONS', nodeOptions)
  const worker = prestartWorker()
  worker.discard()
  return worker.child.spawnargs.filter((argument) => /^--(?:max|v8)/.test(argument))
}

test('WK-358 a worker has a small young generation and few threads of V8, unless NODE_OPTIONS says otherwise', () => {
  const young = `--max-semi-space-size=${WORKER_SEMI_SPACE_MIB}`
  const threads = `--v8-pool-size=${WORKER_V8_THREADS}`
  expect(argumentsOfWorker('--enable-source-maps')).toEqual([young, threads])
  expect(argumentsOfWorker('--max-semi-space-size=16')).toEqual([threads])
  expect(argumentsOfWorker('--max_semi_space_size=16 --v8-pool-size=4')).toEqual([])
})
