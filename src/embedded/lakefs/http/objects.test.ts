import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'
import type { LakefsRequests } from '../../../../test/support/lakefs-requests.ts'

const lakefs = useEmbeddedLakefs({ limits: { objectBytes: 100_000 } })

const md5 = (content: string): string => createHash('md5').update(content).digest('hex')

describe('uploads', () => {
  let api: LakefsRequests

  beforeAll(async () => {
    api = await lakefs.open()
  })

  const upload = (
    path: string,
    body: string | Buffer,
    headers: Record<string, string> = {},
    branch = 'main',
  ) => api.send('POST', `~/branches/${branch}/objects`, { query: { path }, body, headers })

  test.each([
    ['hello', 'text/plain'],
    ['', 'application/octet-stream'],
    ['{"a":1}', 'application/json'],
  ])('ES-33 %j as %s', async (content, type) => {
    const reply = await upload('raw', content, { 'content-type': type })
    expect(reply.status).toBe(201)
    expect(reply.json).toEqual({
      path: 'raw',
      path_type: 'object',
      physical_address: expect.stringMatching(`^local://${api.repository}/data/`) as string,
      checksum: md5(content),
      size_bytes: content.length,
      mtime: expect.any(Number) as number,
      content_type: type,
      metadata: {},
    })
    expect((await api.get('main', 'raw')).text).toBe(content)
  })

  test('ES-33 without a content type it is application/octet-stream; a Content-MD5 is not looked at', async () => {
    const reply = await upload('n', 'x', { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' })
    expect(reply).toMatchObject({ status: 201, json: { content_type: 'application/octet-stream' } })
  })

  test('ES-33 a form sends its field "content"', async () => {
    const reply = await upload(
      'form',
      formWith([
        ['other', 'text/html', 'not this'],
        ['content', 'text/plain', 'form\r\nbody'],
        ['content', 'text/plain', 'nor this'],
      ]),
      { 'content-type': 'multipart/form-data; boundary=XBOUNDARYX' },
    )
    expect(reply).toMatchObject({
      status: 201,
      json: { checksum: md5('form\r\nbody'), size_bytes: 10, content_type: 'text/plain' },
    })
    expect((await api.get('main', 'form')).text).toBe('form\r\nbody')
  })

  test('ES-33 a form part without a file name is content too', async () => {
    const body = '--B\r\nContent-Disposition: form-data; name="content"\r\n\r\nplain\r\n--B--\r\n'
    expect((await upload('form', body, { 'content-type': 'multipart/form-data; boundary=B' })).status).toBe(
      201,
    )
    expect((await api.get('main', 'form')).text).toBe('plain')
  })

  test('ES-34 a form that is broken, or without content, stores nothing', async () => {
    const type = { 'content-type': 'multipart/form-data; boundary=XBOUNDARYX' }
    expect((await upload('bad', formWith([['other', 'text/plain', 'x']]), type)).status).toBe(500)
    expect((await upload('bad', formWith([['content', 'text/plain', 'x']]).slice(0, -20), type)).status).toBe(
      500,
    )
    expect((await upload('bad', 'x', { 'content-type': 'multipart/form-data' })).status).toBe(500)
    expect((await api.get('main', 'bad')).status).toBe(404)
  })

  test('ES-34 nowhere to upload to', async () => {
    expect((await upload('x', 'x', {}, 'none')).status).toBe(404)
    expect((await upload('x', 'x', {}, await api.head('main'))).status).toBe(404)
    expect((await api.send('POST', '~/branches/main/objects', { body: 'x' })).status).toBe(400)
    expect((await upload('', 'x')).status).toBe(400)
    expect((await upload('k'.repeat(1025), 'x')).status).toBe(400)
    expect(
      (await lakefs.unmade().send('POST', '~/branches/main/objects', { query: { path: 'a' } })).status,
    ).toBe(404)
  })

  test('ES-03 every path is a key of its own', async () => {
    const other = await lakefs.open()
    const paths = [
      'with space.txt',
      'ünï/çødé-日本.txt',
      'x//y',
      '/lead',
      'dir/',
      'p/../q',
      './r',
      '/',
      'a%2Fb',
    ]
    paths.push('a+b', 'a?b#c', 'a\nb', 'a\\b', 'k'.repeat(1024))
    for (const path of paths) await other.put('main', path, `content of ${path}`)
    for (const path of paths) expect((await other.get('main', path)).text).toBe(`content of ${path}`)
    const { json } = await other.need(200, 'GET', '~/refs/main/objects/ls')
    const inByteOrder = [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect((json as { results: { path: string }[] }).results.map((entry) => entry.path)).toEqual(inByteOrder)
  })

  test('ES-08 an object beyond the limit is refused, announced or not, and leaves nothing', async () => {
    const large = Buffer.alloc(100_001)
    expect((await upload('large', large)).status).toBe(413)
    const form = formWith([['content', 'text/plain', 'x'.repeat(100_001)]])
    const type = { 'content-type': 'multipart/form-data; boundary=XBOUNDARYX' }
    expect((await upload('large', form.padEnd(100_300), type)).status).toBe(413)
    expect((await api.get('main', 'large')).status).toBe(404)
    expect((await upload('large', large.subarray(1))).status).toBe(201)
  })

  test('ES-35 user metadata comes in headers and can be set anew', async () => {
    const headers = {
      'X-Lakefs-Meta-Run': '42',
      'x-lakefs-meta-MixedCase': 'Yes',
      'X-Lakefs-Internal-Client-Mtime': '1700000000',
    }
    expect(await upload('meta', 'm', headers)).toMatchObject({
      status: 201,
      json: { metadata: { run: '42', mixedcase: 'Yes', '::lakefs::client-mtime': '1700000000' } },
    })
    const set = (path: string, json: object) =>
      api.send('PUT', '~/branches/main/objects/stat/user_metadata', { query: { path }, json })
    expect((await set('meta', { set: { k: 'v' } })).status).toBe(204)
    const { json } = await api.need(200, 'GET', '~/refs/main/objects/stat', { query: { path: 'meta' } })
    expect(json).toMatchObject({ metadata: { k: 'v' }, checksum: md5('m') })
    expect((await set('none', { set: {} })).status).toBe(404)
    expect((await set('meta', {})).status).toBe(400)
  })

  test('ES-36 "If-None-Match: *" creates only', async () => {
    const create = async (content: string, value = '*') =>
      (await upload('lock', content, { 'if-none-match': value })).status
    expect(await create('1')).toBe(201)
    expect(await create('2')).toBe(412)
    await api.commit('main', 'locked')
    expect(await create('3')).toBe(412)
    await api.remove('main', 'lock')
    expect(await create('4')).toBe(201)
    expect((await api.get('main', 'lock')).text).toBe('4')
    expect(await create('5', '"abc"')).toBe(501)
    expect((await upload('lock', '6', { 'if-match': md5('4') })).status).toBe(501)
    expect((await upload('none', '7', { 'if-match': 'x' })).status).toBe(501)
    expect((await api.get('main', 'lock')).text).toBe('4')
  })

  test('ES-58 of eight creations at the same time one wins', async () => {
    const racers = Array.from({ length: 8 }, (_, racer) =>
      upload('race', String(racer), { 'if-none-match': '*' }),
    )
    const statuses = (await Promise.all(racers)).map((reply) => reply.status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 412)).toHaveLength(7)
    expect((await api.get('main', 'race')).text).toBe(String(statuses.indexOf(201)))
  })
})

describe('reading', () => {
  let api: LakefsRequests
  let commit: string
  const etag = `"${md5('0123456789')}"`

  beforeAll(async () => {
    api = await lakefs.open()
    await api.put('main', 'o.txt', '0123456789', { 'content-type': 'text/plain', 'x-lakefs-meta-a': 'b' })
    await api.put('main', 'empty', '')
    commit = await api.commit('main', 'one')
    await api.put('main', 'new', 'uncommitted')
  })

  test('ES-37 a download', async () => {
    const reply = await api.get('main', 'o.txt')
    expect(reply).toMatchObject({ status: 200, text: '0123456789' })
    expect(reply.headers).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '10',
      'content-disposition': 'inline',
      'cache-control': 'no-store, must-revalidate',
      'x-content-type-options': 'nosniff',
      'last-modified': expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/) as string,
      etag,
    })
    const empty = await api.get('main', 'empty')
    expect(empty).toMatchObject({ status: 200, text: '' })
    expect(empty.headers).toMatchObject({ 'content-length': '0', 'content-disposition': 'attachment' })
    expect(await api.get('main', 'o.txt', { 'if-none-match': etag })).toMatchObject({ status: 304, text: '' })
    expect((await api.get('main', 'o.txt', { 'if-none-match': '"x"' })).status).toBe(200)
  })

  test('ES-30 a range of a download', async () => {
    const reply = await api.get('main', 'o.txt', { range: 'bytes=4-' })
    expect(reply).toMatchObject({ status: 206, text: '456789' })
    expect(reply.headers).toMatchObject({ 'content-range': 'bytes 4-9/10', 'content-length': '6', etag })
    const outside = await api.get('main', 'o.txt', { range: 'bytes=20-30' })
    expect(outside.status).toBe(416)
    expect(outside.headers).toMatchObject({
      'content-range': 'bytes */10',
      'content-type': 'application/json',
      etag,
    })
    expect((await api.get('main', 'o.txt', { range: 'bytes=3-1' })).headers['content-range']).toBeUndefined()
    expect((await api.get('main', 'empty', { range: 'bytes=0-1' })).status).toBe(416)
    expect((await api.get('main', 'o.txt', { range: 'lines=1-2' })).status).toBe(400)
  })

  test('ES-38 a HEAD is a download without its body', async () => {
    const head = (path: string, headers = {}) =>
      api.send('HEAD', '~/refs/main/objects', { query: { path }, headers })
    const reply = await head('o.txt')
    expect(reply).toMatchObject({ status: 200, text: '' })
    expect(reply.headers).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '10',
      'accept-ranges': 'bytes',
      etag,
    })
    const part = await head('o.txt', { range: 'bytes=2-5' })
    expect(part).toMatchObject({ status: 206, text: '' })
    expect(part.headers).toMatchObject({ 'content-length': '4', 'content-range': 'bytes 2-5/10' })
    expect(await head('o.txt', { range: 'bytes=20-30' })).toMatchObject({ status: 416, text: '' })
    expect(await head('none')).toMatchObject({ status: 404, text: '' })
  })

  test('ES-39 a branch shows what is uncommitted; its commit, and "branch@", do not', async () => {
    expect((await api.get('main', 'new')).text).toBe('uncommitted')
    expect((await api.get('main@', 'new')).status).toBe(404)
    expect((await api.get(commit, 'new')).status).toBe(404)
    expect((await api.get(commit, 'o.txt')).text).toBe('0123456789')
    expect((await api.get('none', 'o.txt')).status).toBe(404)
    expect((await api.get('main', 'none')).status).toBe(404)
    expect((await api.send('GET', '~/refs/main/objects')).status).toBe(400)
  })

  test('ES-40 a stat', async () => {
    const stat = (query: Record<string, string | boolean>, ref = 'main') =>
      api.send('GET', `~/refs/${ref}/objects/stat`, { query })
    const document = {
      path: 'o.txt',
      path_type: 'object',
      physical_address: expect.any(String) as string,
      checksum: md5('0123456789'),
      size_bytes: 10,
      mtime: expect.any(Number) as number,
      content_type: 'text/plain',
      metadata: { a: 'b' },
    }
    expect(await stat({ path: 'o.txt' })).toMatchObject({ status: 200, json: document })
    expect((await stat({ path: 'o.txt', user_metadata: false })).json).toEqual({ ...document, metadata: {} })
    expect((await stat({ path: 'none' })).status).toBe(404)
    expect((await stat({ path: 'o' })).status).toBe(404)
    expect((await stat({ path: 'o.txt' }, 'none')).status).toBe(404)
    const properties = await api.send('GET', '~/refs/main/objects/underlyingProperties', {
      query: { path: 'o.txt' },
    })
    expect(properties).toMatchObject({ status: 200, json: { storage_class: null } })
  })

  test('ES-90 asked for presigned addresses, a server that has none says so', async () => {
    const query = { path: 'o.txt', presign: true }
    expect((await api.send('GET', '~/refs/main/objects', { query })).status).toBe(400)
    expect((await api.send('GET', '~/refs/main/objects/stat', { query })).status).toBe(400)
    expect((await api.send('GET', '~/refs/main/objects/ls', { query: { presign: true } })).status).toBe(400)
    expect((await api.send('GET', '~/branches/main/staging/backing', { query })).status).toBe(500)
    expect(
      (await api.send('POST', '~/branches/main/staging/pmpu', { query: { path: 'o', parts: 2 } })).status,
    ).toBe(501)
    const forged = `${api.url}/_presigned?repository=${api.repository}&address=x&signature=y&expires=9999999999999`
    expect((await api.sendTo('GET', forged)).status).toBe(403)
  })
})

