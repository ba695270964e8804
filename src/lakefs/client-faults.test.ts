// Goal: whatever happens to a request, the caller learns the truth about it: done, surely not done, or unknown.
// Method: a scripted server decides for each request what becomes of it; a clock that does not wait counts the pauses.
import { Readable } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import {
  closedAddress,
  instantClock,
  startMuteServer,
  startScriptedServer,
  type Reaction,
  type ScriptedServer,
  type SeenRequest,
} from '../../test/conformance/scripted-server.ts'
import { branchName, commitRef, repositoryName } from '../base/ids.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import { createRepository, readServerInfo, setBranchProtection } from './administration.ts'
import { createLakefsClient, type LakefsClient, type LakefsClientOptions } from './client.ts'
import { openLakefsRepo } from './versioned-repo.ts'

const MAIN = branchName('main')
const HEAD = commitRef('a'.repeat(64))
const MERGED = commitRef('b'.repeat(64))
const CREDENTIALS = { accessKeyId: 'AKIATEST', secretAccessKey: 'very-secret-value' }
const CONFIG: Reaction = {
  status: 200,
  json: {
    storage_config: { blockstore_type: 'local', pre_sign_support: false },
    version_config: { version: 'x' },
  },
}
const BRANCH: Reaction = { status: 200, json: { id: 'main', commit_id: HEAD } }
const STORED_OBJECT = {
  path: 'p',
  path_type: 'object',
  checksum: '5d41402abc4b2a76b9719d911017c592',
  size_bytes: 5,
  mtime: 1_760_000_000,
  content_type: 'text/plain',
}
const STORED: Reaction = { status: 201, json: STORED_OBJECT }

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface World {
  readonly repo: VersionedRepo
  readonly client: LakefsClient
  readonly clock: ReturnType<typeof instantClock>
}

function connect(endpoint: string, options: Partial<LakefsClientOptions> = {}): World {
  const clock = instantClock()
  const client = createLakefsClient({ endpoint, ...CREDENTIALS, clock, ...options })
  closing.push(() => client.close())
  return { repo: openLakefsRepo(client, repositoryName('repo')), client, clock }
}

/** Requests other than the configuration get these reactions one after the other, the last one for ever. */
async function scripted(
  reactions: readonly Reaction[] | ((request: SeenRequest) => Reaction),
  options: Partial<LakefsClientOptions> = {},
): Promise<World & { readonly server: ScriptedServer; readonly asked: () => string[] }> {
  const isConfig = (request: SeenRequest): boolean => request.path.endsWith('/config')
  const server = await startScriptedServer((request, index) => {
    if (isConfig(request)) return CONFIG
    if (typeof reactions === 'function') return reactions(request)
    const earlier = server.seen.slice(0, index).filter((seen) => !isConfig(seen)).length
    return reactions[Math.min(earlier, reactions.length - 1)] ?? 'drop'
  })
  closing.push(() => server.close())
  const asked = (): string[] =>
    server.seen.filter((seen) => !isConfig(seen)).map((seen) => `${seen.method} ${seen.path.split('?')[0]!}`)
  return { server, asked, ...connect(server.url, options) }
}

const hello = { sizeBytes: 5, open: () => Buffer.from('hello') }

/** One operation of each class, and what it needs to be answered with. */
const MUTATIONS = {
  merge: (repo) => repo.merge({ source: MERGED, into: MAIN }),
  commit: (repo) => repo.commit({ branch: MAIN, message: 'm' }),
  createBranch: (repo) => repo.createBranch({ branch: MAIN, from: HEAD }),
  deleteBranch: (repo) => repo.deleteBranch(MAIN),
  createTag: (repo) => repo.createTag({ tag: 't', at: HEAD }),
  'write if absent': (repo) => repo.write({ branch: MAIN, path: 'p', body: hello, ifAbsent: true }),
} as const satisfies Record<string, (repo: VersionedRepo) => Promise<unknown>>

