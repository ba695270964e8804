// Goal: bytes that go around lakeFS arrive, and nothing that opens lakeFS goes with them.
// Method: one scripted server plays lakeFS, another the object store; both remember what they were sent.
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import {
  instantClock,
  startMuteServer,
  startScriptedServer,
  type Reaction,
  type ScriptedServer,
  type SeenRequest,
} from '../../test/conformance/scripted-server.ts'
import type { Clock } from '../base/clock.ts'
import { branchName, repositoryName } from '../base/ids.ts'
import type { UploadBody, VersionedRepo } from '../publication/ports.ts'
import { createLakefsClient } from './client.ts'
import { openLakefsRepo } from './versioned-repo.ts'

const MAIN = branchName('main')
const SECRET = 'very-secret-value'
const PART = 10
const MD5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface World {
  readonly repo: VersionedRepo
  readonly lakefs: ScriptedServer
  readonly store: ScriptedServer
  /** What lakeFS was told to link or complete. */
  readonly linked: () => Record<string, unknown>[]
}

async function openWorld(
  options: {
    readonly store?: (request: SeenRequest, index: number) => Reaction | undefined
    readonly lakefs?: (request: SeenRequest) => Reaction | undefined
    readonly clock?: Clock
  } = {},
): Promise<World> {
  let addresses = 0
  const store = await startScriptedServer((request, index) => {
    const own = options.store?.(request, index)
    if (own !== undefined) return own
    if (request.method === 'GET') return { status: 200, bytes: Buffer.from('hello') }
    return { status: 200, json: {}, headers: { etag: `"${MD5(request.body)}"` } }
  })
  const lakefs = await startScriptedServer((request) => {
    const own = options.lakefs?.(request)
    if (own !== undefined) return own
    const [path = ''] = request.path.split('?')
    if (path.endsWith('/config')) return { status: 200, json: CONFIG }
    const address = `${store.url}/bucket/key-${++addresses}?X-Amz-Signature=signed-${addresses}`
    if (path.endsWith('/objects/stat')) return { status: 200, json: { ...OBJECT, physical_address: address } }
    if (path.endsWith('/staging/backing')) {
      if (request.method === 'GET') {
        return {
          status: 200,
          json: { physical_address: `s3://bucket/key-${addresses}`, presigned_url: address },
        }
      }
      return { status: 200, json: stored(request) }
    }
    if (path.endsWith('/staging/pmpu')) {
      const parts = Number(new URLSearchParams(request.path.split('?')[1]).get('parts'))
      const presigned_urls = Array.from({ length: parts }, (_, index) => `${address}&partNumber=${index + 1}`)
      return {
        status: 201,
        json: { upload_id: 'u/1', physical_address: 's3://bucket/whole', presigned_urls },
      }
    }
    const [, part] = /\/parts\/(\d+)$/.exec(path) ?? []
    if (part !== undefined)
      return { status: 200, json: { presigned_url: `${address}&partNumber=${part}&again` } }
    if (request.method === 'DELETE') return { status: 204 }
    return { status: 200, json: { ...stored(request), size_bytes: 45, checksum: `${MD5(request.body)}-5` } }
  })
  const client = createLakefsClient({
    endpoint: lakefs.url,
    accessKeyId: 'AKIATEST',
    secretAccessKey: SECRET,
    clock: options.clock ?? instantClock(),
    retry: { maxAttempts: 3 },
    multipart: { thresholdBytes: 40, partBytes: PART, partsInFlight: 2 },
  })
  closing.push(
    () => store.close(),
    () => lakefs.close(),
    () => client.close(),
  )
  return {
    repo: openLakefsRepo(client, repositoryName('repo')),
    lakefs,
    store,
    linked: () =>
      lakefs.seen
        .filter((request) => request.method === 'PUT' && !request.path.includes('/parts/'))
        .map((request) => JSON.parse(request.body.toString()) as Record<string, unknown>),
  }
}

