import { beforeAll, describe, expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'
import type { LakefsRequests } from '../../../../test/support/lakefs-requests.ts'

const lakefs = useEmbeddedLakefs()

interface ListPage {
  readonly pagination: { readonly has_more: boolean; readonly next_offset: string; readonly results: number }
  readonly results: readonly { readonly path: string; readonly path_type: string; readonly type?: string }[]
}

describe('listings', () => {
  let api: LakefsRequests

  beforeAll(async () => {
    api = await lakefs.open()
    for (const path of ['a/1', 'a/2', 'a/b/3', 'a-b', 'b/1', 'c/d', 'ä']) await api.put('main', path)
    await api.put('main', 'c', 'x', { 'x-lakefs-meta-k': 'v' })
    await api.commit('main', 'one')
    await api.remove('main', 'a/1')
    await api.put('main', 'a/3new')
  })

  const page = async (query: Record<string, string | number | boolean>, ref = 'main'): Promise<ListPage> => {
    const { json } = await api.need(200, 'GET', `~/refs/${encodeURIComponent(ref)}/objects/ls`, { query })
    return json as ListPage
  }
  const paths = async (query: Record<string, string | number | boolean>, ref = 'main'): Promise<string> =>
    (await page(query, ref)).results.map((entry) => entry.path).join(' ')

  test('ES-47 in byte order, with what is uncommitted, or without', async () => {
    expect(await paths({})).toBe('a-b a/2 a/3new a/b/3 b/1 c c/d ä')
    expect(await paths({}, 'main@')).toBe('a-b a/1 a/2 a/b/3 b/1 c c/d ä')
    expect(await paths({ prefix: 'a/' })).toBe('a/2 a/3new a/b/3')
    expect(await paths({ prefix: 'zz' })).toBe('')
  })

  test('ES-47 a delimiter folds what is behind it into common prefixes', async () => {
    expect(await paths({ delimiter: '/' })).toBe('a-b a/ b/ c c/ ä')
    expect(await paths({ delimiter: '/', prefix: 'a/' })).toBe('a/2 a/3new a/b/')
    expect(await paths({ delimiter: '/', prefix: 'a' })).toBe('a-b a/')
    expect(await paths({ delimiter: '-' })).toBe('a- a/2 a/3new a/b/3 b/1 c c/d ä')
    const { results } = await page({ delimiter: '/', prefix: 'a/b' })
    expect(results).toEqual([
      { path: 'a/b/', path_type: 'common_prefix', checksum: '', mtime: 0, physical_address: '' },
    ])
  })

  test('ES-48 pages continue behind the offset, also behind a whole prefix', async () => {
    expect((await page({ amount: 2 })).pagination).toMatchObject({
      has_more: true,
      next_offset: 'a/2',
      results: 2,
    })
    expect(await paths({ amount: 2, after: 'a/2' })).toBe('a/3new a/b/3')
    expect((await page({ delimiter: '/', amount: 2 })).pagination.next_offset).toBe('a/')
    expect(await paths({ delimiter: '/', amount: 2, after: 'a/' })).toBe('b/ c')
    expect(await paths({ after: 'a/2zzz' })).toBe('a/3new a/b/3 b/1 c c/d ä')
    expect((await page({ after: 'ä' })).pagination).toMatchObject({
      has_more: false,
      next_offset: '',
      results: 0,
    })
    expect(await paths({ amount: 0 })).toBe(await paths({}))
    expect(await paths({ amount: -1 })).toBe(await paths({}))
    for (const amount of ['1001', 'x']) {
      expect((await api.send('GET', '~/refs/main/objects/ls', { query: { amount } })).status).toBe(400)
    }
    expect((await api.send('GET', '~/refs/none/objects/ls')).status).toBe(404)
  })

  test('ES-47 user metadata is shown where there is some, unless left out', async () => {
    const withMetadata = await page({ prefix: 'c' })
    expect(withMetadata.results[0]).toMatchObject({ path: 'c', metadata: { k: 'v' } })
    expect(withMetadata.results[1]).not.toHaveProperty('metadata')
    expect((await page({ prefix: 'c', user_metadata: false })).results[0]).not.toHaveProperty('metadata')
  })
})

describe('differences', () => {
  let api: LakefsRequests
  let base: string
  let dev: string

  beforeAll(async () => {
    api = await lakefs.open()
    for (const path of ['same', 'chg', 'del', 'd/1', 'd/2']) await api.put('main', path, path)
    base = await api.commit('main', 'base')
    await api.branch('dev', base)
    await api.put('dev', 'chg', 'new content')
    await api.put('dev', 'add', 'a')
    await api.put('dev', 'd/3', 'x')
    await api.remove('dev', 'del')
    await api.put('dev', 'same', 'same')
  })

  const shown = async (
    path: string,
    query: Record<string, string | number | boolean> = {},
  ): Promise<string> => {
    const { json } = await api.need(200, 'GET', path, { query })
    return (json as ListPage).results.map((entry) => `${entry.type ?? ''} ${entry.path}`).join(', ')
  }
  const between = (left: string, right: string, query: Record<string, string | number | boolean> = {}) =>
    shown(`~/refs/${left}/diff/${encodeURIComponent(right)}`, query)

  test('ES-49 what is uncommitted', async () => {
    expect(await shown('~/branches/dev/diff')).toBe('added add, changed chg, added d/3, removed del')
    expect(await shown('~/branches/dev/diff', { delimiter: '/' })).toBe(
      'added add, changed chg, prefix_changed d/, removed del',
    )
    expect(await shown('~/branches/dev/diff', { prefix: 'd/' })).toBe('added d/3')
    expect((await api.send('GET', '~/branches/none/diff')).status).toBe(404)
    dev = await api.commit('dev', 'dev')
    expect(await shown('~/branches/dev/diff')).toBe('')
  })

  test('ES-49 between two refs: against the merge base unless two-dot is asked for', async () => {
    await api.put('main', 'mainonly', '1')
    const moved = await api.commit('main', 'main moved')
    const two = { type: 'two_dot' }
    const changes = 'added add, changed chg, added d/3, removed del'
    expect(await between('main', 'dev')).toBe(changes)
    expect(await between('main', 'dev', { type: 'three_dot' })).toBe(changes)
    expect(await between('main', 'dev', two)).toBe(`${changes}, removed mainonly`)
    expect(await between(base, dev, two)).toBe(changes)
    expect(await between('dev', base, two)).toBe('removed add, changed chg, removed d/3, added del')
    expect(await between(moved, 'main', two)).toBe('')
    expect(await between(base, dev, { ...two, amount: 2 })).toBe('added add, changed chg')
    expect(await between(base, dev, { ...two, amount: 2, after: 'chg' })).toBe('added d/3, removed del')
    expect(await between(base, dev, { ...two, prefix: 'd/' })).toBe('added d/3')
    expect(await between(base, dev, { ...two, delimiter: '/' })).toContain('prefix_changed d/')
    expect(await between(base, dev, { ...two, amount: 0 })).toBe(changes)
    for (const [path, status] of [
      [`~/refs/none/diff/${dev}`, 404],
      [`~/refs/${base}/diff/none`, 404],
      [`~/refs/${base}/diff/${dev}?type=four_dot`, 400],
    ] as const) {
      expect((await api.send('GET', path)).status).toBe(status)
    }
  })

  test('ES-49 the right side is described when asked for', async () => {
    const query = { type: 'two_dot', include_right_stats: true, prefix: 'add' }
    const { json } = await api.need(200, 'GET', `~/refs/${base}/diff/${dev}`, { query })
    expect((json as ListPage).results).toEqual([
      {
        path: 'add',
        path_type: 'object',
        type: 'added',
        size_bytes: 1,
        right: {
          checksum: '0cc175b9c0f1b6a831c399e269772661',
          content_type: 'application/octet-stream',
          metadata: {},
          mtime: expect.any(Number) as number,
        },
      },
    ])
  })

  test('ES-49 uncommitted changes only with "$"; conflicts only three-dot', async () => {
    await api.put('dev', 'un', '1')
    const query = { type: 'two_dot', prefix: 'un' }
    expect(await between(base, 'dev', query)).toBe('')
    expect(await between(base, 'dev$', query)).toBe('added un')
    await api.put('main', 'chg', 'conflicting')
    await api.commit('main', 'conflicting')
    expect(await between('main', 'dev')).toBe('added add, conflict chg, added d/3, removed del')
  })
})