describe('an answer that is lost', () => {
  test.each(Object.keys(MUTATIONS) as (keyof typeof MUTATIONS)[])(
    'LC-70 after %s was received makes it uncertain, says what to read, and is not repeated',
    async (name) => {
      const { repo, asked, clock } = await scripted(['drop'])
      const failure = MUTATIONS[name](repo)
      await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/answer-lost' })
      await expect(failure).rejects.toHaveProperty('read', expect.stringMatching(/\w{4,}/))
      expect(asked()).toHaveLength(1)
      expect(clock.slept).toEqual([])
    },
  )

  test('LC-71 while something is read is asked for again', async () => {
    const { repo, asked, clock } = await scripted(['drop', 'drop', BRANCH])
    expect(await repo.readBranch(MAIN)).toEqual({ branch: MAIN, head: HEAD })
    expect(asked()).toHaveLength(3)
    expect(clock.slept).toHaveLength(2)
  })

  test('LC-72 of a write that may be repeated is made good by repeating it, with the whole body', async () => {
    let opened = 0
    const body = {
      sizeBytes: 5,
      open: () => {
        opened += 1
        return Buffer.from('hello')
      },
    }
    const { repo, server, asked } = await scripted(['drop', 'drop', STORED])
    expect(await repo.write({ branch: MAIN, path: 'p', body })).toMatchObject({ written: true })
    expect(asked()).toHaveLength(3)
    expect(opened).toBe(3)
    expect(server.seen.at(-1)?.body.toString()).toBe('hello')
  })

  test('LC-73 every time leaves a repeatable write uncertain too', async () => {
    const { repo, asked } = await scripted(['drop'], { retry: { maxAttempts: 3 } })
    const failure = repo.write({ branch: MAIN, path: 'p', body: hello })
    await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/answer-lost' })
    expect(asked()).toHaveLength(3)
  })

  test('LC-74 is not forgotten when the server is only busy afterwards', async () => {
    const busy: Reaction = { status: 503, json: { message: 'slow down' } }
    const { repo } = await scripted(['drop', busy], { retry: { maxAttempts: 3 } })
    const failure = repo.write({ branch: MAIN, path: 'p', body: hello })
    await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/answer-lost' })
  })

  test('LC-74 is not forgotten when no later try finds a server', async () => {
    let closed: Promise<void> | undefined
    const server = await startScriptedServer((request) => {
      if (request.path.endsWith('/config')) return CONFIG
      closed = server.close()
      return 'drop'
    })
    const { repo } = connect(server.url, { retry: { maxAttempts: 3 } })
    await expect(repo.write({ branch: MAIN, path: 'p', body: hello })).rejects.toMatchObject({
      kind: 'uncertain',
      code: 'lakefs/answer-lost',
      cause: { kind: 'unavailable', code: 'lakefs/unreachable' },
    })
    expect(server.seen).toHaveLength(2)
    await closed
  })

  test('LC-75 is settled by a clear answer afterwards', async () => {
    const { repo } = await scripted(['drop', { status: 403, json: { message: 'protected' } }])
    const failure = repo.write({ branch: MAIN, path: 'p', body: hello })
    await expect(failure).rejects.toMatchObject({ kind: 'refused', code: 'lakefs/forbidden' })
  })

  test('LC-76 half-way through is lost as well', async () => {
    const half: Reaction = {
      cutAfter: 4,
      bytes: Buffer.from(JSON.stringify({ reference: MERGED })),
      headers: { 'content-type': 'application/json' },
    }
    const { repo, asked } = await scripted([half])
    const failure = repo.merge({ source: MERGED, into: MAIN })
    await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/answer-lost' })
    expect(asked()).toHaveLength(1)
  })

  test('LC-77 because the server never answers ends within the bound', async () => {
    const { repo, asked } = await scripted(['silence'], { timeouts: { answerMs: 50 } })
    const failure = repo.merge({ source: MERGED, into: MAIN })
    await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/answer-lost' })
    expect(asked()).toHaveLength(1)
  })

  test('LC-78 because the caller gave up is uncertain for a merge, and plainly given up for a read', async () => {
    const stop = new AbortController()
    const { repo, asked } = await scripted(() => {
      setImmediate(() => stop.abort(new Error('enough')))
      return 'silence'
    })
    const merge = repo.merge({ source: MERGED, into: MAIN }, { signal: stop.signal })
    await expect(merge).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/answer-lost' })
    await expect(repo.readBranch(MAIN, { signal: stop.signal })).rejects.toThrow('enough')
    expect(asked()).toHaveLength(1)
  })
})

