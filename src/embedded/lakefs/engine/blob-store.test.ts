import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDir } from '../../../../test/support/embedded-engine.ts'
import { MemoryBlobStore, type BlobStore } from './blob-store.ts'
import { DirectorySyncer } from './directory-syncer.ts'
import { DiskBlobStore, sweepTempFiles } from './disk-blob-store.ts'

function diskStore() {
  const dir = temporaryDir()
  const dirs = {
    objectsDir: join(dir, 'objects'),
    tempDir: join(dir, 'temp'),
    incomingDir: join(dir, 'incoming'),
  }
  mkdirSync(dirs.objectsDir)
  mkdirSync(dirs.tempDir)
  mkdirSync(dirs.incomingDir)
  const store = new DiskBlobStore(dirs)
  onTestFinished(() => store.close())
  return { ...dirs, store }
}

const hash = (algorithm: string, content: Buffer) => createHash(algorithm).update(content).digest('hex')
const bodyOf = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)))

async function readAll(opened: Promise<() => Readable>): Promise<string> {
  const stream = (await opened)()
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const STORES: readonly [string, () => BlobStore][] = [
  ['on disk', () => diskStore().store],
  ['in memory', () => new MemoryBlobStore()],
]

test.each(STORES)(
  'EE-51 bytes %s are named by their SHA-256, told their MD5, and read back',
  async (_, open) => {
    const store = open()
    const content = Buffer.from('0123456789')
    const blob = await store.store(bodyOf('01234', '56789'))
    expect(blob).toEqual({ sha256: hash('sha256', content), md5: hash('md5', content), sizeBytes: 10 })
    expect(await readAll(store.open(blob.sha256))).toBe('0123456789')
    expect(await readAll(store.open(blob.sha256, { start: 2, end: 5 }))).toBe('2345')
    expect(await readAll(store.open(blob.sha256, { start: 9, end: 9 }))).toBe('9')
    expect(store.sizeOf(blob.sha256)).toBe(10)
    expect(store.sizeOf('0'.repeat(64))).toBeUndefined()
    await expect(store.open('0'.repeat(64))).rejects.toMatchObject({ kind: 'missing' })
    const empty = await store.store(bodyOf())
    expect(empty).toMatchObject({ md5: 'd41d8cd98f00b204e9800998ecf8427e', sizeBytes: 0 })
    expect(await readAll(store.open(empty.sha256))).toBe('')
  },
)

test('EE-52 equal bytes are kept once, and no temp file stays', async () => {
  const { store, objectsDir, tempDir } = diskStore()
  const blobs = await Promise.all(
    Array.from({ length: 20 }, (_, index) => store.store(bodyOf(`body ${index % 3}`))),
  )
  await store.close()
  expect(readdirSync(objectsDir).sort()).toEqual([...new Set(blobs.map((blob) => blob.sha256))].sort())
  expect(readdirSync(tempDir)).toEqual([])
})

test('EE-52 a body that breaks off leaves nothing and is answered with what it broke with', async () => {
  const { store, objectsDir, tempDir } = diskStore()
  const broken = Readable.from(
    (function* () {
      yield Buffer.from('half of it')
      throw new Error('connection lost')
    })(),
  )
  await expect(store.store(broken)).rejects.toThrow('connection lost')
  expect([...readdirSync(objectsDir), ...readdirSync(tempDir)]).toEqual([])
})

test('EE-52 a file of the right name and the wrong length is written again', async () => {
  const { store, objectsDir } = diskStore()
  const content = Buffer.from('whole')
  const file = join(objectsDir, hash('sha256', content))
  writeFileSync(file, 'who')
  const { sha256 } = await store.store(bodyOf('whole'))
  expect(await readAll(store.open(sha256))).toBe('whole')
  await store.close()
  expect(readFileSync(file, 'utf8')).toBe('whole')
})

test('EE-53 a body larger than the write buffer passes through in pieces', async () => {
  const { store } = diskStore()
  const piece = Buffer.alloc(300_000, 7)
  const count = 20
  const blob = await store.store(Readable.from(Array.from({ length: count }, () => piece)))
  expect(blob.sizeBytes).toBe(piece.length * count)
  expect(blob.sha256).toBe(hash('sha256', Buffer.alloc(piece.length * count, 7)))
})

test('EE-54 what uploads left that never ended is swept away', async () => {
  const { tempDir } = diskStore()
  writeFileSync(join(tempDir, 'left over'), 'x')
  await sweepTempFiles(tempDir)
  expect(readdirSync(tempDir)).toEqual([])
})

test('EE-54 a store that is closed waits for what is under way and takes nothing more', async () => {
  const { store, objectsDir } = diskStore()
  const stored = store.store(bodyOf('last'))
  await store.close()
  expect(readdirSync(objectsDir)).toHaveLength(1)
  await stored
  await expect(store.store(bodyOf('late'))).rejects.toMatchObject({ code: 'embedded/closed' })
})

test('EE-55 files of objects can be read by their owner alone', async () => {
  const { store, objectsDir } = diskStore()
  const { sha256 } = await store.store(bodyOf('private'))
  await store.close()
  expect(statSync(join(objectsDir, sha256)).mode & 0o777).toBe(0o600)
})

test('EE-52 many who ask for a directory sync share two, and a failing one is told to all of them', async () => {
  const good = new DirectorySyncer(temporaryDir())
  const syncs = Array.from({ length: 50 }, () => good.sync())
  expect(new Set(syncs).size).toBe(2)
  await Promise.all(syncs)
  await good.sync()
  await good.close()
  const bad = new DirectorySyncer(join(temporaryDir(), 'none'))
  const asked = await Promise.allSettled(Array.from({ length: 3 }, () => bad.sync()))
  expect(asked.every((result) => result.status === 'rejected')).toBe(true)
  await bad.close()
})
