// Goal: of two instances that change the record of one execution at once, neither undoes what the other wrote.
import { expect, test } from 'vitest'
import { externalEvent, StillClock } from '../../../test/support/core-world.ts'
import { UncertainError } from '../../base/errors.ts'
import { seededRandom } from '../../base/random.ts'
import { createMemorySpace, openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openCore } from '../life-cycle/core.ts'
import type { Store } from '../ports.ts'
import type { ExecutionRecord } from './execution-record.ts'
import { markRecord } from './mark-record.ts'
import { Scopes } from './scopes.ts'

const PACE = { clock: new StillClock(), random: seededRandom(1) }

/** Another instance acts just before the first write arrives; with `lost` that write never does, and nobody can know. */
function overtaken(store: Store, act: () => Promise<unknown>, how: 'arrives' | 'is lost'): Store {
  let isFirst = true
  return {
    ...store,
    peek: undefined,
    commit: async (batch, options) => {
      if (!isFirst) return store.commit(batch, options)
      isFirst = false
      await act()
      if (how === 'arrives') return store.commit(batch, options)
      throw new UncertainError('test/lost', 'commit: the request was lost', { read: 'the store' })
    },
  }
}

test.each(['arrives', 'is lost'] as const)(
  'E-115 a change of a record that %s behind another one is made again on top of it',
  async (how) => {
    const space = createMemorySpace()
    const store = openMemoryStore({ space })
    const { id } = await openCore({ store }).startExecution({ name: 'etl' })
    const other = new Scopes(openMemoryStore({ space })).of(id)
    const act = (): Promise<unknown> =>
      markRecord(other, PACE, (record) => ({ ...record, checkpoints: 'gone' }))
    const late = new Scopes(overtaken(store, act, how)).of(id)
    await markRecord(late, PACE, (record) => ({ ...record, clearedUpTo: 7 }))
    expect((await new Scopes(store).of(id).live.read()).record).toMatchObject({
      checkpoints: 'gone',
      clearedUpTo: 7,
    })
  },
)

test('DO-183 a change of a record that was read long ago is decided by the record as it is now', async () => {
  const space = createMemorySpace()
  const store = openMemoryStore({ space })
  const { id } = await openCore({ store }).startExecution({ name: 'etl' })
  const late = new Scopes(store).of(id)
  await late.live.read()
  const other = new Scopes(openMemoryStore({ space })).of(id)
  await markRecord(other, PACE, (record) => ({ ...record, clearedUpTo: 1 }))
  // By what was read there is nothing to do.
  const ifCleared = (record: ExecutionRecord): ExecutionRecord =>
    record.clearedUpTo === 0 ? record : { ...record, variables: 'gone' }
  expect(await markRecord(late, PACE, ifCleared)).toMatchObject({ clearedUpTo: 1, variables: 'gone' })
  await markRecord(other, PACE, (record) => ({ ...record, clearedUpTo: 2 }))
  // By what was read there is.
  await markRecord(late, PACE, (record) =>
    record.clearedUpTo === 1 ? { ...record, clearedUpTo: 9 } : record,
  )
  expect((await new Scopes(store).of(id).live.read()).record).toMatchObject({ clearedUpTo: 2 })
})

test('N-64 a start whose answer was lost does not take over the execution that another started under the id', async () => {
  const space = createMemorySpace()
  const other = openCore({ store: openMemoryStore({ space }) })
  const act = async (): Promise<void> => {
    const execution = await other.startExecution({ name: 'theirs', id: 'exec_1', inputs: { day: 1 } })
    await execution.events.publish(externalEvent('external.a'))
  }
  const store = overtaken(openMemoryStore({ space }), act, 'is lost')
  const starting = openCore({ store, clock: PACE.clock }).startExecution({ name: 'mine', id: 'exec_1' })
  await expect(starting).rejects.toMatchObject({ code: 'core/execution-exists' })
  expect((await other.openExecution('exec_1')).name).toBe('theirs')
})
