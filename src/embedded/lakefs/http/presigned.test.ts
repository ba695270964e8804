import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'

import { EMBEDDED_PRESIGN_MS, EMBEDDED_STAGING_ADDRESS_MS } from '../../limits.ts'
import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'
import type { LakefsRequests, Reply } from '../../../../test/support/lakefs-requests.ts'

let nowMs = 1_800_000_000_000
const clock = {
  now: () => new Date(nowMs),
  monotonicMs: () => nowMs,
  sleep: () => Promise.resolve(),
}
const lakefs = useEmbeddedLakefs({ presign: true, clock, limits: { objectBytes: 1000 } })

const md5 = (content: string | Buffer): string => createHash('md5').update(content).digest('hex')

let api: LakefsRequests

beforeAll(async () => {
  api = await lakefs.open()
  await api.put('main', 'o.txt', '0123456789', { 'content-type': 'text/plain' })
})

interface Staging {
  readonly physical_address: string
  readonly presigned_url: string
  readonly presigned_url_expiry: number
}

async function stage(path: string): Promise<Staging> {
  const query = { path, presign: true }
  return (await api.need(200, 'GET', '~/branches/main/staging/backing', { query })).json as Staging
}

function link(path: string, address: string, more: object): Promise<Reply> {
  return api.send('PUT', '~/branches/main/staging/backing', {
    query: { path },
    json: { staging: { physical_address: address }, ...more },
  })
}

async function presignedUrl(path = 'o.txt'): Promise<string> {
  const query = { path, presign: true }
  const { json } = await api.need(200, 'GET', '~/refs/main/objects/stat', { query })
  return (json as { physical_address: string }).physical_address
}

test('ES-91 the configuration says that presigned addresses are offered', async () => {
  const offered = { pre_sign_support: true, pre_sign_multipart_upload: true }
  expect((await api.need(200, 'GET', '/config')).json).toMatchObject({ storage_config: offered })
  expect((await api.need(200, 'GET', '/config/storage')).json).toMatchObject(offered)
})

test('ES-92 a download is sent on to an address that needs no credentials', async () => {
  const query = { path: 'o.txt', presign: true }
  const reply = await api.send('GET', '~/refs/main/objects', { query })
  expect(reply).toMatchObject({ status: 302, text: '' })
  const location = reply.headers.location ?? ''
  expect(location.startsWith(`${api.url}/_presigned?`)).toBe(true)
  const followed = await api.sendTo('GET', location)
  expect(followed).toMatchObject({ status: 200, text: '0123456789' })
  expect(followed.headers).toMatchObject({ etag: `"${md5('0123456789')}"`, 'content-length': '10' })
  const part = await api.sendTo('GET', location, { headers: { range: 'bytes=2-3' } })
  expect(part).toMatchObject({ status: 206, text: '23' })
  expect(part.headers['content-range']).toBe('bytes 2-3/10')
  expect((await api.sendTo('GET', location, { headers: { range: 'bytes=50-' } })).status).toBe(416)
  const missing = await api.send('GET', '~/refs/main/objects', { query: { path: 'none', presign: true } })
  expect(missing.status).toBe(404)
})

test('ES-93 stat and listing show presigned addresses and their end', async () => {
  const expiry = Math.floor((nowMs + EMBEDDED_PRESIGN_MS) / 1000)
  const query = { prefix: 'o.txt', presign: true }
  const listed = await api.need(200, 'GET', '~/refs/main/objects/ls', { query })
  const [entry] = (listed.json as { results: Record<string, unknown>[] }).results
  expect(entry).toMatchObject({ path: 'o.txt', physical_address_expiry: expiry })
  expect((await api.sendTo('GET', String(entry?.['physical_address']))).text).toBe('0123456789')
  expect((await api.sendTo('GET', await presignedUrl())).text).toBe('0123456789')
})

test('ES-94 bytes are put at a presigned address and then linked', async () => {
  const { physical_address, presigned_url, presigned_url_expiry } = await stage('new')
  expect(presigned_url_expiry).toBe(Math.floor((nowMs + EMBEDDED_PRESIGN_MS) / 1000))
  const put = await api.sendTo('PUT', presigned_url, {
    body: 'presigned',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  })
  expect(put).toMatchObject({ status: 200, text: '' })
  expect(put.headers.etag).toBe(`"${md5('presigned')}"`)
  expect((await api.get('main', 'new')).status).toBe(404)

  const claim = {
    checksum: put.headers.etag,
    size_bytes: 9,
    content_type: 'text/csv',
    user_metadata: { k: 'v' },
  }
  const linked = await link('new', physical_address, claim)
  expect(linked).toMatchObject({
    status: 200,
    json: { checksum: md5('presigned'), size_bytes: 9, content_type: 'text/csv', metadata: { k: 'v' } },
  })
  expect((await api.get('main', 'new')).text).toBe('presigned')
  expect((await api.sendTo('GET', await presignedUrl('new'))).text).toBe('presigned')
})