const CONFIG = {
  storage_config: { blockstore_type: 's3', pre_sign_support: true, pre_sign_multipart_upload: true },
  version_config: { version: 'x' },
}
const OBJECT = {
  path: 'p',
  path_type: 'object',
  checksum: MD5(Buffer.from('hello')),
  size_bytes: 5,
  mtime: 1_760_000_000,
  content_type: 'text/plain',
}

/** lakeFS believes what it is told. */
function stored(request: SeenRequest): object {
  const told = (request.body.length > 0 ? JSON.parse(request.body.toString()) : {}) as Record<string, unknown>
  return { ...OBJECT, checksum: told['checksum'], size_bytes: told['size_bytes'] }
}

const hello: UploadBody = { sizeBytes: 5, open: () => Buffer.from('hello') }
/** Five parts, the last one half as long. */
const LETTERS = 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeee'
const large: UploadBody = { sizeBytes: 45, open: () => Buffer.from(LETTERS) }

test('LC-100 no credentials go to the object store, on no way', async () => {
  const { repo, store, lakefs } = await openWorld()
  await repo.write({ branch: MAIN, path: 'p', body: hello })
  await repo.write({ branch: MAIN, path: 'p', body: large })
  const opened = await repo.read(MAIN, 'p')
  expect((await buffer(opened!.body)).toString()).toBe('hello')
  expect(store.seen.length).toBe(7)
  for (const request of store.seen) {
    expect(Object.keys(request.headers)).not.toContain('authorization')
    expect(JSON.stringify(request.headers) + request.path).not.toContain(SECRET)
  }
  expect(lakefs.seen.every((request) => request.headers.authorization?.startsWith('Basic '))).toBe(true)
})

test('LC-101 what is linked is what the store said it holds, with type and metadata', async () => {
  const { repo, store, linked } = await openWorld()
  const request = { branch: MAIN, path: 'p', body: hello, contentType: 'text/x', metadata: { k: 'v' } }
  expect(await repo.write(request)).toMatchObject({ written: true, object: { sizeBytes: 5 } })
  expect(store.seen[0]?.body.toString()).toBe('hello')
  expect(linked()).toEqual([
    {
      staging: { physical_address: 's3://bucket/key-1' },
      checksum: MD5(Buffer.from('hello')),
      size_bytes: 5,
      content_type: 'text/x',
      user_metadata: { k: 'v' },
    },
  ])
})

test('LC-102 an address the store refuses is replaced by a new one', async () => {
  const { repo, store, linked } = await openWorld({
    store: (request, index) =>
      index === 0 ? { status: 403, text: request.path, type: 'text/xml' } : undefined,
  })
  expect(await repo.write({ branch: MAIN, path: 'p', body: hello })).toMatchObject({ written: true })
  expect(new Set(store.seen.map((request) => request.path)).size).toBe(2)
  expect(linked()).toMatchObject([{ staging: { physical_address: 's3://bucket/key-2' } }])
})

test.each([
  ['trouble', { status: 503, json: {} }],
  ['a dropped connection', 'drop'],
] as const)('LC-103 %s of the store is waited out, both ways', async (_, reaction) => {
  const { repo, store } = await openWorld({ store: (__, index) => (index % 2 === 0 ? reaction : undefined) })
  expect(await repo.write({ branch: MAIN, path: 'p', body: hello })).toMatchObject({ written: true })
  const opened = await repo.read(MAIN, 'p')
  expect((await buffer(opened!.body)).toString()).toBe('hello')
  expect(store.seen).toHaveLength(4)
})

