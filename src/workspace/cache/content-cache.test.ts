// Goal: what comes out of the content cache is what went in, or nothing does; and nothing that goes wrong here fails a task.
import { createHash } from 'node:crypto'
import { getEventListeners } from 'node:events'
import { existsSync, statSync, utimesSync } from 'node:fs'
import { appendFile, mkdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  md5Of,
  memorySource,
  type MemorySource,
  type StoredObject,
} from '../../../test/support/workspace/memory-source.ts'
import { ATTEMPT, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'
import { CACHE_INCOMING_STALE_MS } from '../limits.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { entryNameOf } from './cache-entry.ts'
import { checkEntries, clearEntries, listEntries, type CacheEntry } from './cache-files.ts'
import { cacheDirectoryOf, cachedFrom, ContentCache, type ContentCacheOptions } from './content-cache.ts'
import { fetchFrom } from '../laying-out/file-provider.ts'
import { layOut, type AttemptWorkspace } from '../laying-out/lay-out.ts'
import type { WorkspaceRoot } from '../ownership/ownership.ts'

const LARGE = 300_000
const MIB = 1024 ** 2

let root: WorkspaceRoot
let cache: ContentCache
beforeEach(async () => {
  root = await temporaryRoot()
  cache = open()
})

function open(options: Partial<ContentCacheOptions> = {}): ContentCache {
  const opened = new ContentCache({ root: root.directory, maxBytes: 64 * MIB, ...options })
  onTestFinished(() => opened.close())
  return opened
}

/** Lays out, through the cache, what the source has. */
async function lay(source: MemorySource, from = cache): Promise<AttemptWorkspace> {
  const workspace = await layOut({
    root,
    attempt: ATTEMPT,
    source,
    spec: {},
    provider: cachedFrom(from, fetchFrom(source)),
  })
  onTestFinished(() => workspace.remove())
  return workspace
}

async function layAndKeep(source: MemorySource, into = cache): Promise<AttemptWorkspace> {
  const workspace = await lay(source, into)
  await into.keepAll(workspace.dir, workspace.manifest)
  return workspace
}

async function entries(): Promise<readonly CacheEntry[]> {
  const found: CacheEntry[] = []
  for await (const entry of listEntries(cacheDirectoryOf(root.directory))) found.push(entry)
  return found
}

const small = 'a small one'
const large = Buffer.alloc(LARGE, 'large')
const objects = { 'a/small': small, large }

describe('what was kept', () => {
  test('WS-60 is laid out without being read from the repository again, byte for byte', async () => {
    await layAndKeep(memorySource(objects))
    const source = memorySource({ ...objects, 'b/the same under another key': small })
    const workspace = await lay(source)
    expect(source.reads).toEqual([])
    expect(await readFile(join(workspace.dir, 'large'))).toEqual(large)
    expect(await readFile(join(workspace.dir, 'b/the same under another key'), 'utf8')).toBe(small)
    expect(cache.counts()).toMatchObject({ hits: 3, misses: 2, kept: 2, damaged: 0 })
  })

  test('WS-60 is kept once, and what came from the cache is not looked at again', async () => {
    await layAndKeep(memorySource(objects))
    const workspace = await layAndKeep(memorySource(objects))
    expect([...workspace.manifest.entries()].map((_, index) => workspace.manifest.isCached(index))).toEqual([
      true,
      true,
    ])
    expect(cache.counts().kept).toBe(2)
    expect(await entries()).toHaveLength(2)
  })

  test('WS-60 any content of any size comes out as it went in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), fc.nat(3), async (bytes, times) => {
        // Up to sizes on both sides of where files are handled in another way.
        const content = Buffer.concat(Array.from({ length: times * 100 + 1 }, () => bytes))
        await layAndKeep(memorySource({ it: content }))
        const source = memorySource({ it: content })
        const workspace = await lay(source)
        expect(await readFile(join(workspace.dir, 'it'))).toEqual(content)
        expect(source.reads).toHaveLength(content.length === 0 ? 1 : 0)
      }),
      { numRuns: 20 },
    )
  })

  test('WS-61 writing to a file that was laid out changes nothing in the cache', async () => {
    await layAndKeep(memorySource(objects))
    const workspace = await lay(memorySource(objects))
    for (const name of ['a/small', 'large']) {
      await appendFile(join(workspace.dir, name), 'more')
      await truncate(join(workspace.dir, name), 3)
      expect((await stat(join(workspace.dir, name))).nlink).toBe(1)
    }
    const source = memorySource(objects)
    const again = await lay(source)
    expect(source.reads).toEqual([])
    expect(await readFile(join(again.dir, 'large'))).toEqual(large)
  })

  test('WS-61 writing to the file an entry was made from changes nothing in the cache', async () => {
    const workspace = await layAndKeep(memorySource(objects))
    for (const name of ['a/small', 'large']) await writeFile(join(workspace.dir, name), 'other')
    const source = memorySource(objects)
    expect(await readFile(join((await lay(source)).dir, 'large'))).toEqual(large)
    expect(source.reads).toEqual([])
  })

  test('WS-62 a file that was changed before it could be kept is not kept under the name of its object', async () => {
    const workspace = await lay(memorySource(objects))
    for (const name of ['a/small', 'large']) {
      const path = join(workspace.dir, name)
      const { mtime, size } = statSync(path)
      await writeFile(path, Buffer.alloc(size, 'x'))
      utimesSync(path, mtime, mtime)
    }
    await cache.keepAll(workspace.dir, workspace.manifest)
    expect(await entries()).toEqual([])
  })

  test('WS-62 an object whose checksum is not of its content is known by its address, or not at all', () => {
    const opaque = (address?: string): StoredObject => ({
      content: small,
      checksum: 'etag-2',
      ...(address === undefined ? {} : { address }),
    })
    expect(entryNameOf(described(opaque()))).toBeUndefined()
    const name = entryNameOf(described(opaque('local://x/1')))
    expect(name).toMatch(/^at-/)
    expect(entryNameOf(described(opaque('local://x/2')))).not.toBe(name)
    expect(entryNameOf(described({ content: small, checksum: md5Of(small) }))).toBe(
      `md5-${md5Of(small)}-${small.length}`,
    )
  })

  test.each([
    ['small', small],
    ['large', large],
  ])(
    'WS-62 a checksum that looks like one of the content and is none: a %s file is not kept',
    async (_, content) => {
      await layAndKeep(memorySource({ it: { content, checksum: md5Of('something else') } }))
      expect(await entries()).toEqual([])
    },
  )
})

