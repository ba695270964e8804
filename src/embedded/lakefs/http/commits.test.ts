import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'
import type { CommitDocument, LakefsRequests } from '../../../../test/support/lakefs-requests.ts'

const lakefs = useEmbeddedLakefs()

test('ES-50 a commit', async () => {
  const api = await lakefs.open()
  const root = await api.head('main')
  const commit = (json: object, branch = 'main') => api.send('POST', `~/branches/${branch}/commits`, { json })
  await api.put('main', 'a')
  const made = await commit({ message: 'one', metadata: { run: '1', 'dotted.key/x': 'ü' } })
  expect(made.status).toBe(201)
  expect(made.json).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    parents: [root],
    committer: 'admin',
    message: 'one',
    creation_date: expect.any(Number) as number,
    meta_range_id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    metadata: { run: '1', 'dotted.key/x': 'ü' },
    generation: 2,
    version: 1,
  })
  expect(await api.commitOf('main')).toEqual(made.json)
  expect((await commit({ message: 'nothing' })).status).toBe(400)
  expect((await commit({ message: 'nothing', allow_empty: true })).status).toBe(201)
  await api.put('main', 'b')
  expect((await commit({ message: '' })).json).toMatchObject({ message: '' })
  await api.put('main', 'c')
  expect((await commit({ message: 'dated', date: 1_400_000_000 })).json).toMatchObject({
    creation_date: 1_400_000_000,
  })
  await api.put('main', 'd')
  for (const json of [
    {},
    { message: 1 },
    { message: 'x', metadata: { n: 1 } },
    { message: 'x', date: 'now' },
  ]) {
    expect((await commit(json)).status).toBe(400)
  }
  expect((await commit({ message: 'x' }, 'none')).status).toBe(404)
  const long = { message: 'L'.repeat(5000), metadata: { k: 'v'.repeat(4000) } }
  expect((await commit(long)).json).toMatchObject(long)
  expect((await api.send('GET', `~/commits/${'0'.repeat(64)}`)).status).toBe(404)
})

test('ES-50 a change is another checksum, other user metadata or another content type', async () => {
  const api = await lakefs.open()
  const commit = async () =>
    (await api.send('POST', '~/branches/main/commits', { json: { message: 'again' } })).status
  await api.put('main', 'a', '1')
  expect(await commit()).toBe(201)
  await api.put('main', 'a', '1')
  expect(await commit()).toBe(400)
  await api.put('main', 'a', '1', { 'x-lakefs-meta-k': 'v' })
  expect(await commit()).toBe(201)
  await api.put('main', 'a', '1', { 'x-lakefs-meta-k': 'v', 'content-type': 'text/plain' })
  expect(await commit()).toBe(201)
  await api.put('main', 'b')
  await api.remove('main', 'b')
  expect(await commit()).toBe(400)
})

test('ES-51 a tree can be committed by its id, and equal input is the same commit', async () => {
  const api = await lakefs.open()
  await api.put('main', 'a')
  await api.commit('main', 'one')
  await api.put('main', 'b')
  const two = await api.commitOf(await api.commit('main', 'two'))
  await api.branch('older', 'main~1')
  const taken = await api.need(201, 'POST', '~/branches/older/commits', {
    query: { source_metarange: two.meta_range_id },
    json: { message: 'by tree' },
  })
  expect(taken.json).toMatchObject({ meta_range_id: two.meta_range_id, parents: two.parents })
  await api.put('older', 'dirty')
  const onDirty = await api.send('POST', '~/branches/older/commits', {
    query: { source_metarange: two.meta_range_id },
    json: { message: 'by tree' },
  })
  expect(onDirty.status).toBe(400)

  for (const name of ['t1', 't2']) await api.branch(name, 'main')
  const twin = { allow_empty: true, date: 1_600_000_000 }
  expect(await api.commit('t1', 'twin', twin)).toBe(await api.commit('t2', 'twin', twin))
})

test('ES-52 a commit record with any number of parents', async () => {
  const api = await lakefs.open()
  await api.put('main', 'a')
  const tip = await api.commitOf(await api.commit('main', 'one'))
  const record = {
    version: 1,
    committer: 'somebody',
    message: 'claim',
    metarange_id: tip.meta_range_id,
    creation_date: 1_700_000_000,
    parents: [tip.id, tip.id, ...tip.parents],
    metadata: { 'claim.run': 'ü' },
    generation: tip.generation + 1,
  }
  const write = async (json: object) => (await api.send('POST', '~/commits', { json })).status
  const commit_id = commitIdOf(record)
  expect(await write({ ...record, commit_id })).toBe(204)
  expect(await api.commitOf(commit_id)).toMatchObject({ parents: record.parents, message: 'claim' })
  expect((await api.commitOf(`${commit_id}^3`)).id).toBe(tip.parents[0])
  expect(await write({ ...record, commit_id })).toBe(409)
  expect(await write({ ...record, commit_id: 'f'.repeat(64) })).toBe(400)
  expect(await write({ ...record, commit_id, metadata: undefined })).toBe(400)
})

