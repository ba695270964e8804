// Goal: whatever a server does, threads leave exactly the objects as files, or nothing of them.
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  COMMIT,
  md5Of,
  sendAsStored,
  startObjectsServer,
  type ObjectsServer,
  type Sending,
} from '../../test/support/lakefs-objects-server.ts'
import {
  attemptsOf,
  ATTEMPT,
  temporaryDirectory,
  temporaryRoot,
} from '../../test/support/workspace/temporary-root.ts'
import { diffWorkspace } from '../workspace/comparing/diff.ts'
import { cachedFrom, ContentCache } from '../workspace/cache/content-cache.ts'
import { fetchFrom } from '../workspace/laying-out/file-provider.ts'
import { layOut } from '../workspace/laying-out/lay-out.ts'
import { openObjectSource } from '../worker/attempt/object-source.ts'
import type { DownloadedFile, FileDownload } from '../publication/ports.ts'
import { LAKEFS_FETCH_AHEAD_FILES, LAKEFS_FETCH_THREADS_MAX } from './limits.ts'

const LARGE = 700_000

/** Of all sizes that matter: none, less than a buffer, several of them. */
function someObjects(count: number): Map<string, Buffer> {
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const size = index % 50 === 7 ? LARGE + index : index === 3 ? 0 : 1 + ((index * 37) % 5_000)
      return [
        `in/d ${index % 7}/é${String(index).padStart(4, '0')}?`,
        Buffer.alloc(size, `${index},`),
      ] as const
    }),
  )
}

interface Fetched {
  readonly files: readonly DownloadedFile[]
  readonly wanted: readonly FileDownload[]
  readonly directory: string
}

async function fetchAll(
  { repo }: ObjectsServer,
  objects: ReadonlyMap<string, Buffer>,
  options: { readonly signal?: AbortSignal; readonly inFlight?: number; readonly directory?: string } = {},
): Promise<Fetched> {
  const { directory = await temporaryDirectory(), ...rest } = options
  const wanted = [...objects].map(([path, content], id) => ({
    ...{ id, path, file: join(directory, String(id)), wantsMd5: id % 2 === 0 },
    ...{ sizeBytes: content.length, checksum: md5Of(content) },
  }))
  const files: DownloadedFile[] = []
  const bytes = wanted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  await repo.downloadFiles(COMMIT, wanted, (file) => files.push(file), { files: 5_000, bytes, ...rest })
  return { files, wanted, directory }
}

describe('objects that threads fetch', () => {
  test('WS-228 each is a file with exactly its bytes, known by what the file system says about it', async () => {
    const objects = someObjects(300)
    const server = await startObjectsServer(objects)
    const { files, wanted } = await fetchAll(server, objects)
    expect(files.map(({ id }) => id).sort((a, b) => a - b)).toEqual(wanted.map(({ id }) => id))
    for (const { id, md5, ...facts } of files) {
      const { path, file, wantsMd5 } = wanted[id]!
      const content = objects.get(path)!
      expect(readFileSync(file).equals(content)).toBe(true)
      expect(md5).toBe(wantsMd5 ? md5Of(content) : undefined)
      const { mtimeNs, ctimeNs, ino: inode } = statSync(file, { bigint: true })
      expect(facts).toMatchObject({ mtimeNs, ctimeNs, inode, sizeBytes: content.length })
    }
    expect([...server.asked.values()].every((count) => count === 1)).toBe(true)
  })

  test('WS-229 at most half of the connections are taken, and those that were asked for', async () => {
    const objects = someObjects(200)
    const slowly: Sending = (_, __, response, content) => {
      setTimeout(() => sendAsStored(response, content), 3)
      return true
    }
    const server = await startObjectsServer(objects, { connectionsMax: 8, sending: slowly })
    await fetchAll(server, objects)
    expect(server.peak()).toBe(4)
    const few = await startObjectsServer(objects, { sending: slowly })
    await fetchAll(few, objects, { inFlight: 2 })
    expect(few.peak()).toBe(2)
  })

  test('WS-230 however many there are, few are known in advance', async () => {
    const objects = someObjects(1_000)
    const server = await startObjectsServer(objects)
    const directory = await temporaryDirectory()
    let taken = 0
    let done = 0
    let most = 0
    function* wanted(): Generator<FileDownload> {
      for (const [path, content] of objects) {
        most = Math.max(most, ++taken - done)
        const file = join(directory, String(taken))
        yield { id: taken, path, file, sizeBytes: content.length, checksum: md5Of(content), wantsMd5: false }
      }
    }
    await server.repo.downloadFiles(COMMIT, wanted(), () => done++, { files: 100_000, bytes: 0 })
    expect(done).toBe(1_000)
    expect(most).toBeLessThanOrEqual(LAKEFS_FETCH_THREADS_MAX * LAKEFS_FETCH_AHEAD_FILES + 1)
  })
})

