// Goal: a process writes a variable that it has written last without reading it, and overwrites nothing unseen by that.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openWorld, start } from '../../../test/support/core-world.ts'
import { openLossyStore, STORE_FAULTS, type StoreFault } from '../../../test/support/lossy-store.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import { openCore } from '../life-cycle/core.ts'
import type { Store } from '../ports.ts'

describe.each(STORE_KINDS)('known revisions on $kind', ({ open }) => {
  test('DO-190 a variable that this process has written last is set in one round trip', async (context) => {
    const { store, clock } = await openWorld({ open }, context)
    const counted = countCalls(store)
    const execution = await openCore({ store: counted.store, clock }).startExecution({ name: 'etl' })
    await execution.variables.set('shared.n', 0)
    counted.reset()
    for (let n = 1; n <= 5; n += 1) await execution.variables.set('shared.n', n)
    expect(counted.calls()).toEqual({ get: 0, commit: 5 })
    expect(await execution.variables.get('shared.n')).toBe(5)
    await execution.variables.remove('shared.n')
    await execution.variables.set('shared.n', 6)
    expect(await execution.variables.get('shared.n')).toBe(6)
  })

  test('DO-191 a set meets what others have written since, and no write is missing from the history', async (context) => {
    const { core, clock, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const other = await (await openOther()).openExecution(execution.id)
    const written: number[] = []
    for (let n = 0; n < 12; n += 1) {
      clock.move(1)
      const writer = n % 5 < 2 || n % 3 === 0 ? execution : other
      if (n === 7) await writer.variables.remove('shared.n')
      else await writer.variables.set('shared.n', n)
      if (n !== 7) written.unshift(n)
      expect(await other.variables.get('shared.n')).toBe(n === 7 ? undefined : n)
    }
    const { writes } = await execution.variables.history('shared.n')
    expect(writes.filter(({ kind }) => kind === 'set').map(({ value }) => value)).toEqual(written)
  })

  test('DO-192 a variable that others write as well is read first: no conflict with every write', async (context) => {
    const { store, clock } = await openWorld({ open }, context)
    const counted = countCalls(store)
    const execution = await openCore({ store: counted.store, clock }).startExecution({ name: 'etl' })
    const other = await openCore({ store, clock }).openExecution(execution.id)
    for (let n = 0; n < 3; n += 1) {
      await execution.variables.set('shared.n', 2 * n)
      await other.variables.set('shared.n', 2 * n + 1)
    }
    counted.reset()
    for (let n = 3; n < 8; n += 1) {
      await execution.variables.set('shared.n', 2 * n)
      await other.variables.set('shared.n', 2 * n + 1)
    }
    expect(counted.calls().commit).toBe(5)
  })

  test('DO-193 a remembered revision lets nothing be written to an execution that has ended', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    await execution.variables.set('shared.n', 1)
    await (await (await openOther()).openExecution(execution.id)).finish({ status: 'completed' })
    await expect(execution.variables.set('shared.n', 2)).rejects.toMatchObject({ code: 'core/not-active' })
    expect(await execution.variables.get('shared.n')).toBe(1)
  })
})

test('DO-191 sets whose answers are lost are in the history as often as they have happened', async () => {
  const [kind] = STORE_KINDS
  const faults = fc.array(fc.constantFrom<StoreFault>(...STORE_FAULTS), { maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(faults, fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }), async (plan, steps) => {
      const { store, clock, core } = await openWorld(kind!, undefined as never)
      const { id } = await core.startExecution({ name: 'etl' })
      const plain = await core.openExecution(id)
      const lossy = await openCore({
        store: openLossyStore(store, plan[Symbol.iterator]()),
        clock,
      }).openExecution(id)
      const [sure, open] = [new Set<number>(), new Set<number>()]
      for (const [n, isPlain] of steps.entries()) {
        clock.move(1)
        // The same value now and then: that it is there does not tell whose it is.
        const writer = isPlain ? plain : lossy
        const outcome = await writer.variables.set('a.n', n % 2).then(
          () => 'done',
          (error: unknown) => (error as { readonly kind: string }).kind,
        )
        if (outcome === 'done') sure.add(n)
        else if (outcome === 'uncertain') open.add(n)
        if (outcome === 'done') expect(await plain.variables.get('a.n')).toBe(n % 2)
      }
      const { writes } = await plain.variables.history('a.n')
      expect(writes.length).toBeGreaterThanOrEqual(sure.size)
      expect(writes.length).toBeLessThanOrEqual(sure.size + open.size)
    }),
    { numRuns: 80 },
  )
})

function countCalls(store: Store) {
  let [get, commit] = [0, 0]
  const counted: Store = {
    ...store,
    get: (...given) => ((get += 1), store.get(...given)),
    commit: (...given) => ((commit += 1), store.commit(...given)),
  }
  return {
    store: { ...counted, peek: undefined },
    reset: () => ([get, commit] = [0, 0]),
    calls: () => ({ get, commit }),
  }
}