describe('a request that was surely not done', () => {
  test('LC-79 because nobody listens is tried again, and then unavailable; a merge is not tried again', async () => {
    const { repo, clock } = connect(await closedAddress(), { retry: { maxAttempts: 4 } })
    const gone = { kind: 'unavailable', code: 'lakefs/unreachable' }
    await expect(repo.merge({ source: MERGED, into: MAIN })).rejects.toMatchObject(gone)
    expect(clock.slept).toHaveLength(0)
    await expect(repo.commit({ branch: MAIN, message: 'm' })).rejects.toMatchObject(gone)
    expect(clock.slept).toHaveLength(3)
  })

  test.each([
    [423, 'held', 'unavailable'],
    [429, 'Too many attempts, try again later', 'unavailable'],
    [503, 'slow down', 'uncertain'],
    [408, 'too slow', 'uncertain'],
    [500, 'update branch: predicate failed', 'unavailable'],
    [502, 'bad gateway', 'uncertain'],
  ])(
    'LC-200 a merge and a move are sent once, whatever the answer: %i "%s"',
    async (status, message, kind) => {
      const answer: Reaction = { status, json: { message }, headers: { 'retry-after': '3' } }
      const { repo, asked, clock } = await scripted((request) => (request.method === 'GET' ? BRANCH : answer))
      const retryAfterMs = 3000
      const writes = [
        () => repo.merge({ source: MERGED, into: MAIN }),
        () => repo.moveBranch({ branch: MAIN, expectedHead: HEAD, to: MERGED }),
      ]
      for (const write of writes) await expect(write()).rejects.toMatchObject({ kind, retryAfterMs })
      expect(asked().filter((request) => !request.startsWith('GET'))).toHaveLength(2)
      expect(clock.slept).toEqual([])
    },
  )

  test.each([503, 408])(
    'LC-201 %i may come after the deed: it is uncertain, except for a reading',
    async (status) => {
      const answer: Reaction = { status, json: { message: 'slow down' }, headers: { 'retry-after': '7' } }
      for (const write of Object.values(MUTATIONS)) {
        const { repo, asked } = await scripted([answer])
        await expect(write(repo)).rejects.toMatchObject({ kind: 'uncertain', retryAfterMs: 7000 })
        expect(asked()).toHaveLength(1)
      }
      // Twice does no harm: it is sent again, after the wait that the server asked for.
      const upload = await scripted([answer, STORED])
      expect(await upload.repo.write({ branch: MAIN, path: 'p', body: hello })).toMatchObject({
        written: true,
      })
      expect(upload.clock.slept[0]).toBeGreaterThanOrEqual(7000)
      const reading = await scripted([answer])
      await expect(reading.repo.readBranch(MAIN)).rejects.toMatchObject({ kind: 'unavailable' })
    },
  )

  test.each([
    [423, 'held', 'lakefs/locked'],
    [429, 'too many', 'lakefs/too-many-requests'],
    [500, 'update branch: predicate failed', 'lakefs/contention'],
  ])('LC-80 says %i "%s": a commit is tried again until it is done', async (status, message, code) => {
    const made = {
      id: MERGED,
      parents: [HEAD],
      committer: 'c',
      message: 'm',
      creation_date: 1,
      meta_range_id: 'x',
    }
    const refused: Reaction = { status, json: { message } }
    const { repo, asked } = await scripted([refused, refused, { status: 201, json: made }])
    expect(await repo.commit({ branch: MAIN, message: 'm' })).toMatchObject({ committed: true })
    expect(asked()).toHaveLength(3)

    const never = await scripted([refused], { retry: { maxAttempts: 2 } })
    const failure = never.repo.commit({ branch: MAIN, message: 'm' })
    await expect(failure).rejects.toMatchObject({ kind: 'unavailable', code })
  })

  test('LC-81 waits at least as long as the server asks', async () => {
    const refused: Reaction = { status: 429, json: { message: 'later' }, headers: { 'retry-after': '7' } }
    const { repo, clock } = await scripted([refused, BRANCH])
    await repo.readBranch(MAIN)
    expect(clock.slept).toHaveLength(1)
    expect(clock.slept[0]).toBeGreaterThanOrEqual(7000)
  })

  test('LC-203 a guard is asked on a standing connection; when it says no, nothing is sent and it is asked to confirm again', async () => {
    const told: string[] = []
    const { repo, asked, server } = await scripted([{ status: 200, json: { reference: MERGED } }])
    const answers = [false, false, true]
    const guard = {
      confirm: () => (told.push(`confirm after ${asked().length}`), Promise.resolve(true)),
      mayBegin: () => (told.push('may begin'), answers.shift() ?? true),
    }
    expect(await repo.merge({ source: MERGED, into: MAIN }, { guard })).toMatchObject({ merged: true })
    expect(told).toEqual(Array.from({ length: 3 }, () => ['confirm after 0', 'may begin']).flat())
    expect(asked()).toHaveLength(1)

    const never = { confirm: () => Promise.resolve(true), mayBegin: () => false }
    for (const write of [
      () => repo.merge({ source: MERGED, into: MAIN }, { guard: never }),
      () => repo.moveBranch({ branch: MAIN, expectedHead: HEAD, to: MERGED }, { guard: never }),
    ])
      await expect(write()).rejects.toMatchObject({ kind: 'unavailable', code: 'lakefs/not-sent' })
    const no = { confirm: () => Promise.resolve(false), mayBegin: () => true }
    expect(await repo.merge({ source: MERGED, into: MAIN }, { guard: no })).toMatchObject({
      reason: 'withheld',
    })
    expect(asked()).toHaveLength(1)
    // What was withheld costs no connection.
    expect(new Set(server.seen.map(({ port }) => port)).size).toBe(1)
  })

  test('LC-202 a branch that was moved and is elsewhere when read back is not reported as moved', async () => {
    const elsewhere: Reaction = { status: 200, json: { id: 'main', commit_id: 'c'.repeat(64) } }
    const { repo } = await scripted([BRANCH, { status: 204 }, elsewhere])
    expect(await repo.moveBranch({ branch: MAIN, expectedHead: HEAD, to: MERGED })).toEqual({
      moved: false,
      head: 'c'.repeat(64),
    })
    const unread = await scripted([BRANCH, { status: 204 }, { status: 500, json: { message: 'oops' } }])
    await expect(
      unread.repo.moveBranch({ branch: MAIN, expectedHead: HEAD, to: MERGED }),
    ).rejects.toMatchObject({ kind: 'uncertain', cause: { kind: 'unavailable' } })
  })

  test('LC-82 lets fewer requests out side by side after the server asked to slow down', async () => {
    const tooMany: Reaction = { status: 429, json: { message: 'slow down' } }
    let reaction: Reaction = 'silence'
    const { repo, asked } = await scripted(() => reaction, { connectionsMax: 8, retry: { maxAttempts: 1 } })
    const outAtOnce = async (): Promise<number> => {
      const before = asked().length
      const stop = new AbortController()
      const reads = Array.from({ length: 12 }, () => repo.readBranch(MAIN, { signal: stop.signal }))
      const settled = Promise.allSettled(reads)
      await expect.poll(() => asked().length - before).toBeGreaterThanOrEqual(4)
      await new Promise((resolve) => setTimeout(resolve, 100))
      const seen = asked().length - before
      stop.abort()
      await settled
      return seen
    }
    expect(await outAtOnce()).toBe(8)
    reaction = tooMany
    await expect(repo.readBranch(MAIN)).rejects.toMatchObject({ kind: 'unavailable' })
    reaction = 'silence'
    expect(await outAtOnce()).toBe(4)
  })
})

