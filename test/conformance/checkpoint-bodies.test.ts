import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { executionId } from '../../src/core/keys.ts'
import { openDirectoryBodies } from '../../src/engine/checkpoints/directory-bodies.ts'
import { openStoreBodies } from '../../src/engine/checkpoints/store-bodies.ts'
import { openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { openLossyStore } from '../support/lossy-store.ts'
import { STORE_KINDS } from '../support/stores.ts'
import { checkpointBodiesConformance, noise } from './checkpoint-bodies.ts'

const scope = { execution: executionId('exec_1') }
const checkpointId = 'cp-1-mjv0q8w0-aaaaaaaa'

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'perago-checkpoints-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

checkpointBodiesConformance('directory', () => {
  const directory = join(newDirectory(), 'made', 'later')
  return Promise.resolve({
    bodies: openDirectoryBodies(directory),
    reopen: () => Promise.resolve(openDirectoryBodies(directory)),
  })
})

for (const { kind, open } of STORE_KINDS) {
  checkpointBodiesConformance(kind, async (context) => {
    const { store, openAnother } = await open(context)
    return { bodies: openStoreBodies(store), reopen: async () => openStoreBodies(await openAnother()) }
  })
}

test('X-49 a write to a directory that was interrupted leaves nothing that is read, and is collected', async () => {
  const directory = newDirectory()
  const bodies = openDirectoryBodies(directory)
  await bodies.write({ scope, checkpointId: 'cp-2-mjv0q8w0-bbbbbbbb' }, noise(10))
  const folder = join(directory, 'executions', 'exec_1')
  // As a killed process leaves it.
  writeFileSync(join(folder, `${checkpointId}.json.gz.0a1b2c.tmp`), 'half of')
  expect(await bodies.read({ scope, checkpointId })).toBeUndefined()
  expect(await bodies.list(scope)).toContain(checkpointId)
  await bodies.remove({ scope, checkpointId })
  expect(readdirSync(folder)).toEqual(['cp-2-mjv0q8w0-bbbbbbbb.json.gz'])
})

test('X-85 a store that loses requests and responses holds every part in the end', async () => {
  const faults = ['lose-request', 'lose-answer', 'refuse', 'none', 'lose-answer', 'lose-request'] as const
  const store = openMemoryStore()
  const clock = { now: () => new Date(), monotonicMs: () => 0, sleep: () => Promise.resolve() }
  const pace = { clock, random: { next: () => 0.5 } }
  const bodies = openStoreBodies(openLossyStore(store, faults[Symbol.iterator]()), pace)
  const bytes = noise(4_000_000)
  await bodies.write({ scope, checkpointId }, bytes)
  expect(Buffer.from((await openStoreBodies(store).read({ scope, checkpointId }))!).equals(bytes)).toBe(true)
})
