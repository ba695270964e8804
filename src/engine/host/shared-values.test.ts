// Goal: a large value that many units have is packed, stored and kept in memory once.
import { expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openEngine } from './open-engine.ts'

const UNITS = 40
const list = Array.from({ length: 20_000 }, (_, id) => ({ id, text: `row ${id}` }))

async function runOver(input: JsonObject, inputParameters: JsonObject) {
  const store = openMemoryStore()
  const engine = await openEngine({ store })
  const units = Array.from({ length: UNITS }, (_, index) =>
    task(`u${index}`, [], { inputParameters: { table: `t${index}`, ...inputParameters } }),
  )
  const id = await engine.control.startGraph(graphOf(units), { input })
  await engine.close()
  const { entries } = await store.range({ prefix: '', limit: 1_000 })
  const blobBytes = entries
    .filter(({ key }) => key.includes(id) && key.includes(':blob:'))
    .reduce((sum, { value }) => sum + value.byteLength, 0)
  const second = await openEngine({ store })
  onTestFinished(() => second.close())
  const execution = await second.control.readExecution(id)
  return { blobBytes, inputs: (execution?.rows ?? []).map(({ record }) => record.input), execution }
}

test.each<[string, Json]>([
  ['list', list],
  ['text', 'long text '.repeat(50_000)],
])('EN-155 a large %s that many units get is stored once, and read back as it was', async (_, data) => {
  const one = await runOver({ data }, {})
  const all = await runOver({ data }, { data: '${workflow.input.data}', last: 1 })
  expect(all.blobBytes).toBe(one.blobBytes)
  expect(all.inputs).toHaveLength(UNITS)
  expect(all.inputs[7]).toEqual({ table: 't7', data, last: 1 })
  expect(Object.keys(all.inputs[7] ?? {})).toEqual(['table', 'data', 'last'])
  expect(all.inputs[8]?.['data']).toBe(all.execution?.input['data'])
})

test('EN-155 inputs with many large values, or with many small ones, are read back as they were', async () => {
  const large = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`large/${index}`, 'x'.repeat(9_000 + index)]),
  )
  const small = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`small ${index}`, index]))
  const { inputs } = await runOver(
    { large, small, list },
    { large: '${workflow.input.large}', small: '${workflow.input.small}', 'a/b': '${workflow.input.list}' },
  )
  expect(inputs[3]).toEqual({ table: 't3', large, small, 'a/b': list })
})
