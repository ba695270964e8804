import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../base/logger.ts'
import { MAINTENANCE_STILL_MS } from '../core/limits.ts'
import type { Store } from '../core/ports.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { WEBHOOK_STILL_MS } from '../webhooks/limits.ts'
import { openHost } from './host.ts'

/** A host over a store that does not come back from reading certain keys while it is told so. */
function openWorld() {
  const clock = new ManualClock()
  const plain = openMemoryStore({ clock })
  const hanging = { prefix: undefined as string | undefined, ended: [] as (() => void)[] }
  const store: Store = {
    ...plain,
    range: async (request) => {
      if (hanging.prefix !== undefined && request.prefix.startsWith(hanging.prefix))
        await new Promise<void>((resolve) => hanging.ended.push(resolve))
      return plain.range(request)
    },
  }
  const host = openHost({ store, logger: silentLogger, clock })
  const hang = (prefix: string | undefined): void => {
    hanging.prefix = prefix
    for (const end of hanging.ended.splice(0)) end()
  }
  onTestFinished(async () => {
    hang(undefined)
    await clock.run(host.close())
    await plain.close()
  })
  const pass = async (durationMs: number): Promise<void> => {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= 1_000) await clock.advance(1_000)
  }
  return { host, hang, pass }
}

test('DO-114 health names the work that stands still, for how long, and no more when it goes on', async () => {
  const { host, hang, pass } = openWorld()
  host.startWork()
  await pass(MAINTENANCE_STILL_MS + 60_000)
  expect(await host.examine()).toEqual([])
  hang('outbox:')
  await host.executions.open({ tenant: undefined, execution: 'none' }).catch(() => undefined)
  await host.store.commit({ operations: [{ do: 'put', key: 'outbox:exec_1:1', value: new Uint8Array() }] })
  await pass(WEBHOOK_STILL_MS - 10_000)
  expect(await host.examine()).toEqual([])
  await pass(20_000)
  expect(await host.examine()).toEqual([
    expect.stringMatching(/^the delivery of webhooks has stood still for \d\d s$/),
  ])
  await host.store.commit({ operations: [{ do: 'delete', key: 'outbox:exec_1:1' }] })
  hang(undefined)
  await pass(10_000)
  expect(await host.examine()).toEqual([])
  hang('ended:')
  await pass(MAINTENANCE_STILL_MS + 60_000)
  expect(await host.examine()).toEqual([
    expect.stringMatching(/^the sweeping of ended executions has stood still for \d+ s$/),
  ])
})
