import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { LAKE, md5, openLake, temporaryDir } from '../../../../test/support/embedded-engine.ts'

const body = (content: string) => Readable.from([Buffer.from(content)])

test('EE-56 an address that was handed out can be stored to, linked and read; the last one to store wins', async () => {
  const lake = await openLake()
  const { engine } = lake
  const address = engine.reserveAddress(LAKE)
  expect(address).toMatch(/^local:\/\/lake\/data\//)
  expect(engine.reserveAddress(LAKE)).not.toBe(address)
  expect(engine.blobSize(LAKE, address)).toBeUndefined()
  await engine.storeBlobAt(LAKE, address, body('first'))
  expect(await engine.storeBlobAt(LAKE, address, body('second'))).toEqual({
    physicalAddress: address,
    md5: md5('second'),
    sizeBytes: 6,
  })
  await lake.put('main', 'linked', 'x', { physicalAddress: address })
  expect(await lake.read('main', 'linked')).toBe('second')
  expect(engine.blobSize(LAKE, address)).toBe(6)
})

test.each([
  'local://lake/data/../../etc/passwd',
  'local://lake/data/staged/short',
  'local://other/data/staged/00000000000000000000000000000000',
  '/etc/passwd',
  '',
])('EE-56 nothing is stored at "%s", which was not handed out', async (address) => {
  const { engine } = await openLake()
  await expect(engine.storeBlobAt(LAKE, address, body('x'))).rejects.toMatchObject({ reason: 'bad-argument' })
})

test('EE-57 an address is looked up and never becomes a path', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  for (const address of [
    'local://lake/data/../metadata.sqlite',
    '../metadata.sqlite',
    'local://lake/metadata.sqlite',
    'local://lake/data/',
    `local://elsewhere/data/${'0'.repeat(64)}`,
  ]) {
    expect(lake.engine.blobSize(LAKE, address)).toBeUndefined()
    await expect(lake.engine.openBlob(LAKE, address)).rejects.toMatchObject({ reason: 'data-missing' })
    await expect(lake.engine.readBlob(LAKE, address, 100)).rejects.toMatchObject({ reason: 'data-missing' })
  }
  await lake.put('main', '../../escape', 'x')
  await lake.commit('main', 'x')
  const ours = /^(?:(?:lock|metadata)\.sqlite(?:-\w+)?|objects|temp|incoming|perago-lakefs\.json)$/
  for (const name of readdirSync(dataDir)) expect(name).toMatch(ours)
  expect(existsSync(join(dataDir, '..', '..', 'escape'))).toBe(false)
  for (const name of readdirSync(join(dataDir, 'objects'))) expect(name).toMatch(/^[0-9a-f]{64}$/)
})

test('EE-57 a read is bounded, and bytes that are gone are told as such', async () => {
  const lake = await openLake()
  const { physicalAddress } = await lake.put('main', 'a', '0123456789')
  await expect(lake.engine.readBlob(LAKE, physicalAddress, 9)).rejects.toMatchObject({
    reason: 'bad-argument',
  })
  const gone = `local://lake/data/${'0'.repeat(64)}`
  await expect(lake.engine.readBlob(LAKE, gone, 9)).rejects.toMatchObject({ reason: 'data-missing' })
})
