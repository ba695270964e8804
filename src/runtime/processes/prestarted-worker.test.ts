// Goal: a worker process takes no more memory for short-lived objects than it needs, unless its user wants it to.
import { afterEach, expect, test, vi } from 'vitest'
import { WORKER_SEMI_SPACE_MIB } from '../limits.ts'
import { prestartWorker } from './prestarted-worker.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

function argumentsOfWorker(nodeOptions: string): readonly string[] {
  vi.stubEnv('NODE_OPTIONS', nodeOptions)
  const worker = prestartWorker()
  worker.discard()
  return worker.child.spawnargs.filter((argument) => argument.startsWith('--max'))
}

test('WK-358 a worker process has a small young generation, unless NODE_OPTIONS sets its size', () => {
  expect(argumentsOfWorker('--enable-source-maps')).toEqual([
    `--max-semi-space-size=${WORKER_SEMI_SPACE_MIB}`,
  ])
  expect(argumentsOfWorker('--max-semi-space-size=16')).toEqual([])
  expect(argumentsOfWorker('--max_semi_space_size=16')).toEqual([])
})