test('ES-95 only what was really uploaded can be linked, and only where the address was given out for', async () => {
  const { physical_address, presigned_url } = await stage('strict')
  const claim = { checksum: md5('12345'), size_bytes: 5 }
  expect((await link('strict', physical_address, claim)).status).toBe(400)
  await api.sendTo('PUT', presigned_url, { body: '12345' })
  expect((await link('strict', physical_address, { ...claim, size_bytes: 6 })).status).toBe(400)
  expect((await link('strict', physical_address, { ...claim, checksum: 'abc' })).status).toBe(400)
  expect((await link('elsewhere', physical_address, claim)).status).toBe(400)
  const issuedAt = nowMs
  nowMs += EMBEDDED_STAGING_ADDRESS_MS + 1
  expect((await link('strict', physical_address, claim)).status).toBe(400)
  nowMs = issuedAt
  const createOnly = await api.send('PUT', '~/branches/main/staging/backing', {
    query: { path: 'o.txt' },
    headers: { 'if-none-match': '*' },
    json: { staging: { physical_address: 'nowhere://x' }, ...claim },
  })
  expect(createOnly.status).toBe(412)
  expect((await link('strict', physical_address, claim)).status).toBe(200)
})

test('ES-95 bytes that a path names already are not changed behind its back', async () => {
  const { physical_address, presigned_url } = await stage('fixed')
  await api.sendTo('PUT', presigned_url, { body: 'first' })
  await api.sendTo('PUT', presigned_url, { body: 'second' })
  expect((await link('fixed', physical_address, { checksum: md5('second'), size_bytes: 6 })).status).toBe(200)
  expect((await api.sendTo('PUT', presigned_url, { body: 'third' })).status).toBe(409)
  expect((await api.get('main', 'fixed')).text).toBe('second')
})

describe('a presigned address', () => {
  test('ES-96 it is bound to its method', async () => {
    expect((await api.sendTo('PUT', await presignedUrl(), { body: 'x' })).status).toBe(403)
    const { presigned_url } = await stage('method')
    expect((await api.sendTo('GET', presigned_url)).status).toBe(403)
    expect((await api.sendTo('DELETE', presigned_url)).status).toBe(403)
  })

  test('ES-96 it cannot be changed', async () => {
    await api.put('main', 'secret', 'secret')
    const url = new URL(await presignedUrl())
    const secret = new URL(await presignedUrl('secret')).searchParams.get('address') ?? ''
    for (const [name, value] of [
      ['address', secret],
      ['repository', 'another'],
      ['expires', String(nowMs * 2)],
      ['checksum', 'x'],
      ['upload', 'x'],
      ['signature', ''],
    ] as const) {
      const changed = new URL(url)
      changed.searchParams.set(name, value)
      expect([name, (await api.sendTo('GET', changed.href)).status]).toEqual([name, 403])
    }
    expect((await api.sendTo('GET', url.href)).status).toBe(200)
  })

  test('ES-96 it ends', async () => {
    const url = await presignedUrl()
    nowMs += EMBEDDED_PRESIGN_MS
    expect((await api.sendTo('GET', url)).status).toBe(403)
    nowMs -= EMBEDDED_PRESIGN_MS
    expect((await api.sendTo('GET', url)).status).toBe(200)
  })

  test('ES-96 it keeps to the size limit', async () => {
    const { presigned_url } = await stage('large')
    expect((await api.sendTo('PUT', presigned_url, { body: 'x'.repeat(1001) })).status).toBe(413)
  })
})