test('a response of the store that is not HTTP is tried again with a new address, up and down', async () => {
  const garbled = await startMuteServer('SSH-2.0-OpenSSH_9.2\r\n')
  closing.push(() => garbled.close())
  const asked = new Set<string>()
  const { repo, linked } = await openWorld({
    lakefs: ({ method, path }) => {
      if (method !== 'GET' || path.includes('/config') || asked.has(path)) return undefined
      asked.add(path)
      const addresses = { physical_address: garbled.url, presigned_url: garbled.url }
      return { status: 200, json: path.includes('/staging/') ? addresses : { ...OBJECT, ...addresses } }
    },
  })
  const opened = await repo.read(MAIN, 'p')
  expect(await buffer(opened!.body)).toEqual(Buffer.from('hello'))
  await repo.write({ branch: MAIN, path: 'p', body: hello })
  expect(linked()).toHaveLength(1)
  expect(asked.size).toBe(2)
})

test('LC-104 a store that stays away is unavailable, and no signed address is shown', async () => {
  const { repo } = await openWorld({
    store: () => ({ status: 503, text: 'X-Amz-Signature', type: 'text/xml' }),
  })
  const failure = repo.write({ branch: MAIN, path: 'p', body: hello })
  await expect(failure).rejects.toMatchObject({ kind: 'unavailable', code: 'lakefs/store-trouble' })
  const error: unknown = await failure.catch((thrown: unknown) => thrown)
  expect([String(error), JSON.stringify(error), (error as Error).stack].join()).not.toMatch(/signed-|X-Amz/)
})

test('LC-105 a large body goes in parts, a few at a time, and is completed in order', async () => {
  const { repo, store, linked } = await openWorld()
  expect(await repo.write({ branch: MAIN, path: 'p', body: large })).toMatchObject({ written: true })
  const parts = new Map(
    store.seen.map((request) => [
      Number(new URLSearchParams(request.path.split('?')[1]).get('partNumber')),
      request.body.toString(),
    ]),
  )
  expect([1, 2, 3, 4, 5].map((number) => parts.get(number)).join('')).toBe(LETTERS)
  const [completion] = linked()
  expect(completion).toMatchObject({ physical_address: 's3://bucket/whole' })
  expect(completion?.['parts']).toEqual(
    [1, 2, 3, 4, 5].map((number) => ({ part_number: number, etag: MD5(Buffer.from(parts.get(number)!)) })),
  )
})

test('LC-220 a part whose address has got too old goes to a new one; what arrived is not sent again', async () => {
  const { repo, store, linked } = await openWorld({
    store: ({ path }) =>
      /partNumber=[345]/.test(path) && !path.includes('again')
        ? { status: 403, text: 'Request has expired', type: 'text/xml' }
        : undefined,
  })
  expect(await repo.write({ branch: MAIN, path: 'p', body: large })).toMatchObject({ written: true })
  const arrived = store.seen.filter(({ path }) => !/partNumber=[345](?!.*again)/.test(path))
  expect(arrived.map(({ body }) => body.toString()).toSorted()).toEqual(
    [0, 1, 2, 3, 4].map((number) => LETTERS.slice(number * PART, (number + 1) * PART)),
  )
  expect(linked()).toMatchObject([{ parts: [1, 2, 3, 4, 5].map((part_number) => ({ part_number })) }])
})

test('LC-220 where lakeFS signs no part again, the refusal of the store is what is told', async () => {
  const { repo, lakefs } = await openWorld({
    store: ({ path }) => (path.includes('partNumber=2') ? { status: 403, json: {} } : undefined),
    lakefs: ({ path }) =>
      path.includes('/parts/') ? { status: 404, json: { message: 'invalid API endpoint' } } : undefined,
  })
  const failure = repo.write({ branch: MAIN, path: 'p', body: large })
  await expect(failure).rejects.toMatchObject({ kind: 'unavailable', code: 'lakefs/presigned-refused' })
  expect(lakefs.seen.at(-1)?.method).toBe('DELETE')
})

