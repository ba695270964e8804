import { expect, onTestFinished, test } from 'vitest'
import { MemorySharedSpace } from '../../src/engine/plans/memory-shared-space.ts'
import { openVariableSharedSpace, VariableSharedSpace } from '../../src/engine/plans/variable-shared-space.ts'
import type { Execution } from '../../src/core/life-cycle/execution.ts'
import { openCore } from '../../src/core/life-cycle/core.ts'
import { openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { sharedSpaceConformance } from './shared-space.ts'

sharedSpaceConformance('memory', () => Promise.resolve(new MemorySharedSpace()))
sharedSpaceConformance('variables of an execution', async () =>
  openVariableSharedSpace((await openExecution()).variables),
)

async function openExecution(): Promise<Execution> {
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  return openCore({ store }).startExecution({ name: 'plan' })
}

test('P-68 P-78 a space of variables is there again after its process, a space in memory is not', async () => {
  const { variables } = await openExecution()
  const first = await openVariableSharedSpace(variables)
  first.Set('rows', { count: 3 })
  first.Set('gone', 1)
  first.Delete('gone')
  await first.flush()
  expect(await variables.list('shared')).toEqual({ 'shared.rows': { count: 3 } })
  const second = await openVariableSharedSpace(variables)
  expect(second).toBeInstanceOf(VariableSharedSpace)
  expect(second.Get('rows')).toEqual({ count: 3 })
  expect(new MemorySharedSpace().Keys()).toEqual([])
})

test('P-68 a write that fails shows in flush, and later ones are not written', async () => {
  const written: string[] = []
  const space = await openVariableSharedSpace({
    list: () => Promise.resolve({}),
    remove: () => Promise.resolve(true),
    set: (name) => {
      if (name === 'shared.bad') return Promise.reject(new Error('the store is away'))
      written.push(name)
      return Promise.resolve()
    },
  })
  for (const key of ['good', 'bad', 'later']) space.Set(key, 1)
  await expect(space.flush()).rejects.toThrow('the store is away')
  expect(written).toEqual(['shared.good'])
})

test('P-67 a space of variables refuses what JSON cannot hold, and stores nothing of it', async () => {
  const space = await openVariableSharedSpace((await openExecution()).variables)
  expect(() => space.Set('k', () => 1)).toThrow(expect.objectContaining({ code: 'core/not-json' }))
  expect(() => space.Set('two words', 1)).toThrow(expect.objectContaining({ code: 'core/bad-variable-name' }))
  expect(space.Keys()).toEqual([])
})
