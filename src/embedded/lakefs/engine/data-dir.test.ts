import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { LAKE, openLake, reopenLake, temporaryDir } from '../../../../test/support/embedded-engine.ts'
import { emptyDisk, fillDisk, mountSmallDisk } from '../../../../test/support/small-disk.ts'
import { openMetadataDb } from './metadata-db.ts'
import { openEngine } from './open-engine.ts'

async function closedLake() {
  const dataDir = join(temporaryDir(), 'made', 'here')
  const lake = await openLake({ dataDir })
  for (let index = 0; index < 50; index += 1) await lake.put('main', `f${index}`)
  await lake.commit('main', 'one')
  await lake.put('main', 'un')
  await lake.engine.close()
  return dataDir
}

test('EE-58 what was written is there when the directory is opened again', async () => {
  const dataDir = await closedLake()
  const lake = await reopenLake({ dataDir })
  expect(lake.paths('main@')).toHaveLength(50)
  expect(lake.uncommitted('main')).toEqual(['added un'])
  expect(await lake.read('main', 'f7')).toBe('f7')
})

test('EE-58 closing twice is closing once, and nothing works afterwards', async () => {
  const lake = await openLake({ dataDir: temporaryDir() })
  const { engine } = lake
  expect(engine.close()).toBe(engine.close())
  await engine.close()
  await expect(lake.put('main', 'a')).rejects.toMatchObject({ code: 'embedded/closed' })
  expect(() => engine.getRepository(LAKE)).toThrow(expect.objectContaining({ code: 'embedded/closed' }))
})

test('EE-59 a second server on a directory is refused, until the first one is gone', async () => {
  const dataDir = temporaryDir()
  const first = await openLake({ dataDir })
  await expect(openEngine({ dataDir })).rejects.toMatchObject({
    code: 'embedded/data-dir-in-use',
    kind: 'refused',
  })
  await first.put('main', 'still works')
  await first.engine.close()
  expect((await reopenLake({ dataDir })).paths('main')).toEqual(['still works'])
})

test('EE-60 a directory with other files is refused and left as it is', async () => {
  const dataDir = temporaryDir()
  writeFileSync(join(dataDir, 'thesis.txt'), 'mine')
  await expect(openEngine({ dataDir })).rejects.toMatchObject({
    code: 'embedded/foreign-data-dir',
    kind: 'invalid',
  })
  expect(readdirSync(dataDir)).toEqual(['thesis.txt'])
})

test('EE-60 a directory that cannot be made is told as such', async () => {
  const file = join(temporaryDir(), 'file')
  writeFileSync(file, '')
  // Where there is a /proc, nobody makes anything in it, and Node's recursive mkdir would try for ever.
  const nowhere = existsSync('/proc/self') ? ['/proc/nope', '/proc/nope/below'] : []
  for (const dataDir of [file, join(file, 'below'), ...nowhere]) {
    await expect(openEngine({ dataDir })).rejects.toMatchObject({
      code: 'embedded/unwritable-data-dir',
      kind: 'invalid',
    })
  }
})

test('EE-61 a start that was cut short before the directory was marked is made again', async () => {
  const dataDir = temporaryDir()
  for (const name of ['objects', 'temp']) mkdirSync(join(dataDir, name))
  for (const name of ['lock.sqlite', 'metadata.sqlite', 'perago-lakefs.json.new'])
    writeFileSync(join(dataDir, name), '')
  const lake = await openLake({ dataDir })
  expect(lake.paths('main')).toEqual([])
})

test('EE-61 a mark that got lost is written again, and nothing else changes', async () => {
  const dataDir = await closedLake()
  rmSync(join(dataDir, 'perago-lakefs.json'))
  expect((await reopenLake({ dataDir })).paths('main')).toHaveLength(51)
  expect(existsSync(join(dataDir, 'perago-lakefs.json'))).toBe(true)
})

const DAMAGES: readonly [string, string, (dataDir: string) => void][] = [
  [
    'metadata that is no database',
    'metadata.sqlite',
    (dir) => writeFileSync(join(dir, 'metadata.sqlite'), Buffer.alloc(8192, 7)),
  ],
  ['metadata that is empty', 'metadata.sqlite', (dir) => truncateSync(join(dir, 'metadata.sqlite'))],
  [
    'metadata that is cut off',
    'metadata.sqlite',
    (dir) => truncateSync(join(dir, 'metadata.sqlite'), 3 * 4096),
  ],
  [
    'metadata whose end is cut off',
    'metadata.sqlite',
    (dir) => truncateSync(join(dir, 'metadata.sqlite'), statSync(join(dir, 'metadata.sqlite')).size - 4096),
  ],
  ['metadata that is gone', 'metadata.sqlite', (dir) => rmSync(join(dir, 'metadata.sqlite'))],
  ['objects that are gone', 'objects', (dir) => rmSync(join(dir, 'objects'), { recursive: true })],
  [
    'a mark that is no JSON',
    'perago-lakefs.json',
    (dir) => writeFileSync(join(dir, 'perago-lakefs.json'), '{'),
  ],
  [
    'a mark of something else',
    'perago-lakefs.json',
    (dir) => writeFileSync(join(dir, 'perago-lakefs.json'), '{"format":"x"}'),
  ],
  [
    'a lock that is no database',
    'lock.sqlite',
    (dir) => writeFileSync(join(dir, 'lock.sqlite'), Buffer.alloc(8192, 7)),
  ],
]