test('ES-53 the log', async () => {
  const api = await lakefs.open()
  await api.put('main', 'a/1')
  const one = await api.commit('main', 'one')
  await api.put('main', 'b/1')
  const two = await api.commit('main', 'two')
  await api.branch('dev', 'main')
  await api.put('dev', 'a/2')
  const dev = await api.commit('dev', 'dev one')
  await api.put('main', 'c')
  await api.commit('main', 'three')
  expect((await api.merge('dev', 'main', { message: 'merged' })).status).toBe(200)

  const log = async (
    query: Record<string, string | number | boolean | readonly string[]> = {},
    ref = 'main',
  ) => {
    const { json } = await api.need(200, 'GET', `~/refs/${encodeURIComponent(ref)}/commits`, { query })
    const page = json as { pagination: { has_more: boolean; next_offset: string }; results: CommitDocument[] }
    const messages = page.results.map((commit) => commit.message).join(', ')
    return page.pagination.has_more ? `${messages} …` : messages
  }
  const all = (await log()).split(', ')
  expect([...all].sort()).toEqual(['Repository created', 'dev one', 'merged', 'one', 'three', 'two'])
  expect(all.indexOf('merged')).toBe(0)
  expect(await log({ first_parent: true })).toBe('merged, three, two, one, Repository created')
  expect(await log({ first_parent: true, amount: 2 })).toBe('merged, three …')
  expect(await log({ amount: 1, limit: true })).toBe('merged')
  expect(await log({ after: two })).toBe('one, Repository created')
  expect(await log({ objects: 'a/2' })).toBe('dev one')
  expect(await log({ prefixes: 'b/' })).toBe('two')
  expect(await log({ objects: ['a/1', 'b/1'] })).toBe('two, one')
  expect(await log({}, one)).toBe('one, Repository created')
  expect(await log({ stop_at: one, first_parent: true })).toBe('merged, three, two, one')
  expect(await log({}, 'main~1')).toBe('three, two, one, Repository created')
  expect(await log({ amount: 1 }, dev)).toBe('dev one …')
  expect((await api.send('GET', '~/refs/none/commits')).status).toBe(404)
  expect(
    (await api.send('GET', '~/refs/main/commits', { query: { since: '2020-01-01T00:00:00Z' } })).status,
  ).toBe(501)
})

test('ES-54 a merge always makes a merge commit', async () => {
  const api = await lakefs.open()
  const base = await withBase(api)
  const source = await staged(api, 's1', { x: '1' }, base)
  const reference = await merged(api, 's1', 'main')
  expect(await api.head('main')).toBe(reference)
  expect(await api.commitOf(reference)).toMatchObject({
    parents: [base, source],
    message: "Merge 's1' into 'main'",
    metadata: { '.lakefs.merge.strategy': 'default' },
    meta_range_id: (await api.commitOf(source)).meta_range_id,
  })
  await staged(api, 's2', { y: '2' }, base)
  const second = await merged(api, 's2', 'main', { message: 'mine', metadata: { run: '7' } })
  expect(await api.commitOf(second)).toMatchObject({
    message: 'mine',
    metadata: { run: '7', '.lakefs.merge.strategy': 'default' },
  })
  await staged(api, 's3', { z: '3' }, base)
  const squashed = await merged(api, 's3', 'main', { squash_merge: true })
  expect((await api.commitOf(squashed)).parents).toEqual([second])
  await staged(api, 's4', { w: '4' }, base)
  const bare = await api.send('POST', '~/refs/s4/merge/main')
  expect(bare.status).toBe(200)
  const found = await api.need(200, 'GET', '~/refs/s2/merge/main')
  expect(found.json).toMatchObject({ base_commit_id: await api.head('s2') })
})

test('ES-55 conflicts: 409 without paths, unless one side is to win', async () => {
  const api = await lakefs.open()
  const base = await withBase(api)
  await staged(api, 's1', { x: '1' }, base)
  await merged(api, 's1', 'main')
  await staged(api, 's2', { x: '2', z: '2' }, base)
  const head = await api.head('main')
  expect(await api.merge('s2', 'main')).toMatchObject({ status: 409, json: { reference: '' } })
  expect(await api.head('main')).toBe(head)
  for (const [strategy, content] of [
    ['source-wins', '2'],
    ['dest-wins', '1'],
  ] as const) {
    await api.branch(strategy, 'main')
    const reference = await merged(api, 's2', strategy, { strategy })
    expect((await api.get(strategy, 'x')).text).toBe(content)
    expect((await api.get(strategy, 'z')).text).toBe('2')
    expect((await api.commitOf(reference)).metadata).toEqual({ '.lakefs.merge.strategy': strategy })
  }
  expect((await api.merge('s2', 'main', { strategy: 'mine' })).status).toBe(400)

  await staged(api, 's3', { b: null }, base)
  await staged(api, 's4', { b: 'changed' }, base)
  await api.branch('dc', 'main')
  await merged(api, 's3', 'dc')
  expect((await api.merge('s4', 'dc')).status).toBe(409)
  await staged(api, 's5', { same: '1' }, base)
  await staged(api, 's6', { same: '1' }, base)
  await merged(api, 's5', 'dc')
  expect((await api.merge('s6', 'dc')).status).toBe(200)
})