function described(object: StoredObject): Parameters<typeof entryNameOf>[0] {
  const { content, checksum = '', address } = object
  const base = { key: 'k', checksum, sizeBytes: content.length, contentType: '', metadata: {} }
  return address === undefined ? base : { ...base, address }
}

describe('an entry that is not what was kept', () => {
  const harms: Readonly<Record<string, (entry: CacheEntry) => Promise<void>>> = {
    'one byte is another': async ({ path }) => {
      const bytes = await readFile(path)
      bytes[1] = (bytes[1] ?? 0) ^ 1
      await writeFile(path, bytes)
    },
    'its end is cut off': ({ path, sizeBytes }) => truncate(path, sizeBytes - 1),
    'it is empty': ({ path }) => truncate(path, 0),
    'it is longer': ({ path }) => appendFile(path, 'x'),
    'it holds zeros': ({ path, sizeBytes }) => writeFile(path, Buffer.alloc(sizeBytes)),
    'its MD5 is another': async ({ path, sizeBytes }) => {
      const bytes = await readFile(path)
      bytes[sizeBytes - 40] = (bytes[sizeBytes - 40] ?? 0) ^ 1
      await writeFile(path, bytes)
    },
    'a directory has its name': async ({ path }) => {
      await rm(path)
      await mkdir(join(path, 'in'), { recursive: true })
    },
    'a link has its name': async ({ path }) => {
      await rm(path)
      await symlink('/etc/passwd', path)
    },
  }

  test.each(Object.keys(harms))('WS-63 %s: it is not used, and the object is fetched', async (how) => {
    await layAndKeep(memorySource(objects))
    for (const entry of await entries()) await harms[how]?.(entry)
    const source = memorySource(objects)
    const workspace = await layAndKeep(source)
    expect([...source.reads].sort()).toEqual(['a/small', 'large'])
    expect(await readFile(join(workspace.dir, 'a/small'), 'utf8')).toBe(small)
    expect(await readFile(join(workspace.dir, 'large'))).toEqual(large)
  })

  const twins = {
    small: ['first text', 'other text'],
    large: [Buffer.alloc(LARGE, 'first'), Buffer.alloc(LARGE, 'other')],
  } as const

  test.each(['small', 'large'] as const)(
    'WS-220 a whole %s entry under the name of another of its size is not used',
    async (size) => {
      const [first, other] = twins[size]
      // One name by checksum and one by address: both are proven.
      const named = { first, other: { content: other, checksum: 'etag-1', address: 'local://x/1' } }
      await layAndKeep(memorySource(named))
      await exchangeEntries()
      const source = memorySource(named)
      const workspace = await layAndKeep(source)
      expect([...source.reads].sort()).toEqual(['first', 'other'])
      expect(await readFile(join(workspace.dir, 'first'))).toEqual(Buffer.from(first))
      expect(await readFile(join(workspace.dir, 'other'))).toEqual(Buffer.from(other))
      expect(cache.counts()).toMatchObject({ hits: 0, damaged: 2, kept: 4 })
    },
  )

  test.each(['small', 'large'] as const)(
    'WS-220 a whole %s entry under the name of another of its size is found by looking',
    async (size) => {
      const [first, other] = twins[size]
      await layAndKeep(memorySource({ first, other }))
      const names = await exchangeEntries()
      const checked = await checkEntries(cacheDirectoryOf(root.directory))
      expect(checked).toMatchObject({ entries: 0, bytes: 0, outdated: 0 })
      expect([...checked.damaged].sort()).toEqual(names)
      expect(await entries()).toEqual([])
    },
  )

  async function exchangeEntries(): Promise<readonly string[]> {
    const [one, two] = await entries()
    await rename(one!.path, `${one!.path}-aside`)
    await rename(two!.path, one!.path)
    await rename(`${one!.path}-aside`, two!.path)
    return [one!.name, two!.name].sort()
  }

  test('WS-221 an entry of the earlier format counts as absent, without an alarm, and is replaced', async () => {
    await layAndKeep(memorySource(objects))
    for (const entry of await entries()) await makeEarlier(entry)
    const source = memorySource(objects)
    await layAndKeep(source)
    expect([...source.reads].sort()).toEqual(['a/small', 'large'])
    expect(cache.counts()).toMatchObject({ hits: 0, damaged: 0, kept: 4 })
    const [again] = await entries()
    await makeEarlier(again!)
    expect(await checkEntries(cacheDirectoryOf(root.directory))).toMatchObject({
      entries: 1,
      damaged: [],
      outdated: 1,
    })
    expect(await entries()).toHaveLength(1)
  })

  /** As it was written before the name was under the checksum. */
  async function makeEarlier({ path }: CacheEntry): Promise<void> {
    const bytes = await readFile(path)
    bytes.write('perago-object-1\n', bytes.length - 64)
    createHash('sha256')
      .update(bytes.subarray(0, -32))
      .digest()
      .copy(bytes, bytes.length - 32)
    await writeFile(path, bytes)
  }

  test('WS-63 one found by looking is removed and named, the others stay', async () => {
    await layAndKeep(memorySource(objects))
    const [first] = await entries()
    await harms['one byte is another']?.(first!)
    const checked = await checkEntries(cacheDirectoryOf(root.directory))
    expect(checked).toMatchObject({ entries: 1, damaged: [first!.name] })
    expect(await checkEntries(cacheDirectoryOf(root.directory))).toMatchObject({ entries: 1, damaged: [] })
  })
})

