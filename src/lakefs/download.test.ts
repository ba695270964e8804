// Goal: a download straight to a sink is whole and unharmed, or it is tried again from the beginning, or it fails.
import { afterEach, describe, expect, test } from 'vitest'
import {
  instantClock,
  startScriptedServer,
  type Reaction,
  type ScriptedServer,
} from '../../test/conformance/scripted-server.ts'
import { commitRef, repositoryName } from '../base/ids.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import { createLakefsClient, type LakefsClientOptions } from './client.ts'
import { openLakefsRepo } from './versioned-repo.ts'

const HEAD = commitRef('a'.repeat(64))
const HELLO_MD5 = '5d41402abc4b2a76b9719d911017c592'
const etag = { etag: `"${HELLO_MD5}"`, 'content-type': 'text/plain' }
const HELLO: Reaction = { status: 200, bytes: Buffer.from('hello'), headers: etag }
const CONFIG: Reaction = {
  status: 200,
  json: { storage_config: { blockstore_type: 'local' }, version_config: { version: 'x' } },
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface World {
  readonly download: NonNullable<VersionedRepo['download']>
  readonly server: ScriptedServer
  readonly asked: () => number
}

/** Downloads get these reactions one after the other, the last one for ever. */
async function scripted(
  reactions: readonly Reaction[],
  options: Partial<LakefsClientOptions> = {},
): Promise<World> {
  let asked = 0
  const server = await startScriptedServer((request) => {
    if (request.path.includes('/config')) return CONFIG
    return reactions[Math.min(asked++, reactions.length - 1)] ?? 'drop'
  })
  closing.push(() => server.close())
  const client = createLakefsClient({
    endpoint: server.url,
    accessKeyId: 'AKIATEST',
    secretAccessKey: 'very-secret-value',
    clock: instantClock(),
    ...options,
  })
  closing.push(() => client.close())
  const repo = openLakefsRepo(client, repositoryName('repo'))
  const download = repo.download?.bind(repo)
  if (download === undefined) throw new Error('the repository cannot download')
  return { download, server, asked: () => asked }
}

async function download(
  world: World,
  options: Parameters<World['download']>[3] = {},
): Promise<{ readonly text: string; readonly sinks: number }> {
  let pieces: Uint8Array[] = []
  let sinks = 0
  const open = (): ((piece: Uint8Array) => undefined) => {
    sinks++
    pieces = []
    return (piece) => void pieces.push(piece)
  }
  await world.download(HEAD, 'p', open, options)
  return { text: Buffer.concat(pieces).toString(), sinks }
}

describe('a download to a sink', () => {
  test('LC-118 brings the whole object with one request', async () => {
    const world = await scripted([HELLO])
    expect(await download(world)).toEqual({ text: 'hello', sinks: 1 })
    expect(world.asked()).toBe(1)
  })

  test.each<[string, Reaction]>([
    ['breaks off', { cutAfter: 2, bytes: Buffer.from('hello'), headers: etag }],
    ['is harmed on the way', { status: 200, bytes: Buffer.from('hellp'), headers: etag }],
    ['is refused for the load', { status: 503, json: { message: 'slow down' } }],
    ['gets no answer', 'drop'],
  ])('LC-118 that %s is tried again from the beginning, with a new sink', async (_, trouble) => {
    const world = await scripted([trouble, HELLO])
    expect((await download(world)).text).toBe('hello')
    expect(world.asked()).toBe(2)
  })

  test.each<[string, Reaction, string]>([
    ['is short', { cutAfter: 2, bytes: Buffer.from('hello'), headers: etag }, 'lakefs/short-body'],
    ['is harmed', { status: 200, bytes: Buffer.from('hellp'), headers: etag }, 'lakefs/checksum-mismatch'],
  ])('LC-118 that %s each time fails, and says so', async (_, trouble, code) => {
    const world = await scripted([trouble], { retry: { maxAttempts: 2 } })
    await expect(download(world)).rejects.toMatchObject({ kind: 'unavailable', code })
  })

  test('LC-118 that stops coming is a short body within the bound', async () => {
    const stalled: Reaction = { stallAfter: 2, bytes: Buffer.from('hello') }
    const world = await scripted([stalled], { timeouts: { bodyIdleMs: 50 }, retry: { maxAttempts: 1 } })
    await expect(download(world)).rejects.toMatchObject({ code: 'lakefs/short-body' })
  })

  test('LC-118 is not held against a checksum when that is not asked for', async () => {
    const world = await scripted([{ status: 200, bytes: Buffer.from('hellp'), headers: etag }])
    expect((await download(world, { verify: false })).text).toBe('hellp')
  })

  test('LC-118 is held against the checksum with the MD5 that its sink has, where the sink is to say it', async () => {
    const world = await scripted([{ status: 200, bytes: Buffer.from('hellp'), headers: etag }], {
      retry: { maxAttempts: 1 },
    })
    const sinkSaying = (md5: string) => () =>
      Object.assign(() => undefined, { md5: () => Promise.resolve(md5) })
    const options = { verify: 'by-sink' } as const
    expect(await world.download(HEAD, 'p', sinkSaying(HELLO_MD5), options)).toMatchObject({ sizeBytes: 5 })
    await expect(world.download(HEAD, 'p', sinkSaying('0'.repeat(32)), options)).rejects.toMatchObject({
      code: 'lakefs/checksum-mismatch',
    })
    await expect(world.download(HEAD, 'p', () => () => undefined, options)).rejects.toThrow('invariant')
  })

  test('LC-118 of what is not there is told as a value', async () => {
    const world = await scripted([
      { status: 404, json: { message: 'no such object' } },
      { status: 200, json: commitJson() },
    ])
    expect(await world.download(HEAD, 'p', () => () => undefined)).toBeUndefined()
  })

  test('LC-118 of many at once ask the server only once what it can do, and one that is aborted leaves it to the others', async () => {
    const world = await scripted([HELLO])
    const stop = new AbortController()
    const why = new Error('enough')
    const one = world.download(HEAD, 'p', () => () => undefined, { signal: stop.signal })
    const others = Array.from({ length: 8 }, () => download(world))
    stop.abort(why)
    await expect(one).rejects.toBe(why)
    expect((await Promise.all(others)).map(({ text }) => text)).toEqual(Array(8).fill('hello'))
    const configs = world.server.seen.filter(({ path }) => path.includes('/config'))
    expect(configs.length).toBeLessThanOrEqual(2)
  })

  test('LC-119 is aborted with its reason, in the middle too, and not tried again', async () => {
    const stalled: Reaction = { stallAfter: 2, bytes: Buffer.from('hello') }
    const world = await scripted([stalled])
    const stop = new AbortController()
    const why = new Error('enough')
    const open = () => () => {
      stop.abort(why)
      return undefined
    }
    await expect(world.download(HEAD, 'p', open, { signal: stop.signal })).rejects.toBe(why)
    expect(world.asked()).toBe(1)
  })

  test('LC-119 what its sink says is thrown as it is, and not tried again', async () => {
    const full = Object.assign(new Error('no room'), { code: 'ENOSPC' })
    for (const sink of [
      () => {
        throw full
      },
      () => Promise.reject(full),
    ]) {
      const world = await scripted([HELLO])
      await expect(world.download(HEAD, 'p', () => sink)).rejects.toBe(full)
      expect(world.asked()).toBe(1)
    }
  })

  test('LC-119 a sink that is slow holds the next piece back', async () => {
    const bytes = Buffer.alloc(4 * 1024 * 1024, 1)
    const world = await scripted([{ status: 200, bytes, headers: { etag: '"opaque-1"' } }])
    let underWay = 0
    let most = 0
    let seen = 0
    await world.download(HEAD, 'p', () => async (piece) => {
      underWay++
      most = Math.max(most, underWay)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      seen += piece.length
    })
    expect([seen, most]).toEqual([bytes.length, 1])
  })
})

function commitJson(): object {
  return {
    id: HEAD,
    parents: [],
    committer: 'me',
    message: 'm',
    creation_date: 1,
    meta_range_id: '',
    metadata: {},
  }
}
