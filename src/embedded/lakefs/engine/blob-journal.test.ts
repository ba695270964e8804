import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLake, reopenLake, temporaryDir } from '../../../../test/support/embedded-engine.ts'
import { BlobJournal, readJournals } from './blob-journal.ts'
import { checkDataDir } from './fsck.ts'
import { collectGarbage } from './garbage.ts'

const record = (content: string) => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  bytes: Buffer.from(content),
})
const contents = (directory: string) => [...readJournals(directory)].map(({ bytes }) => bytes.toString())

async function journalOf(...groups: readonly (readonly string[])[]) {
  const directory = temporaryDir()
  const file = join(directory, 'a')
  const journal = new BlobJournal(file)
  const ends: number[] = []
  for (const group of groups) {
    await journal.append(group.map(record))
    ends.push(journal.sizeBytes)
  }
  return { directory, file, journal, ends }
}

/** Copies of a data directory at which a power cut leaves what was synced: of small objects that is the journal alone. */
function afterPowerCut(dataDir: string): string {
  const copy = temporaryDir()
  cpSync(dataDir, copy, { recursive: true })
  for (const name of ['objects', 'temp']) {
    rmSync(join(copy, name), { recursive: true })
    mkdirSync(join(copy, name))
  }
  return copy
}

test('ES-303 a journal cut off anywhere behind a sync still has all that was synced, and never a part of a content', async () => {
  const { directory, file, ends } = await journalOf(['one', 'two'], ['', 'three '.repeat(1_000)])
  const whole = readFileSync(file)
  for (const cut of [ends[0] ?? 0, (ends[0] ?? 0) + 5, (ends[1] ?? 0) - 100]) {
    writeFileSync(file, whole.subarray(0, cut))
    expect(contents(directory).slice(0, 2)).toEqual(['one', 'two'])
    expect(contents(directory).slice(2)).not.toContainEqual(expect.stringMatching(/^three/))
  }
  writeFileSync(file, whole)
  expect(contents(directory)).toEqual(['one', 'two', '', 'three '.repeat(1_000)])
})

test('ES-303 whichever byte of a journal is damaged, no other content is lost', async () => {
  const all = ['first', 'second', 'third']
  const { directory, file, ends } = await journalOf(all)
  const whole = readFileSync(file)
  for (let at = 0; at < (ends[0] ?? 0); at += 1) {
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 0xff
    writeFileSync(file, damaged)
    const found = contents(directory)
    expect(found.length).toBeGreaterThanOrEqual(2)
    for (const content of found) expect(all).toContain(content)
  }
})

test('ES-303 a journal that is emptied holds nothing, and is used again', async () => {
  const { directory, journal } = await journalOf(['gone'])
  journal.empty()
  expect(contents(directory)).toEqual([])
  await journal.append([record('new')])
  expect(contents(directory)).toEqual(['new'])
  await journal.close({ keep: true })
  expect(contents(directory)).toEqual(['new'])
})

test('ES-304 after a power cut at any moment every upload that was answered is there, and all that is listed is whole', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  const answered: string[] = []
  const images: { dir: string; answered: string[] }[] = []
  const run = { isOn: true }
  const uploads = Promise.all(
    Array.from({ length: 16 }, async (_, lane) => {
      for (let round = 0; round < 6; round += 1) {
        const path = `${lane}-${round}`
        await lake.put('main', path, `${path} `.repeat(200 * lane))
        answered.push(path)
      }
    }),
  ).finally(() => (run.isOn = false))
  while (run.isOn) {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    // Nothing is filed within the time that the uploads take: all objects are in the journal alone.
    if (readdirSync(join(dataDir, 'objects')).length === 0)
      images.push({ dir: afterPowerCut(dataDir), answered: [...answered] })
  }
  await uploads
  expect(images.some((image) => image.answered.length > 16)).toBe(true)
  for (const image of images.filter((_, index) => index % Math.ceil(images.length / 12) === 0)) {
    const after = await reopenLake({ dataDir: image.dir })
    const paths = after.paths('main')
    expect(paths).toEqual(expect.arrayContaining(image.answered))
    for (const path of paths) {
      const lane = Number(path.split('-')[0])
      expect(await after.read('main', path)).toBe(`${path} `.repeat(200 * lane))
    }
    await after.engine.close()
    expect((await checkDataDir(image.dir)).damages).toEqual([])
  }
}, 60_000)

test('ES-304 whenever a crash comes while small objects get files of their own, all are there', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  const paths = Array.from({ length: 100 }, (_, index) => `p${String(index).padStart(3, '0')}`)
  await Promise.all(paths.map((path) => lake.put('main', path)))
  const images: string[] = []
  const run = { isOn: true }
  const closed = lake.engine.close().finally(() => (run.isOn = false))
  while (run.isOn) {
    for (let turn = 0; turn < 40; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    const copy = temporaryDir()
    cpSync(dataDir, copy, { recursive: true })
    images.push(copy)
  }
  await closed
  const filed = images.map((image) => readdirSync(join(image, 'objects')).length)
  expect(filed.some((count) => count > 0 && count < paths.length)).toBe(true)
  for (const image of images.filter((_, index) => index % Math.ceil(images.length / 10) === 0)) {
    const after = await reopenLake({ dataDir: image })
    expect(after.paths('main')).toEqual(paths)
    for (const path of paths) expect(await after.read('main', path)).toBe(path)
    await after.engine.close()
  }
}, 60_000)

test('ES-305 a check and a garbage collection know what is in a journal that a killed server left', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  await lake.put('main', 'kept', 'kept')
  await lake.engine.storeBlob('lake', Buffer.from('named by nothing'))
  expect(await checkDataDir(dataDir)).toMatchObject({ isServed: true, objects: 2, damages: [] })
  const killed = afterPowerCut(dataDir)
  expect(await checkDataDir(killed)).toMatchObject({ isServed: false, objects: 2, damages: [] })
  expect(await collectGarbage(killed)).toMatchObject({ objectsRemoved: 1, objectsKept: 1 })
  const after = await reopenLake({ dataDir: killed })
  expect(await after.read('main', 'kept')).toBe('kept')
  await after.engine.close()

  const lost = afterPowerCut(dataDir)
  for (const name of readdirSync(join(lost, 'incoming'))) truncateSync(join(lost, 'incoming', name))
  expect((await checkDataDir(lost)).damages).toMatchObject([{ kind: 'object', path: 'kept' }])
})