describe('a multi-part upload', () => {
  const path = 'parts'

  async function begin(parts?: number): Promise<{ address: string; id: string; urls: readonly string[] }> {
    const query = { path, ...(parts === undefined ? {} : { parts }) }
    const begun = await api.need(201, 'POST', '~/branches/main/staging/pmpu', { query })
    const json = begun.json as { physical_address: string; upload_id: string; presigned_urls?: string[] }
    return { address: json.physical_address, id: json.upload_id, urls: json.presigned_urls ?? [] }
  }
  const complete = (id: string, json: object) =>
    api.send('PUT', `~/branches/main/staging/pmpu/${id}`, { query: { path }, json })
  const etagOf = async (url: string, body: string): Promise<string> =>
    (await api.sendTo('PUT', url, { body })).headers.etag ?? ''

  test('ES-97 it is begun, sent in parts in any order, and completed', async () => {
    const { address, id, urls } = await begin(3)
    expect(urls).toHaveLength(3)
    const contents = ['one-', 'two-', 'three']
    const etags: string[] = []
    for (const index of [2, 0, 1]) etags[index] = await etagOf(urls[index] ?? '', contents[index] ?? '')
    const parts = etags.map((etag, index) => ({ part_number: index + 1, etag }))
    const done = await complete(id, {
      physical_address: address,
      parts,
      content_type: 'text/plain',
      user_metadata: { k: 'v' },
    })
    const digests = Buffer.concat(contents.map((content) => Buffer.from(md5(content), 'hex')))
    expect(done).toMatchObject({
      status: 200,
      json: {
        path,
        checksum: `${md5(digests)}-3`,
        size_bytes: 13,
        content_type: 'text/plain',
        metadata: { k: 'v' },
      },
    })
    const read = await api.get('main', path)
    expect(read.text).toBe('one-two-three')
    expect(read.headers.etag).toBe(`"${md5(digests)}-3"`)
    expect((await complete(id, { physical_address: address, parts })).status).toBe(404)
  })

  test('ES-97 it takes further parts one by one', async () => {
    const { address, id, urls } = await begin()
    expect(urls).toEqual([])
    const partUrl = (number: string) =>
      api.send('PUT', `~/branches/main/staging/pmpu/${id}/parts/${number}`, {
        query: { path },
        json: { physical_address: address },
      })
    const url = ((await partUrl('7')).json as { presigned_url: string }).presigned_url
    const etag = await etagOf(url, 'only')
    for (const number of ['0', '10001', 'x']) expect((await partUrl(number)).status).toBe(400)
    const done = await complete(id, { physical_address: address, parts: [{ part_number: 7, etag }] })
    expect(done).toMatchObject({ status: 200, json: { size_bytes: 4 } })
  })

  test('ES-97 it is refused with parts that are missing, wrong or out of order', async () => {
    const { address, id, urls } = await begin(2)
    const [one, two] = [await etagOf(urls[0] ?? '', 'one'), await etagOf(urls[1] ?? '', 'two')]
    const attempt = async (parts: object, physical_address = address) =>
      (await complete(id, { physical_address, parts })).status
    expect(await attempt([])).toBe(400)
    expect(
      await attempt([
        { part_number: 2, etag: two },
        { part_number: 1, etag: one },
      ]),
    ).toBe(400)
    expect(await attempt([{ part_number: 1, etag: two }])).toBe(400)
    expect(await attempt([{ part_number: 3, etag: one }])).toBe(400)
    expect(await attempt([{ part_number: 1 }])).toBe(400)
    expect(await attempt([{ part_number: 1, etag: one }], 'nowhere://x')).toBe(400)
    const other = await begin(1)
    expect(await attempt([{ part_number: 1, etag: one }], other.address)).toBe(404)
    expect(await attempt([{ part_number: 1, etag: one }])).toBe(200)
  })

  test('ES-97 it ends when it is aborted', async () => {
    const { address, id, urls } = await begin(1)
    const abort = () =>
      api.send('DELETE', `~/branches/main/staging/pmpu/${id}`, {
        query: { path },
        json: { physical_address: address },
      })
    expect((await abort()).status).toBe(204)
    expect((await abort()).status).toBe(404)
    expect((await api.sendTo('PUT', urls[0] ?? '', { body: 'late' })).status).toBe(404)
  })

  test('ES-97 it needs a branch, and no more than 10000 parts', async () => {
    const none = await api.send('POST', '~/branches/none/staging/pmpu', { query: { path, parts: 1 } })
    expect(none.status).toBe(404)
    const many = await api.send('POST', '~/branches/main/staging/pmpu', { query: { path, parts: 10_001 } })
    expect(many.status).toBe(400)
  })
})

test('ES-98 the history shows no signatures', async () => {
  await api.sendTo('GET', await presignedUrl())
  const seen = lakefs.server.faults.history.filter((request) => request.operation === 'presignedGet')
  expect(seen.at(-1)).toMatchObject({ status: 200, path: expect.stringMatching(/signature=…$/) as string })
})
