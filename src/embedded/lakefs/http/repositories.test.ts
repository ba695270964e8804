import { expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'

const lakefs = useEmbeddedLakefs()

test('ES-20 a repository is made, shown, listed and deleted', async () => {
  const api = lakefs.unmade()
  const document = {
    id: api.repository,
    storage_namespace: `local://${api.repository}`,
    default_branch: 'main',
    creation_date: expect.any(Number) as number,
    read_only: false,
    storage_id: '',
  }
  const made = await api.send('POST', '/repositories', {
    json: { name: api.repository, storage_namespace: `local://${api.repository}` },
  })
  expect(made).toMatchObject({ status: 201, json: document })
  expect((await api.need(200, 'GET', '~')).json).toEqual(document)
  const listed = await api.need(200, 'GET', '/repositories', { query: { prefix: api.repository } })
  expect(listed.json).toEqual({
    pagination: { has_more: false, max_per_page: 1000, next_offset: '', results: 1 },
    results: [document],
  })
  expect((await api.need(204, 'DELETE', '~')).text).toBe('')
  expect((await api.send('GET', '~')).status).toBe(404)
  expect((await api.send('DELETE', '~')).status).toBe(404)
})

test('ES-20 a new repository has one commit without parents and an empty tree', async () => {
  const api = await lakefs.open()
  expect(await api.commitOf('main')).toMatchObject({
    message: 'Repository created',
    parents: [],
    metadata: {},
    meta_range_id: '',
    generation: 1,
  })
  expect((await api.need(200, 'GET', '~/refs/main/objects/ls')).json).toMatchObject({ results: [] })
})

test('ES-21 names and namespaces are used once', async () => {
  const api = await lakefs.open()
  const create = (name: string, namespace: string) =>
    api.send('POST', '/repositories', { json: { name, storage_namespace: namespace } })
  expect((await create(api.repository, `local://${api.repository}-other`)).status).toBe(409)
  expect((await create(`${api.repository}-b`, `local://${api.repository}`)).status).toBe(400)
  await api.need(204, 'DELETE', '~')
  expect((await create(`${api.repository}-b`, `local://${api.repository}`)).status).toBe(400)
  expect((await create(api.repository, `local://${api.repository}-new`)).status).toBe(201)
})

test.each([
  ['a capital', { name: 'Probe', storage_namespace: 'local://x' }],
  ['two characters', { name: 'ab', storage_namespace: 'local://x' }],
  ['64 characters', { name: 'a'.repeat(64), storage_namespace: 'local://x' }],
  ['an underscore', { name: 'a_bc', storage_namespace: 'local://x' }],
  ['an unknown scheme', { name: 'abc', storage_namespace: 'nowhere://x' }],
  ['no namespace', { name: 'abc' }],
  ['no name', { storage_namespace: 'local://x' }],
])('ES-21 a repository with %s is refused', async (_, json) => {
  expect((await lakefs.unmade().send('POST', '/repositories', { json })).status).toBe(400)
})

test('ES-21 a name that no repository can have is a 400 wherever it is used', async () => {
  for (const path of [
    '/repositories/NO',
    '/repositories/NO/branches',
    '/repositories/a.b/refs/main/objects/ls',
  ]) {
    expect((await lakefs.unmade().send('GET', path)).status).toBe(400)
  }
})

test('ES-21 what is not offered is refused by name, not passed over', async () => {
  const api = lakefs.unmade()
  const json = { name: api.repository, storage_namespace: `local://${api.repository}` }
  expect((await api.send('POST', '/repositories', { json: { ...json, sample_data: true } })).status).toBe(501)
  expect((await api.send('POST', '/repositories', { json, query: { bare: true } })).status).toBe(501)
})

test('ES-59 metadata, rules for garbage, permission to upload', async () => {
  const api = await lakefs.open()
  expect((await api.need(200, 'GET', '~/metadata')).json).toEqual({})
  expect((await api.send('GET', '~/settings/gc_rules')).status).toBe(404)
  await api.need(204, 'GET', '~/branches/main/objects/stage_allowed', { query: { path: 'a' } })
  for (const path of ['~/metadata', '~/settings/gc_rules', '~/branches', '~/tags', '~/actions/runs']) {
    expect((await lakefs.unmade().send('GET', path)).status).toBe(404)
  }
})