test('ES-41 a deletion may find nothing', async () => {
  const api = await lakefs.open()
  await api.put('main', 'a')
  await api.commit('main', 'one')
  await api.put('main', 'new')
  for (const path of ['a', 'a', 'new', 'never']) await api.remove('main', path)
  const gone = await api.send('DELETE', '~/branches/none/objects', { query: { path: 'a' } })
  expect(gone.status).toBe(404)
  const diff = await api.need(200, 'GET', '~/branches/main/diff')
  expect(diff.json).toMatchObject({
    results: [{ path: 'a', path_type: 'object', type: 'removed', size_bytes: 0 }],
  })
})

test('ES-42 a batch deletion of up to 1000 paths; a branch that is not there is not reported', async () => {
  const api = await lakefs.open()
  for (const path of ['b', 'c', 'd']) await api.put('main', path)
  const remove = (paths: unknown, branch = 'main') =>
    api.send('POST', `~/branches/${branch}/objects/delete`, { json: { paths } })
  const nothingWrong = { status: 200, json: { errors: [] } }
  expect(await remove(['b', 'c', 'never'])).toMatchObject(nothingWrong)
  // Measured: a path that cannot be makes the whole batch do nothing, and say so to nobody.
  expect(await remove(['d', ''])).toMatchObject(nothingWrong)
  expect(await remove([])).toMatchObject(nothingWrong)
  expect(await remove(['x'], 'none')).toMatchObject(nothingWrong)
  const thousand = Array.from({ length: 1000 }, (_, index) => `k${String(index)}`)
  expect(await remove(thousand)).toMatchObject(nothingWrong)
  expect((await remove([...thousand, 'one-more'])).status).toBe(400)
  expect((await remove(undefined)).status).toBe(400)
  expect((await remove([1])).status).toBe(400)
  const listed = await api.need(200, 'GET', '~/refs/main/objects/ls')
  expect(listed.json).toMatchObject({ results: [{ path: 'd' }], pagination: { results: 1 } })
})