test('ST-117 a full disk is no damage of a data directory, and nobody is told to move it away', async (context) => {
  const dataDir = join(await mountSmallDisk('tmpfs', context), 'lake')
  const opened = await openEngine({ dataDir })
  await opened.close()
  fillDisk(dirname(dataDir), 'bytes')
  for (const at of [dataDir, join(dirname(dataDir), 'another')]) {
    await expect(openEngine({ dataDir: at })).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'embedded/unavailable-data-dir',
      next: expect.stringMatching(/[Ff]ree space/) as string,
    })
  }
  emptyDisk(dirname(dataDir))
  await (await openEngine({ dataDir })).close()
})

test.each(DAMAGES)('EE-62 %s is named and never made anew', async (_, name, damage) => {
  const dataDir = await closedLake()
  damage(dataDir)
  const before = readdirSync(dataDir).sort()
  await expect(openEngine({ dataDir })).rejects.toMatchObject({
    code: 'embedded/corrupt-data-dir',
    kind: 'invalid',
    message: expect.stringContaining(join(dataDir, name)) as string,
  })
  expect(
    readdirSync(dataDir)
      .filter((file) => !/-(?:shm|wal|journal)$/.test(file))
      .sort(),
  ).toEqual(before.filter((file) => !/-(?:shm|wal|journal)$/.test(file)))
})

test('EE-62 a directory of a later version is left to the program that knows it', async () => {
  const dataDir = await closedLake()
  const file = join(dataDir, 'perago-lakefs.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace('"version":1', '"version":2'))
  await expect(openEngine({ dataDir })).rejects.toMatchObject({ code: 'embedded/unsupported-data-dir' })
})

test('EE-63 a damaged tree node is noticed by the read that meets it', async () => {
  const dataDir = await closedLake()
  const db = openMetadataDb(join(dataDir, 'metadata.sqlite'), 'open')
  db.run(`UPDATE nodes SET bytes = CAST(replace(CAST(bytes AS TEXT), 'local', 'LOCAL') AS BLOB)`)
  db.close()
  const lake = await reopenLake({ dataDir })
  expect(() => lake.paths('main')).toThrow(expect.objectContaining({ code: 'embedded/corrupt-data-dir' }))
})

// The files as they are between two turns of the event loop are what a kill at that moment would leave.
test('EE-64 whatever the moment of a crash, every acknowledged write is there and none is half there', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  const acknowledged: string[] = []
  const images: { dir: string; acknowledged: string[]; commits: string[] }[] = []
  const commits: string[] = []
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    const branch = `w${writer}`
    await lake.branch(branch)
    for (let round = 0; round < 12; round += 1) {
      const path = `${branch}/${round}`
      await lake.put(branch, path, `${path} `.repeat(50))
      acknowledged.push(`${branch} ${path}`)
      if (round % 3 === 2) commits.push((await lake.commit(branch, path)).id)
    }
  })
  const run = { isOn: true }
  const done = Promise.all(writers).finally(() => (run.isOn = false))
  while (run.isOn) {
    for (let turn = 0; turn < 25; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    const dir = temporaryDir()
    cpSync(dataDir, dir, { recursive: true })
    images.push({ dir, acknowledged: [...acknowledged], commits: [...commits] })
  }
  await done
  expect(images.length).toBeGreaterThan(3)
  for (const image of images) {
    const after = await reopenLake({ dataDir: image.dir })
    for (const write of image.acknowledged) {
      const [branch = '', path = ''] = write.split(' ')
      expect(await after.read(branch, path)).toBe(`${path} `.repeat(50))
    }
    for (const id of image.commits) expect(after.engine.getCommit(LAKE, id).id).toBe(id)
    for (let writer = 0; writer < 4; writer += 1) {
      for (const branch of after.engine.listBranches(LAKE, {
        amount: 10,
        showHidden: true,
        prefix: `w${writer}`,
      }).items) {
        // Everything that is listed can be read whole, acknowledged or not.
        for (const path of after.paths(branch.name))
          expect(await after.read(branch.name, path)).toBe(`${path} `.repeat(50))
      }
    }
    expect(readdirSync(join(image.dir, 'temp'))).toEqual([])
    await after.engine.close()
  }
})
