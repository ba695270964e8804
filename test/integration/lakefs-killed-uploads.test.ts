// Goal: of many uploads at once, which share their syncs, a kill -9 of the server takes none that was answered, and leaves
// none by half.
// Method: 48 clients upload to one branch, each small and large bodies under names of its own and, only creating, under
// names that all of them want; after so many answers the server is killed, again and again, on one directory. PERAGO_KILLS and
// PERAGO_SEED as in lakefs-killed.test.ts.
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { expect, test } from 'vitest'
import { forEachBounded } from '../../src/base/for-each-bounded.ts'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { checkDataDir } from '../../src/embedded/lakefs/engine/fsck.ts'
import { startLakefsProcess, TEST_ACCESS_KEY, TEST_SECRET_KEY } from '../support/lakefs-process.ts'

const KILLS = Number(process.env['PERAGO_KILLS'] ?? (process.env['CI'] === 'true' ? 60 : 8))
const SEED = Number(process.env['PERAGO_SEED'] ?? Date.now() % 1_000_000)
const CLIENTS = 48
const READS_AT_ONCE = 16
/** Answers after which the server is killed, at most. */
const ANSWERS_MAX = 400
/** Around what goes into the journal, and what does not. */
const SIZES = [0, 1, 1_000, 4_096, 32_768, 32_769, 200_000]
const AUTHORIZATION = `Basic ${Buffer.from(`${TEST_ACCESS_KEY}:${TEST_SECRET_KEY}`).toString('base64')}`

class Uploads {
  /** Path to the MD5 that was answered. */
  readonly answered = new Map<string, string>()
  /** Path to every MD5 that was ever sent there. */
  readonly sent = new Map<string, Set<string>>()
  refused = 0
  #answers = 0
  #stop: { readonly at: number; reached(): void } | undefined

  /** Resolves after so many more answers. */
  after(answers: number): Promise<void> {
    return new Promise((reached) => (this.#stop = { at: this.#answers + answers, reached }))
  }

  async load(pool: Pool, lane: string, random: Random): Promise<void> {
    for (let turn = 0; ; turn++) {
      const size = SIZES[Math.floor(random.next() * SIZES.length)]!
      // Some have the same content at the same time.
      const body = Buffer.alloc(size, random.next() < 0.2 ? 'the same ' : `${lane} ${turn} `)
      const isWanted = random.next() < 0.2
      const path = isWanted ? `wanted-${turn}-${lane.split('-')[0]}` : `${lane}-${turn}`
      const md5 = createHash('md5').update(body).digest('hex')
      this.sent.set(path, (this.sent.get(path) ?? new Set()).add(md5))
      try {
        const answer = await pool.request({
          method: 'POST',
          path: `/api/v1/repositories/killed/branches/main/objects?path=${path}`,
          headers: {
            authorization: AUTHORIZATION,
            'content-type': 'application/octet-stream',
            ...(isWanted && { 'if-none-match': '*' }),
          },
          body,
        })
        const text = await answer.body.text()
        this.#answers++
        if (this.#answers === this.#stop?.at) this.#stop.reached()
        if (answer.statusCode === 412 && isWanted) this.refused++
        else {
          expect(answer.statusCode).toBe(201)
          expect(JSON.parse(text)).toMatchObject({ path, checksum: md5, size_bytes: size })
          // Of all who only create it one succeeds.
          expect(this.answered.has(path)).toBe(false)
          this.answered.set(path, md5)
        }
      } catch (error) {
        if (error instanceof Error && 'code' in error && /^(?:UND_ERR|ECONN|EPIPE)/.test(String(error.code)))
          return
        throw error
      }
    }
  }

  /** Everything that was answered is listed, and everything listed has the bytes that somebody sent there. */
  async verify(pool: Pool): Promise<void> {
    const listed = await list(pool)
    for (const [path, md5] of this.answered) expect([path, listed.get(path)]).toEqual([path, md5])
    await forEachBounded(listed, { limit: READS_AT_ONCE }, async ([path, checksum]) => {
      expect(this.sent.get(path)).toContain(checksum)
      const answer = await get(pool, `/refs/main/objects?path=${path}`)
      expect([path, md5Of(answer.bytes)]).toEqual([path, checksum])
      // What was under way at the kill has happened, or has not, for good.
      this.answered.set(path, checksum)
    })
  }
}

test(
  `ES-307 kill -9 among many parallel uploads loses none that was answered and leaves none by half (${KILLS} kills, seed ${SEED})`,
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'perago-killed-uploads-'))
    const random = seededRandom(SEED)
    const uploads = new Uploads()
    try {
      for (let round = 0; round <= KILLS; round++) {
        const lakefs = await startLakefsProcess(dataDir)
        const pool = new Pool(lakefs.url, { connections: CLIENTS })
        try {
          if (round === 0) await makeRepository(pool)
          else await uploads.verify(pool)
          if (round < KILLS) {
            const enough = uploads.after(1 + Math.floor(random.next() * ANSWERS_MAX))
            const loads = Promise.all(
              Array.from({ length: CLIENTS }, (_, lane) =>
                uploads.load(pool, `${round}-${lane}`, seededRandom(SEED + round * CLIENTS + lane)),
              ),
            )
            // A failing client must not wait until the kill is noticed.
            await Promise.race([loads, enough])
            await lakefs.kill()
            await loads
            // As it stands after the kill, before any start looks at it.
            expect((await checkDataDir(dataDir)).damages).toEqual([])
          } else expect(await lakefs.stop()).toBe(0)
        } finally {
          await lakefs.kill()
          await pool.destroy()
        }
      }
    } finally {
      await rm(dataDir, { recursive: true })
    }
    console.log(`kills ${KILLS}, answered ${uploads.answered.size}, refused ${uploads.refused}`)
    expect(uploads.answered.size).toBeGreaterThan(KILLS)
    expect(uploads.refused).toBeGreaterThan(0)
  },
  30 * 60_000,
)

async function makeRepository(pool: Pool): Promise<void> {
  const answer = await pool.request({
    method: 'POST',
    path: '/api/v1/repositories',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'killed', storage_namespace: 'local://killed' }),
  })
  await answer.body.dump()
  expect(answer.statusCode).toBe(201)
}

async function list(pool: Pool): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (let after = '', isMore = true; isMore;) {
    const { bytes } = await get(pool, `/refs/main/objects/ls?amount=1000&after=${encodeURIComponent(after)}`)
    const page = JSON.parse(bytes.toString()) as {
      readonly results: readonly { readonly path: string; readonly checksum: string }[]
      readonly pagination: { readonly has_more: boolean; readonly next_offset: string }
    }
    for (const { path, checksum } of page.results) found.set(path, checksum)
    isMore = page.pagination.has_more
    after = page.pagination.next_offset
  }
  return found
}

async function get(pool: Pool, path: string): Promise<{ readonly bytes: Buffer }> {
  const answer = await pool.request({
    method: 'GET',
    path: `/api/v1/repositories/killed${path}`,
    headers: { authorization: AUTHORIZATION },
  })
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  expect(answer.statusCode).toBe(200)
  return { bytes }
}

function md5Of(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex')
}
