// Goal: lakeFS or its store being away is told from everything else that can be wrong, and what may wait for it waits.
// Method: scripted servers play both; only the pauses between probes take real time.
import { afterEach, expect, test } from 'vitest'
import {
  closedAddress,
  startScriptedServer,
  type Reaction,
  type ScriptedServer,
  type SeenRequest,
} from '../../test/conformance/scripted-server.ts'
import { systemClock } from '../base/clock.ts'
import { branchName, commitRef, repositoryName } from '../base/ids.ts'
import { silentLogger } from '../base/logger.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import { createLakefsClient } from './client.ts'
import { LakefsWatch } from './lakefs-watch.ts'
import { openLakefsRepo } from './versioned-repo.ts'

const MAIN = branchName('main')
const HEAD = commitRef('a'.repeat(64))
const CREDENTIALS = { accessKeyId: 'AKIATEST', secretAccessKey: 'very-secret-value' }
const BRANCH: Reaction = { status: 200, json: { id: 'main', commit_id: HEAD } }
const REPOSITORIES: Reaction = {
  status: 200,
  json: { pagination: { has_more: false, next_offset: '', results: 0, max_per_page: 1000 }, results: [] },
}
const MISSING: Reaction = { status: 404, json: { message: 'not found' } }

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(react: (request: SeenRequest) => Reaction): Promise<ScriptedServer> {
  const server = await startScriptedServer(react)
  closing.push(() => server.close())
  return server
}

interface World {
  readonly watch: LakefsWatch
  readonly repo: VersionedRepo
}

function connect(endpoint: string): World {
  const prober = createLakefsClient({ endpoint, ...CREDENTIALS, connectionsMax: 1 })
  const availability = new LakefsWatch(prober, { clock: systemClock, logger: silentLogger })
  const retry = { maxAttempts: 2, firstDelayMs: 1 }
  const client = createLakefsClient({ endpoint, ...CREDENTIALS, availability, retry })
  closing.push(
    () => prober.close(),
    () => client.close(),
    () => availability.close(),
  )
  return { watch: availability, repo: openLakefsRepo(client, repositoryName('demo')) }
}

const isProbe = ({ path }: SeenRequest): boolean => path.includes('/repositories?')

/** What is away, after the first probe. */
async function awayAt(endpoint: string): Promise<readonly string[]> {
  const { watch } = connect(endpoint)
  await watch.findAwaySince(systemClock.monotonicMs())
  return watch.outages().map(({ what }) => what)
}

const AWAY: readonly (readonly [string, Reaction])[] = [
  ['503 to everything', { status: 503, json: { message: 'slow down' } }],
  ['500, as without its database', { status: 500, json: { message: 'no database' } }],
  ['a text by an ingress', { status: 404, text: 'default backend - 404', type: 'text/plain' }],
  ['a web page', { status: 200, text: '<html>sign in</html>', type: 'text/html' }],
  ['a dropped connection', 'drop'],
]

test.each(AWAY)('WK-230 lakeFS that answers %s is away', async (_, reaction) => {
  const { url } = await serve(() => reaction)
  expect(await awayAt(url)).toEqual(['lakefs'])
})

test('WK-230 lakeFS whose address refuses is away, and says so', async () => {
  const { watch } = connect(await closedAddress())
  await watch.findAwaySince(systemClock.monotonicMs())
  expect(watch.outages()[0]?.why).toMatch(/^lakeFS is away: .*ECONNREFUSED/)
})

test.each([[200], [401], [403], [429]])('WK-231 lakeFS that answers %d is there', async (status) => {
  const { url } = await serve(() => (status === 200 ? REPOSITORIES : { status, json: { message: 'no' } }))
  expect(await awayAt(url)).toEqual([])
})

test('WK-233 a reading waits for lakeFS to come back, and is not failed by the outage', async () => {
  let isAway = true
  const { url } = await serve((request) => {
    if (isAway) return { status: 503, json: { message: 'slow down' } }
    return isProbe(request) ? REPOSITORIES : BRANCH
  })
  const { repo, watch } = connect(url)
  const reading = repo.readBranch(MAIN)
  await expect.poll(() => watch.outages().length).toBe(1)
  isAway = false
  expect(await reading).toMatchObject({ head: HEAD })
  expect(watch.outages()).toEqual([])
})

test('WK-233 a merge does not wait, because it must not be sent twice', async () => {
  const { url, seen } = await serve(() => ({ status: 502, json: { message: 'gone' } }))
  const { repo } = connect(url)
  const merge = repo.merge({ into: MAIN, source: HEAD, message: 'm', metadata: {} })
  await expect(merge).rejects.toMatchObject({ kind: 'uncertain' })
  expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(1)
})

test('WK-234 a missing repository or object, or one request in trouble, is no outage', async () => {
  const { url } = await serve((request) => {
    if (isProbe(request)) return REPOSITORIES
    if (request.path.endsWith('/config')) return { status: 200, json: PRESIGNED }
    return request.path.includes('/branches/') ? { status: 500, json: { message: 'no' } } : MISSING
  })
  const { repo, watch } = connect(url)
  const since = systemClock.monotonicMs()
  const missing: unknown = await repo.stat(HEAD, 'a').catch((error: unknown) => error)
  expect(missing).toMatchObject({ code: 'lakefs/no-such-repository' })
  expect(await watch.explain(missing, since)).toBeUndefined()
  const trouble: unknown = await repo.readBranch(MAIN).catch((error: unknown) => error)
  expect(trouble).toMatchObject({ code: 'lakefs/server-trouble' })
  expect(await watch.explain(trouble, since)).toBeUndefined()
})

test('WK-234 an object store behind presigned addresses that is away explains a failure, one that refuses does not', async () => {
  let store: Reaction = { status: 503, json: {} }
  const { url: storeUrl } = await serve(() => store)
  const { url } = await serve((request) => {
    if (isProbe(request)) return REPOSITORIES
    if (request.path.endsWith('/config')) return { status: 200, json: PRESIGNED }
    const object = { path: 'a', path_type: 'object', checksum: 'x', size_bytes: 5, mtime: 1 }
    return { status: 200, json: { ...object, physical_address: `${storeUrl}/a?signed` } }
  })
  const { repo, watch } = connect(url)
  const since = systemClock.monotonicMs()
  const signal = AbortSignal.timeout(500)
  await expect(repo.read(HEAD, 'a', { signal })).rejects.toThrow('timeout')
  expect(watch.outages()).toMatchObject([{ what: 'object-store' }])
  store = { status: 403, json: {} }
  await expect.poll(() => watch.outages(), { timeout: 5_000 }).toEqual([])
  const refused: unknown = await repo.read(HEAD, 'a').catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'lakefs/presigned-refused' })
  expect(await watch.explain(refused, since)).toBeUndefined()
})

const PRESIGNED = {
  storage_config: { blockstore_type: 's3', pre_sign_support: true, pre_sign_multipart_upload: false },
  version_config: { version: 'x' },
}
