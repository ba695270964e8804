import { beforeAll, describe, expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'
import type { LakefsRequests } from '../../../../test/support/lakefs-requests.ts'

const lakefs = useEmbeddedLakefs()

describe('branches', () => {
  let api: LakefsRequests
  let one: string
  let two: string

  beforeAll(async () => {
    api = await lakefs.open()
    await api.put('main', 'a')
    one = await api.commit('main', 'one')
    await api.put('main', 'b')
    two = await api.commit('main', 'two')
    await api.need(201, 'POST', '~/tags', { json: { id: 'v1', ref: one } })
  })

  test('ES-22 a new branch is answered with the bare commit id as text', async () => {
    const reply = await api.send('POST', '~/branches', { json: { name: 'bare', source: 'main' } })
    expect(reply).toMatchObject({ status: 201, text: two })
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect((await api.need(200, 'GET', '~/branches/bare')).json).toEqual({ id: 'bare', commit_id: two })
  })

  test('ES-22 the source may be any expression of a commit', async () => {
    const sources: [string, string][] = [
      [one, one],
      [two.slice(0, 12), two],
      ['v1', one],
      ['main~1', one],
      ['main~', one],
      ['main^', one],
      ['main^0', two],
      ['main@', two],
    ]
    for (const [index, [source, commit]] of sources.entries()) {
      expect(await api.branch(`from-${String(index)}`, source)).toBe(commit)
    }
  })

  test('ES-22 a source that is not there, or is no commit, is refused', async () => {
    const statusOf = async (source: string) =>
      (await api.send('POST', '~/branches', { json: { name: 'refused', source } })).status
    expect(await statusOf('no-such')).toBe(404)
    expect(await statusOf('main~9')).toBe(404)
    expect(await statusOf('f'.repeat(64))).toBe(404)
    expect(await statusOf('main^2')).toBe(400)
    expect(await statusOf('main$')).toBe(500)
    expect((await api.send('GET', '~/branches/refused')).status).toBe(404)
  })

  test('ES-22 a name in use is a 409 whatever the source', async () => {
    await api.branch('taken', 'main')
    for (const source of ['main', one]) {
      expect((await api.send('POST', '~/branches', { json: { name: 'taken', source } })).status).toBe(409)
    }
    expect((await api.send('POST', '~/branches', { json: { name: one, source: 'main' } })).status).toBe(409)
  })

  test('ES-23 a branch name has ASCII letters, digits, "_" and "-", and does not start with "-"', async () => {
    const statusOf = async (name: string) =>
      (await api.send('POST', '~/branches', { json: { name, source: 'main' } })).status
    for (const name of ['a/b', 'a.b', 'a b', '-a', 'zweig-ä', 'a~1', 'a@b', 'a:b', 'a+b']) {
      expect([name, await statusOf(name)]).toEqual([name, 400])
    }
    // Measured: it fails in its own code.
    expect(await statusOf('')).toBe(500)
    for (const name of ['_a', 'z', '123', 'l'.repeat(256), 'm'.repeat(1024)])
      expect(await statusOf(name)).toBe(201)
    expect((await api.send('POST', '~/branches', { json: { name: 'nosrc' } })).status).toBe(400)
  })

  test('ES-24 branches are listed by name, page by page; hidden ones only when asked for', async () => {
    for (const name of ['ls-c', 'ls-a', 'ls-b']) await api.branch(name, 'main')
    await api.need(201, 'POST', '~/branches', { json: { name: 'ls-hidden', source: 'main', hidden: true } })
    const list = async (query: Record<string, string | number | boolean>) => {
      const { json } = await api.need(200, 'GET', '~/branches', { query: { prefix: 'ls-', ...query } })
      const page = json as {
        pagination: { has_more: boolean; next_offset: string }
        results: { id: string }[]
      }
      return [
        page.results.map((branch) => branch.id).join(' '),
        page.pagination.has_more,
        page.pagination.next_offset,
      ]
    }
    expect(await list({})).toEqual(['ls-a ls-b ls-c', false, ''])
    expect(await list({ amount: 2 })).toEqual(['ls-a ls-b', true, 'ls-b'])
    expect(await list({ amount: 2, after: 'ls-b' })).toEqual(['ls-c', false, ''])
    expect(await list({ amount: 0 })).toEqual(['ls-a ls-b ls-c', false, ''])
    expect(await list({ show_hidden: true })).toEqual(['ls-a ls-b ls-c ls-hidden', false, ''])
    expect((await api.send('GET', '~/branches', { query: { amount: 5000 } })).status).toBe(400)
    expect((await api.need(200, 'GET', '~/branches/ls-hidden')).json).toMatchObject({ id: 'ls-hidden' })
  })

  test('ES-25 a branch is deleted even when dirty, but never the default one', async () => {
    await api.branch('dirty', 'main')
    await api.put('dirty', 'uncommitted')
    await api.need(204, 'DELETE', '~/branches/dirty')
    expect((await api.send('DELETE', '~/branches/dirty')).status).toBe(404)
    expect((await api.send('DELETE', '~/branches/main')).status).toBe(403)
    await api.branch('dirty', 'main')
    expect((await api.need(200, 'GET', '~/branches/dirty/diff')).json).toMatchObject({ results: [] })
  })

  test('ES-26 tags', async () => {
    const made = await api.send('POST', '~/tags', { json: { id: 'v1.0~x', ref: 'main' } })
    expect(made).toMatchObject({ status: 201, json: { id: 'v1.0~x', commit_id: two } })
    const statusOf = async (id: string, ref = 'main') =>
      (await api.send('POST', '~/tags', { json: { id, ref } })).status
    expect(await statusOf('v1.0~x')).toBe(409)
    expect(await statusOf('v2', 'none')).toBe(404)
    for (const id of ['a/b', 'a b', 'a.', 'a..b', 'a^', 'a:', 'a?', 'a*', 'a[', 'a\\']) {
      expect([id, await statusOf(id)]).toEqual([id, 400])
    }
    const listed = await api.need(200, 'GET', '~/tags')
    expect(listed.json).toMatchObject({ results: [{ id: 'v1' }, { id: 'v1.0~x' }] })
    await api.need(200, 'GET', '~/tags/v1.0~x')
    await api.need(204, 'DELETE', '~/tags/v1.0~x')
    expect((await api.send('DELETE', '~/tags/v1.0~x')).status).toBe(404)
    expect((await api.send('GET', '~/tags/v1.0~x')).status).toBe(404)
  })
})

test('ES-27 a hard reset moves a branch to any commit, without a word', async () => {
  const api = await lakefs.open()
  await api.put('main', 'a')
  const one = await api.commit('main', 'one')
  await api.put('main', 'b')
  const two = await api.commit('main', 'two')
  await api.branch('t', 'main')
  await api.branch('side', one)
  await api.put('side', 's')
  const side = await api.commit('side', 'side')

  const reset = async (ref: string, query = {}) =>
    (await api.send('PUT', '~/branches/t/hard_reset', { query: { ref, ...query } })).status
  for (const [ref, head] of [
    [one, one],
    [two, two],
    [two, two],
    ['t~1', one],
    ['side', side],
  ] as const) {
    expect(await reset(ref)).toBe(204)
    expect(await api.head('t')).toBe(head)
  }
  expect(await reset('none')).toBe(404)
  expect(await reset('f'.repeat(64))).toBe(404)
  expect(await reset('t^2')).toBe(400)
  expect(await reset('main$')).toBe(400)
  expect(await reset('')).toBe(400)
  expect((await api.send('PUT', '~/branches/t/hard_reset')).status).toBe(400)
  expect((await api.send('PUT', '~/branches/none/hard_reset', { query: { ref: one } })).status).toBe(404)
  expect(await api.head('t')).toBe(side)

  await api.put('t', 'uncommitted')
  expect(await reset(one)).toBe(204)
  expect(await reset(two, { force: true })).toBe(204)
  const diff = await api.need(200, 'GET', '~/branches/t/diff')
  expect(diff.json).toMatchObject({ results: [{ path: 'uncommitted', type: 'added' }] })
  await api.need(204, 'PUT', '~/branches/main/hard_reset', { query: { ref: one } })
  expect((await api.commitOf(two)).message).toBe('two')
})

test('ES-28 uncommitted changes are taken back: one path, a prefix, or all', async () => {
  const api = await lakefs.open()
  for (const path of ['d/1', 'd/2', 'e', 'f']) await api.put('main', path)
  const reset = async (json: object) => (await api.send('PUT', '~/branches/main', { json })).status
  const left = async () => {
    const { json } = await api.need(200, 'GET', '~/branches/main/diff')
    return (json as { results: { path: string }[] }).results.map((entry) => entry.path)
  }
  expect(await reset({ type: 'object', path: 'e' })).toBe(204)
  expect(await left()).toEqual(['d/1', 'd/2', 'f'])
  expect(await reset({ type: 'common_prefix', path: 'd/' })).toBe(204)
  expect(await left()).toEqual(['f'])
  expect(await reset({ type: 'object', path: 'none' })).toBe(204)
  expect(await reset({ type: 'reset' })).toBe(204)
  expect(await left()).toEqual([])
  expect(await reset({ type: 'object' })).toBe(400)
  expect(await reset({ type: 'all' })).toBe(400)
  expect(await reset({})).toBe(400)
})

test('ES-29 reverts and cherry-picks', async () => {
  const api = await lakefs.open()
  await api.put('main', 'a')
  await api.commit('main', 'one')
  await api.branch('dev', 'main')
  await api.put('main', 'b')
  const two = await api.commit('main', 'two')
  const revert = async (ref: string, parent_number = 0) =>
    (await api.send('POST', '~/branches/main/revert', { json: { ref, parent_number } })).status

  const picked = await api.need(201, 'POST', '~/branches/dev/cherry-pick', { json: { ref: two } })
  expect(picked.json).toMatchObject({ message: 'two' })
  expect((await api.get('dev', 'b')).status).toBe(200)

  expect(await revert(two)).toBe(204)
  expect((await api.get('main', 'b')).status).toBe(404)
  expect(await revert(two)).toBe(400)
  expect(await revert('none')).toBe(404)
  expect((await api.send('POST', '~/branches/main/revert', { json: { ref: two } })).status).toBe(400)
  await api.branch('m', 'main')
  await api.put('m', 'c')
  await api.commit('m', 'c')
  await api.merge('m', 'main')
  expect(await revert('main')).toBe(409)
  expect(await revert('main', 1)).toBe(204)
  await api.put('main', 'uncommitted')
  expect(await revert('main~1', 1)).toBe(400)
})