const OTHERWISE: Readonly<Record<string, (response: ServerResponse, content: Buffer) => unknown>> = {
  'with a byte that is not its own': (response, content) => {
    const bytes = Buffer.from(content)
    bytes[bytes.length - 1]! ^= 1
    sendAsStored(response, bytes, md5Of(content))
  },
  'as another object of the same length': (response, content) =>
    sendAsStored(response, Buffer.alloc(content.length, 'other')),
  'under its checksum with a byte too few': (response, content) =>
    sendAsStored(response, content.subarray(1), md5Of(content)),
  'with a byte too many': (response, content) => {
    response.writeHead(200, { etag: `"${md5Of(content)}"`, 'content-length': content.length })
    response.socket?.write(Buffer.concat([content, Buffer.from('x')]))
  },
  'and the connection breaks half-way': (response, content) => {
    response.writeHead(200, { etag: `"${md5Of(content)}"`, 'content-length': content.length })
    response.write(content.subarray(0, content.length >> 1), () => setTimeout(() => response.destroy(), 5))
  },
  'and the connection breaks at once': (response) => response.destroy(),
  'in chunks': (response, content) => response.writeHead(200, { etag: `"${md5Of(content)}"` }).end(content),
  'with a refusal': (response) => response.writeHead(503).end('busy'),
  'as a part': (response, content) =>
    response.writeHead(206, { etag: `"${md5Of(content)}"`, 'content-length': content.length }).end(content),
  'without an end of the head': (response) =>
    response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`),
}

describe('an object that is sent otherwise', () => {
  test.each(Object.entries(OTHERWISE))(
    'WS-231 %s is given up, and nothing of it is left',
    async (_, send) => {
      const objects = someObjects(120)
      const odd = new Set([...objects.keys()].filter((__, index) => [7, 20, 57].includes(index)))
      const sending: Sending = (path, __, response, content) => {
        if (odd.has(path)) send(response, content)
        return odd.has(path)
      }
      const server = await startObjectsServer(objects, { sending, timeouts: { bodyIdleMs: 400 } })
      const { files, wanted, directory } = await fetchAll(server, objects)
      const done = new Set(files.map(({ id }) => id))
      expect(wanted.filter(({ id }) => !done.has(id)).map(({ path }) => path)).toEqual([...odd])
      expect(readdirSync(directory)).toHaveLength(objects.size - odd.size)
      for (const { id } of files)
        expect(readFileSync(wanted[id]!.file).equals(objects.get(wanted[id]!.path)!)).toBe(true)
    },
  )

  test('WS-231 of a server that closes connections between responses, all are fetched', async () => {
    const objects = someObjects(120)
    const sending: Sending = (_, __, response, content) => {
      response.shouldKeepAlive = false
      sendAsStored(response, content)
      return true
    }
    const server = await startObjectsServer(objects, { sending })
    expect((await fetchAll(server, objects)).files).toHaveLength(120)
  })

  test('WS-232 after some failures the threads give all the rest up', async () => {
    const objects = someObjects(600)
    const sending: Sending = (_, __, response) => {
      response.writeHead(503).end()
      return true
    }
    const server = await startObjectsServer(objects, { sending })
    const { files, directory } = await fetchAll(server, objects)
    expect(files).toEqual([])
    expect(readdirSync(directory)).toEqual([])
    expect(server.asked.size).toBeLessThan(100)
  })

  test('WS-233 what is in the place of a file, a link too, is neither written through nor removed', async () => {
    const objects = someObjects(60)
    const outside = join(await temporaryDirectory(), 'outside')
    writeFileSync(outside, 'outside')
    const directory = await temporaryDirectory()
    symlinkSync(outside, join(directory, '5'))
    writeFileSync(join(directory, '6'), 'mine')
    const { files } = await fetchAll(await startObjectsServer(objects), objects, { directory })
    expect(files).toHaveLength(58)
    expect(readFileSync(outside, 'utf8')).toBe('outside')
    expect(readFileSync(join(directory, '6'), 'utf8')).toBe('mine')
  })
})

describe('a layout with threads', () => {
  test('WS-234 is whole whatever goes wrong with single tries, and a later comparison finds no change', async () => {
    const objects = someObjects(600)
    const kinds = Object.values(OTHERWISE)
    let odd = 0
    const sending: Sending = (path, count, response, content) => {
      if (count > 0 || path.length === 0 || odd > 9 || Number(path.slice(-5, -1)) % 40 !== 7) return false
      kinds[odd++ % kinds.length]!(response, content)
      return true
    }
    const server = await startObjectsServer(objects, { sending, timeouts: { bodyIdleMs: 400 } })
    const seen: number[] = []
    const workspace = await layOut({
      ...{ root: await temporaryRoot(), attempt: ATTEMPT, spec: { prefix: 'in' } },
      source: openObjectSource(server.repo, COMMIT),
      onProvided: ({ files }) => seen.push(files),
    })
    expect(odd).toBeGreaterThan(5)
    for (const [path, content] of objects)
      expect(readFileSync(join(workspace.dir, path.slice(3))).equals(content)).toBe(true)
    expect(seen).toEqual(Array.from({ length: 600 }, (_, index) => index + 1))
    const { uploads, deletes } = await diffWorkspace(workspace)
    expect({ uploads, deletes }).toEqual({ uploads: [], deletes: [] })
  })

  test('WS-234 of which an object stays damaged fails, and leaves no directory', async () => {
    const objects = someObjects(600)
    const bad = [...objects.keys()][7]
    const sending: Sending = (path, _, response, content) => {
      if (path === bad) OTHERWISE['with a byte that is not its own']?.(response, content)
      return path === bad
    }
    const server = await startObjectsServer(objects, { sending, retry: { maxAttempts: 2, firstDelayMs: 1 } })
    const root = await temporaryRoot()
    const laying = layOut({ root, attempt: ATTEMPT, spec: {}, source: openObjectSource(server.repo, COMMIT) })
    await expect(laying).rejects.toMatchObject({ code: 'lakefs/checksum-mismatch' })
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-235 an abort ends the threads before the directory is removed', async () => {
    const objects = someObjects(600)
    const stop = new AbortController()
    const reason = new Error('enough')
    const server = await startObjectsServer(objects)
    const root = await temporaryRoot()
    const laying = layOut({
      ...{ root, attempt: ATTEMPT, spec: {}, signal: stop.signal },
      source: openObjectSource(server.repo, COMMIT),
      onProvided: ({ files }) => {
        if (files === 100) stop.abort(reason)
      },
    })
    await expect(laying).rejects.toBe(reason)
    expect(await attemptsOf(root)).toEqual([])
    const askedFor = server.asked.size
    expect(askedFor).toBeLessThan(600)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(server.asked.size).toBe(askedFor)
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-236 takes what is cached from the cache, and asks only for the rest', async () => {
    const objects = someObjects(900)
    const server = await startObjectsServer(objects)
    const root = await temporaryRoot()
    const source = openObjectSource(server.repo, COMMIT)
    const cache = new ContentCache({ root: root.directory, maxBytes: 1e9 })
    const provider = cachedFrom(cache, fetchFrom(source))
    const layOutFrom = (prefix: string): ReturnType<typeof layOut> =>
      layOut({ root, attempt: ATTEMPT, spec: { prefix }, source, provider })
    const first = await layOutFrom('in/d 1')
    await cache.keepAll(first.dir, first.manifest)
    const second = await layOutFrom('in')
    for (const [path, content] of objects)
      expect(readFileSync(join(second.dir, path.slice(3))).equals(content)).toBe(true)
    const twice = [...server.asked].filter(([, count]) => count > 1).map(([path]) => path)
    // An empty object is never cached.
    expect(twice.filter((path) => objects.get(path)!.length > 0)).toEqual([])
    const cached = first.manifest.count
    expect(cache.counts()).toMatchObject({ hits: cached, misses: 900, damaged: 0 })
    expect(existsSync(second.dir)).toBe(true)
    await cache.close()
  })
})
