import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import {
  LAKE,
  openLake,
  reopenLake,
  temporaryDir,
  tickingClock,
} from '../../../../test/support/embedded-engine.ts'
import { EMBEDDED_STAGING_ADDRESS_MS } from '../../limits.ts'
import { collectGarbage } from './garbage.ts'

const body = (content: string) => Readable.from([Buffer.from(content)])
const objectsOf = (dataDir: string) => readdirSync(join(dataDir, 'objects')).length

test('EE-65 nothing that a commit, abandoned or not, or a staged change leads to is removed', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  for (let index = 0; index < 100; index += 1) await lake.put('main', `f${index}`)
  const one = (await lake.commit('main', 'one')).id
  await lake.put('main', 'abandoned')
  const abandoned = (await lake.commit('main', 'abandoned')).id
  await lake.engine.hardReset({ repository: LAKE, branch: 'main', ref: one })
  await lake.put('main', 'staged')
  await lake.engine.close()

  const report = await collectGarbage(dataDir)
  expect(report).toMatchObject({ nodesRemoved: 0, objectsRemoved: 0, objectsKept: 102, dryRun: false })
  const after = await reopenLake({ dataDir })
  expect(await after.read(abandoned, 'abandoned')).toBe('abandoned')
  expect(await after.read('main', 'staged')).toBe('staged')
  for (let index = 0; index < 100; index += 1) expect(await after.read('main', `f${index}`)).toBe(`f${index}`)
})

test('EE-66 what nobody leads to is counted by a dry run and removed by a real one', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  await lake.put('main', 'kept')
  await lake.commit('main', 'kept')
  await lake.put('main', 'overwritten', 'first')
  await lake.put('main', 'overwritten', 'second')
  await lake.branch('dropped')
  await lake.put('dropped', 'dropped')
  await lake.engine.deleteBranch(LAKE, 'dropped')
  // An upload whose entry was never made.
  await lake.engine.storeBlob(LAKE, body('orphan'))
  await lake.engine.createRepository({
    name: 'gone',
    storageNamespace: 'local://gone',
    defaultBranch: 'main',
  })
  const { physicalAddress } = await lake.engine.storeBlob('gone', body('of a deleted repository'))
  await lake.engine.putEntry({
    repository: 'gone',
    branch: 'main',
    ifAbsent: false,
    entry: {
      path: 'a',
      physicalAddress,
      checksum: 'x',
      sizeBytes: 1,
      modifiedAt: 1,
      contentType: 'x',
      metadata: {},
    },
  })
  await lake.engine.commit({
    repository: 'gone',
    branch: 'main',
    committer: 'me',
    message: 'x',
    metadata: {},
    allowEmpty: false,
  })
  await lake.engine.deleteRepository('gone')
  await lake.engine.close()
  writeFileSync(join(dataDir, 'temp', 'left over'), 'x')
  writeFileSync(join(dataDir, 'objects', 'README'), 'not ours')

  const before = objectsOf(dataDir)
  const dry = await collectGarbage(dataDir, { dryRun: true })
  expect(dry).toMatchObject({ dryRun: true, objectsRemoved: 4, nodesRemoved: 1 })
  expect(objectsOf(dataDir)).toBe(before)
  const real = await collectGarbage(dataDir)
  expect(real).toEqual({ ...dry, dryRun: false })
  expect(objectsOf(dataDir)).toBe(before - 4)
  expect(readdirSync(join(dataDir, 'temp'))).toEqual([])
  expect(readdirSync(join(dataDir, 'objects'))).toContain('README')
  expect(await collectGarbage(dataDir)).toMatchObject({ objectsRemoved: 0, nodesRemoved: 0 })
  const after = await reopenLake({ dataDir })
  expect([await after.read('main', 'kept'), await after.read('main', 'overwritten')]).toEqual([
    'kept',
    'second',
  ])
})

test('EE-67 bytes at an address that was given out are kept until it is too late to link them', async () => {
  const dataDir = temporaryDir()
  const clock = tickingClock()
  const lake = await openLake({ dataDir, clock })
  const store = async (content: string) => {
    const address = lake.engine.reserveAddress(LAKE)
    await lake.engine.storeBlobAt(LAKE, address, body(content))
    return address
  }
  const linked = await store('linked')
  await lake.put('main', 'linked', 'x', { physicalAddress: linked })
  await lake.commit('main', 'linked')
  const waiting = await store('waiting')
  await lake.engine.close()
  expect(await collectGarbage(dataDir, { clock })).toMatchObject({ addressesRemoved: 0 })

  const late = { ...clock, now: () => new Date(clock.now().getTime() + EMBEDDED_STAGING_ADDRESS_MS + 60_000) }
  expect(await collectGarbage(dataDir, { clock: late })).toMatchObject({
    addressesRemoved: 1,
    objectsKept: 1,
  })
  const after = await reopenLake({ dataDir })
  expect(await after.read('main', 'linked')).toBe('linked')
  expect(after.engine.blobSize(LAKE, waiting)).toBeUndefined()
})

test('EE-68 garbage is not collected beside a server, nor where there is no data directory', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  await expect(collectGarbage(dataDir)).rejects.toMatchObject({ code: 'embedded/data-dir-in-use' })
  await lake.put('main', 'a')
  const none = join(temporaryDir(), 'none')
  await expect(collectGarbage(none)).rejects.toMatchObject({ code: 'embedded/no-data-dir', kind: 'missing' })
  expect(() => readdirSync(none)).toThrow()
})
