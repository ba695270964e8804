// What `conductorWorkers` gives fits where either version of the SDK takes workers, and what the builders make may be exported.
import { expect, test } from 'vitest'
import { compileSnippets } from '../support/type-check.ts'

const VERSIONS = [
  '@io-orkes/conductor-javascript',
  './test/support/conductor-sdk-4/node_modules/@io-orkes/conductor-javascript/dist/index.d.mts',
]

const preludeOf = (from: string): string => `import type { TaskHandlerConfig, TaskManager } from '${from}'
import { conductorWorkers, type ConductorSdkWorker } from './src/perago-conductor-sdk.ts'
type Workers = ConstructorParameters<typeof TaskManager>[1]
declare const other: Workers[number]`

const ACCEPTED = `const perago = await conductorWorkers('tasks.ts', { root: 'work', health: { port: 0 } })
export const all: Workers = [...perago.workers, other]
export const config: Pick<TaskHandlerConfig, 'workers'> = { workers: perago.workers }
export const own: Workers = perago.workers.map((worker) => ({ ...worker, concurrency: 2, domain: 'north' }))
await perago.stop({ deadlineMs: 30_000 })`

const REFUSED = [
  `void conductorWorkers('tasks.ts', { slots: 4 })`,
  `export const worker: ConductorSdkWorker = { ...(await conductorWorkers('a'))['workers'][0]!, leaseExtendEnabled: true }`,
]

test('IO-67 workers fit both versions; settings that are the SDK’s are refused, and its renewals', () => {
  const snippets = VERSIONS.flatMap((from) =>
    [ACCEPTED, ...REFUSED].map((text) => `${preludeOf(from)}\n${text}`),
  )
  const [UNKNOWN_PROPERTY, NOT_ASSIGNABLE] = [2353, 2322]
  const expected = [[], [UNKNOWN_PROPERTY], [NOT_ASSIGNABLE]]
  expect(compileSnippets(snippets)).toEqual([...expected, ...expected])
}, 120_000)