test('ES-56 a merge of nothing, onto what is dirty, or of what is not there', async () => {
  const api = await lakefs.open()
  const base = await withBase(api)
  const source = await staged(api, 's1', { x: '1' }, base)
  await merged(api, 's1', 'main')
  const status = async (from: string, to: string, json = {}) => (await api.merge(from, to, json)).status
  expect(await status('s1', 'main')).toBe(400)
  expect(await status(source, 'main')).toBe(400)
  expect(await status('main', 'main')).toBe(400)
  expect(await status('s1', 'main', { allow_empty: true })).toBe(200)
  expect(await status('s1', 'main', { force: true })).toBe(200)
  await api.branch('dirty', base)
  await api.put('dirty', 'un')
  expect(await status('s1', 'dirty')).toBe(400)
  expect(await status('dirty', 'main')).toBe(400)
  expect(await status('none', 'main')).toBe(404)
  expect(await status('s1', 'none')).toBe(404)
})

test('ES-58 concurrent branches, merges and commits', async () => {
  const api = await lakefs.open()
  const base = await withBase(api)
  const statuses = async (requests: readonly Promise<{ status: number }>[]) =>
    (await Promise.all(requests)).map((reply) => reply.status).sort((a, b) => a - b)
  const racers = [0, 1, 2, 3, 4, 5, 6, 7]

  const branches = racers.map(() => api.send('POST', '~/branches', { json: { name: 'one', source: base } }))
  expect(await statuses(branches)).toEqual([201, 409, 409, 409, 409, 409, 409, 409])

  for (const racer of racers) await staged(api, `f${String(racer)}`, { [`f${String(racer)}`]: 'x' }, base)
  expect(await statuses(racers.map((racer) => api.merge(`f${String(racer)}`, 'main')))).toEqual(
    racers.map(() => 200),
  )
  const listed = await api.need(200, 'GET', '~/refs/main@/objects/ls', { query: { prefix: 'f' } })
  expect((listed.json as { results: unknown[] }).results).toHaveLength(8)

  for (const racer of racers) await staged(api, `s${String(racer)}`, { same: String(racer) }, base)
  const same = racers.map((racer) => api.merge(`s${String(racer)}`, 'main'))
  expect(await statuses(same)).toEqual([200, 409, 409, 409, 409, 409, 409, 409])
})

async function withBase(api: LakefsRequests): Promise<string> {
  for (const path of ['a', 'b']) await api.put('main', path, '0')
  return api.commit('main', 'base')
}

async function staged(
  api: LakefsRequests,
  name: string,
  files: Readonly<Record<string, string | null>>,
  from: string,
): Promise<string> {
  await api.branch(name, from)
  for (const [path, content] of Object.entries(files)) {
    await (content === null ? api.remove(name, path) : api.put(name, path, content))
  }
  return api.commit(name, `staged ${name}`)
}

async function merged(
  api: LakefsRequests,
  source: string,
  destination: string,
  json: object = {},
): Promise<string> {
  const reply = await api.merge(source, destination, json)
  expect(reply.status).toBe(200)
  return (reply.json as { reference: string }).reference
}

/** The identity of a commit, written down once more from its description: typed, length-prefixed fields. */
function commitIdOf(record: {
  readonly committer: string
  readonly message: string
  readonly metarange_id: string
  readonly creation_date: number
  readonly metadata: Readonly<Record<string, string>>
  readonly parents: readonly string[]
}): string {
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(10)
    bytes.writeUInt16BE(0x0208)
    bytes.writeBigInt64BE(BigInt(value), 2)
    return bytes
  }
  const text = (value: string): Buffer =>
    Buffer.concat([Buffer.from([1]), number(Buffer.byteLength(value)), Buffer.from(value)])
  const parents = createHash('sha256')
    .update(Buffer.concat([Buffer.from([3]), number(record.parents.length), ...record.parents.map(text)]))
    .digest()
  const metadata = Object.entries(record.metadata).flatMap(([key, value]) => [text(key), text(value)])
  return createHash('sha256')
    .update(
      Buffer.concat([
        ...['commit:v1', record.committer, record.message, record.metarange_id].map(text),
        number(record.creation_date),
        Buffer.from([4]),
        number(metadata.length / 2),
        ...metadata,
        Buffer.from([5, 0]),
        number(parents.length),
        parents,
      ]),
    )
    .digest('hex')
}
