// Goal: whatever a disk makes of stored bytes, no client takes them for what was uploaded, and uploading them again mends it.
// Method: bits are changed in the files below a running server.

import { createHash } from 'node:crypto'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDir } from '../../../../test/support/embedded-engine.ts'
import { LakefsRequests, type Reply } from '../../../../test/support/lakefs-requests.ts'
import { untilFiled } from '../../../../test/support/until-filed.ts'
import { openMetadataDb } from '../engine/metadata-db.ts'
import { startEmbeddedLakefs } from '../server.ts'

const SMALL = 'four words of content'
const LARGE = Buffer.alloc(3_000_000, 'large content ')

async function lakeOn(dataDir: string) {
  const server = await startEmbeddedLakefs({ dataDir, presign: true })
  const api = new LakefsRequests(server, 'lake')
  onTestFinished(async () => {
    api.close()
    await server.close()
  })
  return { server, api }
}

async function makeLake() {
  const dataDir = temporaryDir()
  const { api, server } = await lakeOn(dataDir)
  await api.create()
  const fileOf = (content: string | Buffer) =>
    join(dataDir, 'objects', createHash('sha256').update(content).digest('hex'))
  const upload = async (path: string, content: string | Buffer) => {
    const reply = await api.send('POST', '~/branches/main/objects', { query: { path }, body: content })
    expect(reply.status).toBe(201)
    await untilFiled(dataDir)
  }
  return { api, server, dataDir, fileOf, upload }
}

function flipBit(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

async function expectDamaged(answer: Promise<Reply>): Promise<void> {
  const { status, json } = await answer
  expect(status).toBe(500)
  expect((json as { message: string }).message).toMatch(/damaged.*upload the object again/i)
}

test('ES-110 a damaged small object is a 500 that says so, whole or in part, and stays one', async () => {
  const { api, fileOf, upload } = await makeLake()
  await upload('a', SMALL)
  flipBit(fileOf(SMALL), 5)
  for (let time = 0; time < 2; time += 1) {
    await expectDamaged(api.get('main', 'a'))
    await expectDamaged(api.get('main', 'a', { range: 'bytes=0-1' }))
  }
  const redirected = await api.send('GET', '~/refs/main/objects', { query: { path: 'a', presign: true } })
  await expectDamaged(api.sendTo('GET', String(redirected.headers.location)))
})

test('ES-110 an object of the wrong length is a 500', async () => {
  const { api, fileOf, upload } = await makeLake()
  await upload('a', SMALL)
  truncateSync(fileOf(SMALL), 3)
  expect((await api.get('main', 'a')).status).toBe(500)
})

test.each([
  ['first', 0],
  ['middle', 1_500_000],
  ['last', LARGE.length - 1],
])('ES-111 a large object whose %s byte is damaged breaks off before its end', async (_, at) => {
  const { api, fileOf, upload } = await makeLake()
  await upload('a', LARGE)
  expect((await api.get('main', 'a')).bytes.equals(LARGE)).toBe(true)
  flipBit(fileOf(LARGE), at)
  await expect(api.get('main', 'a')).rejects.toThrow(/aborted|hang up|ECONNRESET/)
  // What one read has found, the next one is told.
  await expectDamaged(api.get('main', 'a'))
  await expectDamaged(api.get('main', 'a', { range: 'bytes=10-19' }))
})

test('ES-112 no range of a large object is sent before all of it was found right', async () => {
  const { api, fileOf, upload } = await makeLake()
  await upload('a', LARGE)
  flipBit(fileOf(LARGE), LARGE.length - 1)
  await expectDamaged(api.get('main', 'a', { range: 'bytes=0-9' }))
  await upload('a', LARGE)
  const ranges = Array.from({ length: 8 }, (_, index) =>
    api.get('main', 'a', { range: `bytes=${String(index)}-${String(index + 1_999_999)}` }),
  )
  for (const [index, reply] of (await Promise.all(ranges)).entries()) {
    expect(reply.status).toBe(206)
    expect(reply.bytes.equals(LARGE.subarray(index, index + 2_000_000))).toBe(true)
  }
  // A change through the file system is noticed by the next range, too.
  flipBit(fileOf(LARGE), 7)
  await expectDamaged(api.get('main', 'a', { range: 'bytes=100-109' }))
})

test.each([
  ['small', SMALL],
  ['large', LARGE],
])(
  'ES-113 uploading a damaged %s object again mends every entry that has its content',
  async (_, content) => {
    const { api, fileOf, upload } = await makeLake()
    await upload('a', content)
    const commit = await api.commit('main', 'with a')
    flipBit(fileOf(content), 3)
    await api.get('main', 'a').catch(() => undefined)
    await upload('elsewhere', content)
    for (const [ref, path] of [
      ['main', 'a'],
      [commit, 'a'],
      ['main', 'elsewhere'],
    ] as const) {
      const reply = await api.get(ref, path)
      expect(reply.status).toBe(200)
      expect(reply.bytes.equals(Buffer.from(content))).toBe(true)
    }
  },
)

test('ES-114 a damaged or missing tree node is a 500 that names it, never a 404', async () => {
  for (const damage of ['UPDATE nodes SET bytes = zeroblob(length(bytes))', 'DELETE FROM nodes']) {
    const { api, server, dataDir, upload } = await makeLake()
    await upload('a', SMALL)
    await api.commit('main', 'one')
    await server.close()
    const db = openMetadataDb(join(dataDir, 'metadata.sqlite'), 'open')
    db.exec(damage)
    db.close()
    const after = await lakeOn(dataDir)
    for (const path of ['a', 'b']) {
      const { status, json } = await after.api.get('main', path)
      expect(status).toBe(500)
      expect((json as { message: string }).message).toMatch(/tree node [0-9a-f]{64}/)
    }
  }
})