describe('an answer that decides nothing', () => {
  test('LC-83 500 to a merge is uncertain and not repeated, to a read it is tried again', async () => {
    const trouble: Reaction = { status: 500, json: { message: 'oops' } }
    const merging = await scripted([trouble])
    const failure = merging.repo.merge({ source: MERGED, into: MAIN })
    await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/server-trouble' })
    expect(merging.asked()).toHaveLength(1)
    const reading = await scripted([trouble, BRANCH])
    expect(await reading.repo.readBranch(MAIN)).toMatchObject({ head: HEAD })
  })

  test('LC-84 400 to a merge or a commit is explained by what can be read, never by its text', async () => {
    const page = (changes: readonly object[]): Reaction => ({
      status: 200,
      json: { pagination: { has_more: false, next_offset: '' }, results: changes },
    })
    const change = { path: 'p', path_type: 'object', type: 'added' }
    const facts = { dirty: false, brings: false }
    const { repo } = await scripted((request) => {
      if (request.method === 'POST')
        return { status: 400, json: { message: 'misleading: dirty, no changes' } }
      if (request.path.includes('/branches/main/diff')) return page(facts.dirty ? [change] : [])
      return page(facts.brings ? [change] : [])
    })
    const merge = (): Promise<unknown> => repo.merge({ source: MERGED, into: MAIN })
    const commit = (): Promise<unknown> => repo.commit({ branch: MAIN, message: 'm' })
    expect(await merge()).toEqual({ merged: false, reason: 'nothing-to-merge' })
    expect(await commit()).toEqual({ committed: false, reason: 'nothing-to-commit' })
    facts.brings = true
    await expect(merge()).rejects.toMatchObject({ kind: 'unavailable', code: 'lakefs/unexplained-refusal' })
    facts.dirty = true
    expect(await merge()).toEqual({ merged: false, reason: 'dirty-target' })
    await expect(commit()).rejects.toMatchObject({ kind: 'unavailable', code: 'lakefs/unexplained-refusal' })
  })

  test('LC-113 a refusal whose cause is gone by the time it is read is asked about again', async () => {
    const dirty = { path: 'p', path_type: 'object', type: 'added' }
    let commits = 0
    const { repo } = await scripted((request) => {
      if (request.method === 'GET') {
        const results = commits === 1 ? [dirty] : []
        return { status: 200, json: { pagination: { has_more: false, next_offset: '' }, results } }
      }
      commits += 1
      return { status: 400, json: { message: 'no changes' } }
    })
    const outcome = await repo.commit({ branch: MAIN, message: 'm' })
    expect(outcome).toEqual({ committed: false, reason: 'nothing-to-commit' })
    expect(commits).toBe(2)
  })

  test('LC-85 a batch deletion that refuses single paths is an error that names them', async () => {
    const errors = [{ path: 'a\nb', status_code: 403, message: 'protected' }]
    const { repo } = await scripted([{ status: 200, json: { errors } }])
    const failure = repo.deleteObjects(MAIN, ['a\nb', 'c'])
    await expect(failure).rejects.toMatchObject({ kind: 'refused', code: 'lakefs/forbidden' })
    await expect(failure).rejects.toThrow(/a\\nb/)
  })

  test('LC-86 "done" for a batch deletion on a branch that is not there is an error', async () => {
    const { repo } = await scripted((request) => {
      if (request.method === 'POST') return { status: 200, json: { errors: [] } }
      return request.path.includes('/branches/')
        ? { status: 404, json: { message: 'none' } }
        : repositoryFound
    })
    const failure = repo.deleteObjects(MAIN, ['a'])
    await expect(failure).rejects.toMatchObject({ kind: 'missing', code: 'lakefs/no-such-branch' })
  })

  test('LC-87 a body that is not what was promised is no success', async () => {
    const strange: Reaction = { status: 200, json: { id: 'main', commit_id: 'not a commit' } }
    const reading = await scripted([strange])
    await expect(reading.repo.readBranch(MAIN)).rejects.toMatchObject({ code: 'lakefs/not-lakefs' })
    const merging = await scripted([{ status: 200, json: { reference: '' } }])
    const failure = merging.repo.merge({ source: MERGED, into: MAIN })
    await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/unknown-answer' })
  })
})

