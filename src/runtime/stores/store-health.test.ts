import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { StillClock } from '../../../test/support/core-world.ts'
import { emptyDisk, fillDisk, mountSmallDisk } from '../../../test/support/small-disk.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openSqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { HEALTH_WRITE_INTERVAL_MS } from '../limits.ts'
import { openExamination } from './store-health.ts'

test('DO-110 a store that answers and cannot be written is told, until it can be written again', async (context) => {
  const at = await mountSmallDisk('tmpfs', context)
  const store = openSqliteStore({ file: join(at, 'store.db') })
  onTestFinished(() => store.close())
  const clock = new StillClock()
  const examine = openExamination(store, clock)
  expect(await examine()).toEqual([])
  fillDisk(at, 'bytes')
  // What the log still has room for may be written.
  await vi.waitFor(async () => {
    clock.move(HEALTH_WRITE_INTERVAL_MS)
    expect(await examine()).toEqual([
      expect.stringMatching(/^the store \(sqlite\) cannot be written: stores\//),
    ])
  })
  emptyDisk(at)
  clock.move(HEALTH_WRITE_INTERVAL_MS)
  expect(await examine()).toEqual([])
})

test('DO-111 many probes cost one write for each interval, and leave nothing that a copy would have', async () => {
  const clock = new StillClock()
  const store = openMemoryStore({ clock })
  const commit = vi.spyOn(store, 'commit')
  const examine = openExamination(store, clock)
  for (let probe = 0; probe < 50; probe += 1) await Promise.all([examine(), examine()])
  expect(commit).toHaveBeenCalledTimes(1)
  clock.move(HEALTH_WRITE_INTERVAL_MS)
  expect(await examine()).toEqual([])
  expect(commit).toHaveBeenCalledTimes(2)
  expect((await store.range({ prefix: '' })).entries.map(({ expires }) => expires)).toEqual([true])
})

test('DO-71 checks at the same time are one look, and a store that hangs holds none of them for long', async () => {
  const get = vi.fn(() => new Promise<never>(() => undefined))
  const examine = openExamination({ ...openMemoryStore(), get })
  const told = ['the store (memory) does not answer']
  expect(await Promise.all([examine(), examine(), examine()])).toEqual([told, told, told])
  expect(get).toHaveBeenCalledTimes(1)
})

test('DO-111 a store that never ends a write is told within the time for it', async () => {
  const store = { ...openMemoryStore(), commit: () => new Promise<never>(() => undefined) }
  expect(await openExamination(store)()).toEqual(['the store (memory) cannot be written'])
}, 20_000)