test('ES-43 a copy keeps content, type and metadata', async () => {
  const api = await lakefs.open()
  await api.put('main', 'a', 'content', { 'content-type': 'text/plain', 'x-lakefs-meta-k': 'v' })
  const commit = await api.commit('main', 'one')
  await api.branch('other', 'main')
  const copy = (dest_path: string, json: object, branch = 'main') =>
    api.send('POST', `~/branches/${branch}/objects/copy`, { query: { dest_path }, json })
  const kept = { checksum: md5('content'), content_type: 'text/plain', metadata: { k: 'v' }, size_bytes: 7 }
  expect(await copy('b', { src_path: 'a' })).toMatchObject({ status: 201, json: { ...kept, path: 'b' } })
  expect((await copy('z', { src_path: 'a', src_ref: commit }, 'other')).status).toBe(201)
  expect((await api.get('other', 'z')).text).toBe('content')
  expect((await copy('a', { src_path: 'a' })).status).toBe(201)
  expect((await copy('b', { src_path: 'none' })).status).toBe(404)
  expect((await copy('b', { src_path: 'a', shallow: true })).status).toBe(501)
  expect((await copy('', { src_path: 'a' })).status).toBe(400)
})

test('ES-44 an address can be had and linked; what is claimed of it is taken on trust', async () => {
  const api = await lakefs.open()
  const query = { path: 'linked' }
  const had = await api.need(200, 'GET', '~/branches/main/staging/backing', { query })
  const { physical_address } = had.json as { physical_address: string }
  expect(had.json).toMatchObject({ presigned_url: null })
  expect(physical_address.startsWith(`local://${api.repository}/data/`)).toBe(true)
  await api.need(200, 'GET', '~/branches/none/staging/backing', { query })

  const link = (address: string, more: object = {}, path = 'linked') =>
    api.send('PUT', '~/branches/main/staging/backing', {
      query: { path },
      json: { staging: { physical_address: address }, checksum: 'abc', size_bytes: 3, ...more },
    })
  expect(
    await link(physical_address, { content_type: 'text/plain', user_metadata: { u: '1' } }),
  ).toMatchObject({
    status: 200,
    json: {
      checksum: 'abc',
      size_bytes: 3,
      content_type: 'text/plain',
      metadata: { u: '1' },
      physical_address,
    },
  })
  expect((await link(physical_address)).status).toBe(200)
  expect((await link('nowhere://x/y')).status).toBe(200)
  expect((await link(physical_address, { checksum: '' })).status).toBe(400)
  expect((await link(physical_address, { size_bytes: -1 })).status).toBe(400)
  expect((await link(`local://${api.repository}/data/foo`)).status).toBe(400)
  expect((await link(`${physical_address}x`)).status).toBe(400)
  expect((await link(physical_address, {}, 'another-path')).status).toBe(400)
})

test('ES-46 reading an object whose bytes were never uploaded is a 410', async () => {
  const api = await lakefs.open()
  await api.need(200, 'PUT', '~/branches/main/staging/backing', {
    query: { path: 'hollow' },
    json: { staging: { physical_address: 'nowhere://x/y' }, checksum: 'abc', size_bytes: 3 },
  })
  expect((await api.get('main', 'hollow')).status).toBe(410)
})

function formWith(parts: readonly (readonly [name: string, type: string, content: string])[]): string {
  const rendered = parts.map(
    ([name, type, content]) =>
      `--XBOUNDARYX\r\nContent-Disposition: form-data; name="${name}"; filename="f.txt"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`,
  )
  return `${rendered.join('')}--XBOUNDARYX--\r\n`
}
