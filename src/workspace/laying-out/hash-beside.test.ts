// Goal: what a file holds is hashed while it is written, in whatever strokes, and a file that is not there is told.
import { createHash, randomBytes } from 'node:crypto'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WORKSPACE_HASH_BUFFER_BYTES } from '../limits.ts'
import { hashBeside } from './hash-beside.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-hash-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const md5Of = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex')

test('WS-78 what was written stroke by stroke has the MD5 of the whole, however often it is told how far it is', async () => {
  let files = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(3 * WORKSPACE_HASH_BUFFER_BYTES), fc.boolean()), { maxLength: 5 }),
      async (strokes) => {
        const path = join(directory, String(files++))
        await writeFile(path, '')
        const hash = hashBeside(path)
        const pieces: Buffer[] = []
        let bytes = 0
        for (const [length, isTold] of strokes) {
          const piece = randomBytes(length)
          await appendFile(path, piece)
          pieces.push(piece)
          bytes += length
          if (isTold) hash.reach(bytes)
        }
        expect(await hash.digest(bytes)).toBe(md5Of(Buffer.concat(pieces)))
        hash.drop()
      },
    ),
    { numRuns: 20 },
  )
})

test('WS-78 many at once do not mix, and one that is dropped leaves the others alone', async () => {
  const contents = Array.from({ length: 8 }, () => randomBytes(500_000))
  const hashes = await Promise.all(
    contents.map(async (content, index) => {
      const path = join(directory, `many-${index}`)
      await writeFile(path, content)
      return hashBeside(path)
    }),
  )
  for (const hash of hashes) hash.reach(200_000)
  hashes[3]?.drop()
  const kept = hashes.flatMap((hash, index) => (index === 3 ? [] : [{ hash, content: contents[index]! }]))
  const digests = await Promise.all(kept.map(({ hash, content }) => hash.digest(content.length)))
  expect(digests).toEqual(kept.map(({ content }) => md5Of(content)))
})

test('WS-78 a file that is not there, or ends too early, is an error and harms no other', async () => {
  const path = join(directory, 'short')
  await writeFile(path, 'short')
  const missing = hashBeside(join(directory, 'missing'))
  missing.reach(1)
  const short = hashBeside(path)
  await expect(short.digest(6)).rejects.toMatchObject({ code: 'workspace/not-hashed', kind: 'unavailable' })
  await expect(missing.digest(1)).rejects.toThrow('ENOENT')
  expect(await hashBeside(path).digest(5)).toBe(md5Of(Buffer.from('short')))
})
