import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { openHost } from '../host.ts'
import { openStores } from './open-store.ts'
import { openStoreReporter } from './store-report.ts'

const DAY_MS = 86_400_000

test('DO-156 a store and an archive in files are told with their kinds and sizes, also where they are encrypted', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'perago-report-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const seal of [undefined, { encryption: { keys: { one: Buffer.alloc(32, 1) }, use: 'one' } }]) {
    const [file, events] = [
      `store-${String(seal !== undefined)}.db`,
      `events-${String(seal !== undefined)}.db`,
    ]
    const stores = await openStores({ store: file, archive: events, seal }, { directory, environment: {} })
    const { report } = openStoreReporter(stores)
    await stores.store.commit({ operations: [{ do: 'put', key: 'a', value: Buffer.alloc(100_000, 7) }] })
    const { store, archive } = await report()
    const sizeOf = (name: string): number => statSync(join(directory, name)).size
    expect(store).toEqual({ kind: 'sqlite', bytes: sizeOf(file) + sizeOf(`${file}-wal`) })
    expect(store.bytes).toBeGreaterThan(4_096)
    expect(archive?.kind).toBe('sqlite archive')
    expect(archive?.bytes).toBeGreaterThanOrEqual(sizeOf(events))
    await stores.close()
  }
})

test('DO-156 a store that does not know its size, or does not say it in time, is told without one', async () => {
  const memory = openMemoryStore()
  expect(await openStoreReporter({ store: memory }).report()).toEqual({ store: { kind: 'memory' } })
  const ill = [() => new Promise<number>(() => undefined), () => Promise.reject(new Error('no'))]
  for (const sizeBytes of ill) {
    const parts = { store: { name: 'a', sizeBytes }, archive: { name: 'b', sizeBytes }, timeoutMs: 10 }
    expect(await openStoreReporter(parts).report()).toEqual({ store: { kind: 'a' }, archive: { kind: 'b' } })
  }
})

test('DO-157 the last sweep of the host is told with what it removed, and archiving only where there is an archive', async () => {
  const clock = new ManualClock()
  const store = openMemoryStore({ clock })
  const core = openCore({ store, clock })
  const running = await core.startExecution({ id: 'exec_1', name: 'etl', inputs: { day: '1' } })
  await running.finish({ status: 'completed' })
  const host = openHost({ store, logger: silentLogger, clock, retention: { variablesMs: DAY_MS } })
  onTestFinished(() => clock.run(host.close()))
  expect(await host.describeStore()).toEqual({ store: { kind: 'memory' } })
  await clock.advance(2 * DAY_MS)
  const at = clock.now()
  host.startWork()
  await expect
    .poll(() => host.describeStore())
    .toEqual({
      store: { kind: 'memory' },
      swept: { at, done: 1, failed: 0 },
    })
})
