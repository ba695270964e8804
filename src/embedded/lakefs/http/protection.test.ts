import { expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'

const lakefs = useEmbeddedLakefs()

test('ES-57 a protected branch takes merges and reverts only', async () => {
  const api = await lakefs.open()
  await api.put('main', 'a')
  const one = await api.commit('main', 'one')
  await api.branch('staged', 'main')
  await api.put('staged', 'n')
  await api.commit('staged', 'n')
  const rules = () => api.need(200, 'GET', '~/settings/branch_protection')
  const set = async (json: unknown, headers = {}) =>
    (await api.send('PUT', '~/settings/branch_protection', { json, headers })).status

  const before = await rules()
  expect(before).toMatchObject({ json: [], headers: { etag: '' } })
  expect(await set([{ pattern: 'ma*' }])).toBe(204)
  const { json, headers } = await rules()
  expect(json).toEqual([{ pattern: 'ma*' }])
  expect(await set([], { 'if-match': 'stale' })).toBe(412)
  expect(await set({})).toBe(400)
  expect(await set([{}])).toBe(400)

  const main = '~/branches/main'
  const refused = [
    await api.send('POST', `${main}/objects`, { query: { path: 'x' }, body: 'x' }),
    await api.send('DELETE', `${main}/objects`, { query: { path: 'a' } }),
    await api.send('POST', `${main}/commits`, { json: { message: 'x', allow_empty: true } }),
    await api.send('PUT', `${main}/hard_reset`, { query: { ref: one } }),
    await api.send('PUT', `${main}/hard_reset`, { query: { ref: one, force: true } }),
    await api.send('PUT', main, { json: { type: 'reset' } }),
  ]
  expect(refused.map((reply) => reply.status)).toEqual([403, 403, 403, 403, 403, 403])
  const batch = await api.send('POST', `${main}/objects/delete`, { json: { paths: ['a'] } })
  expect(batch).toMatchObject({ status: 200, json: { errors: [{ path: 'a', status_code: 403 }] } })

  expect((await api.merge('staged', 'main')).status).toBe(200)
  await api.need(204, 'POST', `${main}/revert`, { json: { ref: 'main', parent_number: 1 } })
  expect(await set([], { 'if-match': headers.etag ?? '' })).toBe(204)
  await api.put('main', 'free again')
})
