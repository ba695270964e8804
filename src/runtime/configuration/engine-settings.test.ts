import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import type { TaskUnit } from '../../engine/graph/graph.ts'
import { openEngine } from '../../engine/host/open-engine.ts'
import { ENGINE_SCHEDULING } from '../../engine/scheduling/options.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { loadConfiguration } from './configuration.ts'

async function load(yaml: string) {
  const directory = await mkdtemp(join(tmpdir(), 'perago-engine-settings-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await writeFile(join(directory, 'perago.yaml'), yaml)
  return loadConfiguration({ directory, environment: {} })
}

/** How many of these units an engine with this configuration runs at once. */
async function runAtOnce(yaml: string, units: readonly TaskUnit[]): Promise<number> {
  const { engine: options } = await load(yaml)
  const engine = await openEngine({ store: openMemoryStore(), ...options })
  onTestFinished(() => engine.close())
  await engine.control.startGraph(graphOf(units), {})
  return (await engine.queue.poll({ taskType: 't', workerId: 'w', count: 100, waitMs: 0 })).length
}

const many = (more: Partial<TaskUnit> = {}) =>
  Array.from({ length: 9 }, (_, index) => task(`u${index}`, [], { phase: `p${index % 2}`, ...more }))
const demanding = (demand: { cpu?: number; memoryBytes?: number; gpu?: number }) =>
  many({ planning: { demand } })

test.each([
  ['tasksAtOnce: 3', many(), 3],
  ['tasksPerPhase: 2', many(), 4],
  ['cpuCores: 5', demanding({ cpu: 2 }), 2],
  ['memory: 1Gi', demanding({ memoryBytes: 300 * 1024 ** 2 }), 3],
  ['gpus: 1', demanding({ gpu: 1 }), 1],
])(
  'X-37 a configuration file with "%s" changes how many units run at once',
  async (line, units, expected) => {
    expect(await runAtOnce('log: { level: info }', units)).toBe(9)
    expect(await runAtOnce(`engine: { ${line} }`, units)).toBe(expected)
  },
)

test('X-37 X-44 without a file the defaults are those of the engine; strategy and balancing can be chosen', async () => {
  const { engine } = await load('log: { level: info }')
  expect({ ...ENGINE_SCHEDULING, ...engine.scheduling }).toEqual(ENGINE_SCHEDULING)
  expect((await load('engine: { strategy: fair, balancing: weighted }')).engine.scheduling).toMatchObject({
    strategy: 'fair',
    balancing: 'weighted',
  })
  await expect(load('engine: { strategy: fastest }')).rejects.toThrow('1 problem')
})