test.each([
  [10, true],
  [4, false],
])('LC-221 at %i hours for each of five parts an upload is given up early: %j', async (hours, isGivenUp) => {
  let partsSent = 0
  const clock = { ...instantClock(), monotonicMs: () => partsSent * hours * 3_600_000 }
  const { repo, lakefs } = await openWorld({
    clock,
    store: () => {
      partsSent += 1
      return undefined
    },
  })
  const outcome = repo.write({ branch: MAIN, path: 'p', body: large })
  if (!isGivenUp) {
    expect(await outcome).toMatchObject({ written: true })
    return
  }
  await expect(outcome).rejects.toMatchObject({ kind: 'unavailable', code: 'lakefs/upload-too-slow' })
  expect(lakefs.seen.at(-1)?.method).toBe('DELETE')
})

test('LC-106 when a part cannot be sent the others are stopped and the upload is given up', async () => {
  const { repo, lakefs, linked } = await openWorld({
    store: (request) => (request.path.includes('partNumber=2') ? { status: 400, json: {} } : undefined),
  })
  await expect(repo.write({ branch: MAIN, path: 'p', body: large })).rejects.toMatchObject({
    kind: 'unavailable',
    code: 'lakefs/presigned-refused',
  })
  expect(linked()).toEqual([])
  const last = lakefs.seen.at(-1)
  expect(`${last?.method} ${last?.path}`).toMatch(/^DELETE .*\/staging\/pmpu\/u%2F1\?path=p$/)
})

test('LC-107 a completion whose answer was lost is uncertain, and nothing is torn up', async () => {
  const { repo, lakefs } = await openWorld({
    lakefs: (request) => (request.method === 'PUT' ? 'drop' : undefined),
  })
  const failure = repo.write({ branch: MAIN, path: 'p', body: large })
  await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/answer-lost' })
  expect(lakefs.seen.filter((request) => request.method === 'PUT')).toHaveLength(1)
  expect(lakefs.seen.filter((request) => request.method === 'DELETE')).toEqual([])
})

test('LC-108 a broken source gives up the upload, and is named', async () => {
  const { repo, lakefs } = await openWorld()
  const short: UploadBody = { sizeBytes: 45, open: () => Buffer.from('only a few bytes') }
  const failure = repo.write({ branch: MAIN, path: 'p', body: short })
  await expect(failure).rejects.toMatchObject({ kind: 'invalid', code: 'lakefs/body-length' })
  expect(lakefs.seen.at(-1)?.method).toBe('DELETE')
})

test('LC-109 a write to a free path goes in one piece, however large, and the link carries the condition', async () => {
  const { repo, lakefs, store } = await openWorld({
    lakefs: (request) =>
      request.method === 'PUT' ? { status: 412, json: { message: 'there already' } } : undefined,
  })
  const outcome = await repo.write({ branch: MAIN, path: 'p', body: large, ifAbsent: true })
  expect(outcome).toEqual({ written: false, reason: 'exists' })
  expect(store.seen).toHaveLength(1)
  expect(lakefs.seen.at(-1)?.headers['if-none-match']).toBe('*')
})

test('LC-110 a download whose length is not the stored one is a short body', async () => {
  const { repo } = await openWorld({ store: () => ({ status: 200, bytes: Buffer.from('hell') }) })
  const opened = await repo.read(MAIN, 'p')
  await expect(buffer(opened!.body)).rejects.toMatchObject({ code: 'lakefs/short-body' })
})

test('LC-111 what may be an MD5 and need not be is not held against the bytes of an object store', async () => {
  const { repo } = await openWorld({ store: () => ({ status: 200, bytes: Buffer.from('jello') }) })
  const opened = await repo.read(MAIN, 'p')
  expect((await buffer(opened!.body)).toString()).toBe('jello')
})

test('LC-112 an upload that is given up by its caller is given up everywhere', async () => {
  const stop = new AbortController()
  const { repo, lakefs } = await openWorld({
    store: (request) => {
      if (request.path.includes('partNumber=1')) setImmediate(() => stop.abort(new Error('enough')))
      return 'silence'
    },
  })
  const failure = repo.write({ branch: MAIN, path: 'p', body: large }, { signal: stop.signal })
  await expect(failure).rejects.toThrow('enough')
  expect(lakefs.seen.at(-1)?.method).toBe('DELETE')
})
