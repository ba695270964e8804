// Goal: executions that have ended and are archived cost the memory store nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { externalEvent } from '../../../test/support/core-world.ts'
import { openSqliteArchive } from '../../stores/archive/sqlite-archive.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openCore } from './core.ts'
import { openMaintenance } from './maintenance.ts'

const MIB = 1024 * 1024

/** Bytes in use once everything unreachable is collected. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** The least of some turns: what the last turn of the event loop still refers to is collected in one of the next. */
async function settledBytes(): Promise<number> {
  let least = usedBytes()
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    least = Math.min(least, usedBytes())
  }
  return least
}

test('E-68 the memory that ended executions took is free again once they are archived', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'perago-freed-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const [store, archive] = [openMemoryStore(), openSqliteArchive({ file: join(directory, 'archive.db') })]
  onTestFinished(async () => {
    await store.close()
    await archive.close()
  })
  const core = openCore({ store, archive })
  const run = async (count: number): Promise<void> => {
    const execution = await core.startExecution({ name: 'etl' })
    for (let n = 0; n < count; n += 1) {
      await execution.events.publish(externalEvent('external.n', { n, text: 'x'.repeat(60_000) }))
    }
    await execution.finish({ status: 'completed' })
  }
  const { archiveOnce } = openMaintenance({ store, archive })
  await run(1)
  await archiveOnce()
  const before = await settledBytes()
  for (let execution = 0; execution < 8; execution += 1) await run(100)
  const held = usedBytes()
  expect(held - before).toBeGreaterThan(40 * MIB)
  expect(await archiveOnce()).toMatchObject({ done: 8 })
  await expect.poll(() => usedBytes() - before, { timeout: 20_000 }).toBeLessThan(8 * MIB)
}, 90_000)