describe('its size', () => {
  const many = (from: number, count: number): Record<string, Buffer> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${from + at}`, bytesFor(from + at)]))

  test('WS-64 is bounded, and what was used longest ago goes first', async () => {
    const bounded = open({ maxBytes: 100_000 })
    await layAndKeep(memorySource(many(0, 8)), bounded)
    const hour = 3_600_000
    for (const { path } of await entries())
      utimesSync(path, new Date(Date.now() - hour), new Date(Date.now() - hour))
    // Used again, so it is not the oldest any more.
    await lay(memorySource(many(3, 1)), bounded)
    await layAndKeep(memorySource(many(8, 6)), bounded)
    const kept = await entries()
    expect(kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(100_000)
    const names = kept.map(({ name }) => name)
    expect(names).toContain(`md5-${md5Of(bytesFor(3))}-10000`)
    expect(names).toContain(`md5-${md5Of(bytesFor(13))}-10000`)
    expect(bounded.counts().evicted).toBeGreaterThan(0)
  })

  test('WS-64 an object that would fill it is not kept', async () => {
    await layAndKeep(memorySource({ it: bytesFor(1, 60_000) }), open({ maxBytes: 100_000 }))
    expect(await entries()).toEqual([])
  })

  test('WS-64 room is made when it is asked for, and it can be emptied', async () => {
    await layAndKeep(memorySource(many(0, 8)))
    await cache.makeRoom(35_000)
    expect(await entries()).toHaveLength(4)
    expect(await clearEntries(cacheDirectoryOf(root.directory))).toMatchObject({ entries: 4 })
    expect(await entries()).toEqual([])
    await layAndKeep(memorySource(many(0, 1)))
    expect(await entries()).toHaveLength(1)
  })

  test('WS-64 a layout that has no room asks for it before it fails', async () => {
    const asked: number[] = []
    const huge = memorySource({ it: { content: 'x', sizeBytes: 9_000_000_000_000 } })
    const laid = layOut({
      root,
      attempt: ATTEMPT,
      source: huge,
      spec: {},
      makeRoom: (bytes) => {
        asked.push(bytes)
        return Promise.resolve()
      },
    })
    await expect(laid).rejects.toMatchObject({ code: 'workspace/disk-full' })
    expect(asked).toHaveLength(1)
  })
})

function bytesFor(number: number, length = 10_000): Buffer {
  return Buffer.alloc(length, createHash('sha256').update(String(number)).digest())
}

describe('trouble', () => {
  test('WS-65 a cache whose directory is gone or is a file costs nobody anything', async () => {
    await layAndKeep(memorySource(objects))
    const directory = cacheDirectoryOf(root.directory)
    await rm(directory, { recursive: true })
    const source = memorySource(objects)
    expect(existsSync(join((await layAndKeep(source)).dir, 'large'))).toBe(true)
    expect(await entries()).toHaveLength(2)
    await rm(directory, { recursive: true })
    await writeFile(directory, 'a file')
    expect(existsSync(join((await layAndKeep(memorySource(objects))).dir, 'large'))).toBe(true)
    await cache.makeRoom(1)
    await rm(directory)
    await layAndKeep(memorySource(objects), open())
    expect(await entries()).toHaveLength(2)
  })

  test('WS-65 what a killed process had begun to write is never used, and goes in the end', async () => {
    const incoming = join(cacheDirectoryOf(root.directory), 'incoming', 'a'.repeat(32))
    await writeFile(incoming, 'half of')
    const young = join(cacheDirectoryOf(root.directory), 'incoming', 'b'.repeat(32))
    await writeFile(young, 'being written')
    const old = new Date(Date.now() - CACHE_INCOMING_STALE_MS - 60_000)
    utimesSync(incoming, old, old)
    await layAndKeep(memorySource(objects))
    expect([existsSync(incoming), existsSync(young)]).toEqual([false, true])
  })

  test('WS-65 files that vanish or are no files any more are passed over', async () => {
    const workspace = await lay(memorySource({ ...objects, third: 'third', fourth: 'fourth' }))
    await rm(join(workspace.dir, 'large'))
    await rm(join(workspace.dir, 'third'))
    await symlink('fourth', join(workspace.dir, 'third'))
    await cache.keepAll(workspace.dir, workspace.manifest)
    expect(await entries()).toHaveLength(2)
    await workspace.remove()
    await cache.keepAll(workspace.dir, workspace.manifest)
  })

  test('WS-222 a directory that a file replaced costs its own files alone, and no pause', async () => {
    const files = {
      'a/large': large,
      'a/small': small,
      'b/c/large': Buffer.alloc(LARGE, 'c'),
      'b/c/small': 'c',
      z: 'z',
    }
    const workspace = await lay(memorySource(files))
    for (const directory of ['a', 'b/c']) {
      await rm(join(workspace.dir, directory), { recursive: true })
      await writeFile(join(workspace.dir, directory), 'a file now')
    }
    await cache.keepAll(workspace.dir, workspace.manifest)
    expect(await entries()).toHaveLength(1)
    await layAndKeep(memorySource(objects))
    expect(await entries()).toHaveLength(3)
  })

  test('WS-65 an abort stops a layout from the cache, with its reason', async () => {
    await layAndKeep(memorySource(objects))
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    const path = join(root.directory, 'taken')
    const [object] = [described({ content: large, checksum: md5Of(large) })]
    await expect(cache.take(object, path, { signal: stop.signal })).rejects.toThrow('enough')
    expect(existsSync(path)).toBe(false)
  })

  test('BA-102 adding a directory follows its signal while it runs, and leaves no listener on it', async () => {
    const { signal } = new AbortController()
    const whileRunning: number[] = []
    class Watching extends ManualClock {
      override monotonicMs(): number {
        whileRunning.push(getEventListeners(signal, 'abort').length)
        return super.monotonicMs()
      }
    }
    const workspace = await lay(memorySource(objects))
    await open({ clock: new Watching() }).keepAll(workspace.dir, workspace.manifest, { signal })
    expect(whileRunning).toEqual([1, 1])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('WS-65 after it was closed nothing is added any more', async () => {
    await cache.close()
    await cache.close()
    await layAndKeep(memorySource(objects))
    expect(await entries()).toEqual([])
  })
})
