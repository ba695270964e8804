// Real files, and many of them.
import { existsSync, writeFileSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { md5Of } from '../../../test/support/workspace/memory-source.ts'
import { ATTEMPT, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'
import { diffWorkspace } from '../comparing/diff.ts'
import type { FileProvider } from './file-provider.ts'
import { layOut } from './lay-out.ts'
import type { ObjectSource } from '../ports.ts'

const FILES = 100_000

test('WS-32 a hundred thousand files are laid out, compared and removed, and only the changed ones are told', async () => {
  const root = await temporaryRoot()
  const content = 'sixteen bytes...'
  const checksum = md5Of(content)
  const pathOf = (index: number): string =>
    `day=${String(index % 365).padStart(3, '0')}/part-${String(index).padStart(6, '0')}.csv`
  const paths = Array.from({ length: FILES }, (_, index) => pathOf(index)).sort()
  const source: ObjectSource = {
    // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous
    async *list() {
      for (const key of paths) yield { key, checksum, sizeBytes: 16, contentType: 'text/csv', metadata: {} }
    },
    read: () => Promise.reject(new Error('nobody should fetch this')),
  }
  // How one file is fetched is tried elsewhere; a hundred thousand streams would be most of what this takes.
  const provider: FileProvider = {
    provide: ({ path }) => {
      writeFileSync(path, content, { flag: 'wx' })
      return Promise.resolve({})
    },
  }
  const workspace = await layOut({ root, attempt: ATTEMPT, source, spec: {}, provider })
  expect(workspace.manifest.count).toBe(FILES)
  const untouched = await diffWorkspace(workspace)
  expect(untouched).toMatchObject({ uploads: [], deletes: [], unchangedCount: FILES, hashedCount: 0 })

  writeFileSync(join(workspace.dir, paths[50_000]!), 'other 16 bytes..')
  writeFileSync(join(workspace.dir, 'new'), '')
  const changes = await diffWorkspace(workspace)
  expect(changes.uploads.map(({ key }) => key)).toEqual([paths[50_000], 'new'])
  expect(changes).toMatchObject({ deletes: [], unchangedCount: FILES - 1, hashedCount: 1 })
  await workspace.remove()
  expect(existsSync(workspace.dir)).toBe(false)
}, 120_000)

test('WS-33 a file of more than 5 GiB keeps its size to the byte, and is streamed', async () => {
  const root = await temporaryRoot()
  const sizeBytes = 5 * 2 ** 30 + 1
  const source: ObjectSource = {
    // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous
    async *list() {
      yield { key: 'huge', checksum: md5Of('x'), sizeBytes, contentType: 'text/plain', metadata: {} }
    },
    read: () => Promise.reject(new Error('nobody should fetch this')),
  }
  // Sparse: as long as said, and hardly anything on the disk.
  const provider: FileProvider = {
    provide: async ({ path }) => {
      writeFileSync(path, '')
      await truncate(path, sizeBytes)
      return {}
    },
  }
  const workspace = await layOut({ root, attempt: ATTEMPT, source, spec: {}, provider })
  expect(await diffWorkspace(workspace)).toMatchObject({ uploads: [], unchangedCount: 1, hashedCount: 0 })

  await truncate(join(workspace.dir, 'huge'), sizeBytes + 1)
  const { uploads } = await diffWorkspace(workspace)
  expect(uploads).toMatchObject([{ key: 'huge', sizeBytes: sizeBytes + 1 }])
  let received = 0
  for await (const chunk of uploads[0]!.open()) {
    received += (chunk as Buffer).length
    if (received >= 4_000_000) break
  }
  expect(received).toBeLessThan(8_000_000)
})