const repositoryFound: Reaction = {
  status: 200,
  json: { id: 'repo', creation_date: 1, default_branch: 'main', storage_namespace: 'local://repo' },
}

describe('bytes', () => {
  const etag = { etag: '"5d41402abc4b2a76b9719d911017c592"', 'content-type': 'text/plain' }

  async function download(world: World): Promise<string> {
    const opened = await world.repo.read(MAIN, 'p')
    const pieces: Buffer[] = []
    for await (const piece of opened?.body ?? []) pieces.push(piece as Buffer)
    return Buffer.concat(pieces).toString()
  }

  test('LC-88 a corrupted byte on the way down is a checksum error, at the end and not before', async () => {
    const whole = await scripted([{ status: 200, bytes: Buffer.from('hello'), headers: etag }])
    expect(await download(whole)).toBe('hello')
    const harmed = await scripted([{ status: 200, bytes: Buffer.from('hellp'), headers: etag }])
    await expect(download(harmed)).rejects.toMatchObject({ code: 'lakefs/checksum-mismatch' })
  })

  test('LC-89 a checksum that is no MD5 is not held against the bytes', async () => {
    for (const opaque of ['"fe1f8220e3dd212ef18d6ffcd08b6367-2"', '"0x8DCE2A3B"']) {
      const headers = { ...etag, etag: opaque }
      const world = await scripted([{ status: 200, bytes: Buffer.from('hellp'), headers }])
      expect(await download(world)).toBe('hellp')
    }
  })

  test('LC-90 a body that breaks off is a short body', async () => {
    const world = await scripted([{ cutAfter: 2, bytes: Buffer.from('hello'), headers: etag }])
    await expect(download(world)).rejects.toMatchObject({ kind: 'unavailable', code: 'lakefs/short-body' })
  })

  test('LC-91 a body that stops coming is a short body within the bound', async () => {
    const bytes = Buffer.from('hello')
    const world = await scripted([{ stallAfter: 2, bytes }], { timeouts: { bodyIdleMs: 50 } })
    await expect(download(world)).rejects.toMatchObject({ kind: 'unavailable', code: 'lakefs/short-body' })
  })

  test('LC-92 bytes that were harmed on the way up are sent again', async () => {
    const harmed: Reaction = { status: 201, json: { ...STORED_OBJECT, checksum: '0'.repeat(32) } }
    const { repo, asked } = await scripted([harmed, STORED])
    expect(await repo.write({ branch: MAIN, path: 'p', body: hello })).toMatchObject({ written: true })
    expect(asked()).toHaveLength(2)

    const taken = await scripted([harmed])
    const failure = taken.repo.write({ branch: MAIN, path: 'p', body: hello, ifAbsent: true })
    await expect(failure).rejects.toMatchObject({ kind: 'uncertain', code: 'lakefs/checksum-mismatch' })
  })

  test('LC-92 an object that is stored with another size is sent again, with checksums or without', async () => {
    for (const checksum of [STORED_OBJECT.checksum, 'opaque-2']) {
      const short: Reaction = { status: 201, json: { ...STORED_OBJECT, checksum, size_bytes: 4 } }
      const { repo, asked } = await scripted([short, { status: 201, json: { ...STORED_OBJECT, checksum } }])
      expect(await repo.write({ branch: MAIN, path: 'p', body: hello })).toMatchObject({ written: true })
      expect(asked()).toHaveLength(2)
      const never = await scripted([short], { retry: { maxAttempts: 2 } })
      await expect(never.repo.write({ branch: MAIN, path: 'p', body: hello })).rejects.toMatchObject({
        ...{ kind: 'unavailable', code: 'lakefs/short-body' },
      })
    }
  })

  test('LC-93 an upload is refused early without its body being sent to the end', async () => {
    const size = 64 * 1024 * 1024
    let taken = 0
    async function* pieces(): AsyncGenerator<Buffer> {
      for (; taken < size; taken += 65_536) {
        yield Buffer.alloc(65_536)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const body = { sizeBytes: size, open: () => Readable.from(pieces(), { objectMode: false }) }
    const server = await startScriptedServer(
      () => CONFIG,
      (head) => head.method === 'POST',
    )
    closing.push(() => server.close())
    const { repo } = connect(server.url, { retry: { maxAttempts: 1 } })
    await expect(repo.write({ branch: MAIN, path: 'p', body })).rejects.toMatchObject({ kind: 'uncertain' })
    expect(taken).toBeLessThan(size)
  })
})

describe('an endpoint that is not what it should be', () => {
  test.each<[string, Reaction, string]>([
    ['a web page', { status: 200, text: '<html>Welcome</html>', type: 'text/html' }, 'lakefs/not-lakefs'],
    ['a 404 page', { status: 404, text: '<html>404</html>', type: 'text/html' }, 'lakefs/not-lakefs'],
    ['a redirect', { status: 302, json: {}, headers: { location: 'http://x/' } }, 'lakefs/not-lakefs'],
    ['other JSON', { status: 200, json: { hello: 'world' } }, 'lakefs/not-lakefs'],
    ['a refusal of the key', { status: 401, json: { message: 'no' } }, 'lakefs/unauthorized'],
    ['a proxy login', { status: 401, text: 'Proxy says no', type: 'text/plain' }, 'lakefs/unauthorized'],
    [
      'an API without it',
      { status: 404, json: { message: 'invalid API endpoint' } },
      'lakefs/server-too-old',
    ],
  ])('LC-94 answers its configuration with %s', async (_, reaction, code) => {
    const server = await startScriptedServer(() => reaction)
    closing.push(() => server.close())
    const failure = readServerInfo(connect(server.url).client)
    await expect(failure).rejects.toMatchObject({ kind: 'invalid', code })
    await expect(failure).rejects.toHaveProperty('next', expect.stringMatching(/\w+/))
    expect(server.seen).toHaveLength(1)
  })

  test('LC-95 does not even speak HTTP', async () => {
    const server = await startMuteServer('SSH-2.0-OpenSSH_9.2\r\n')
    closing.push(() => server.close())
    const failure = readServerInfo(connect(server.url).client)
    await expect(failure).rejects.toMatchObject({ kind: 'invalid', code: 'lakefs/not-lakefs' })
  })

  test('LC-96 is too old for one operation', async () => {
    const { repo } = await scripted([{ status: 404, json: { message: 'invalid API endpoint' } }])
    const failure = repo.readBranch(MAIN)
    await expect(failure).rejects.toMatchObject({ kind: 'invalid', code: 'lakefs/server-too-old' })
  })

  test('LC-97 bad credentials are refused before anything is sent', () => {
    for (const bad of [{ accessKeyId: '' }, { secretAccessKey: '' }, { accessKeyId: 'a:b' }]) {
      expect(() => connect('http://127.0.0.1:1', bad)).toThrow(/credentials/)
    }
  })
})

test('LC-98 the secret is in no error, even when the server says it', async () => {
  const { client } = await scripted([
    { status: 400, json: { message: `who told you ${CREDENTIALS.secretAccessKey}?` } },
  ])
  const repository = repositoryName('repo')
  const failure = setBranchProtection(client, { repository, patterns: [] })
  await expect(failure).rejects.toMatchObject({ code: 'lakefs/bad-request' })
  const error: unknown = await failure.catch((thrown: unknown) => thrown)
  const shown = [String(error), JSON.stringify(error), (error as Error).stack].join('\n')
  expect(shown).toContain('who told you')
  expect(shown).not.toContain(CREDENTIALS.secretAccessKey)
})

test('LC-99 a lost creation of a repository is uncertain, a repository that is there is said', async () => {
  const request = { repository: repositoryName('repo'), storageNamespace: 'local://x' }
  const lost = await scripted(['drop'])
  await expect(createRepository(lost.client, request)).rejects.toMatchObject({ kind: 'uncertain' })
  const there = await scripted([{ status: 409, json: { message: 'exists' } }])
  expect(await createRepository(there.client, request)).toEqual({ created: false })
})
