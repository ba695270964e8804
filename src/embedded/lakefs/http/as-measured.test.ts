// Answers that only a comparison with the real server shows. Each was found by test/conformance/lakefs-differential.test.ts,
// which holds all of them where a real server is; these hold them everywhere.
import { beforeEach, describe, expect, test } from 'vitest'
import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'
import type { LakefsRequests } from '../../../../test/support/lakefs-requests.ts'

const file = useEmbeddedLakefs()
let api: LakefsRequests
beforeEach(async () => {
  api = await file.open()
})

const revert = async (branch: string, json: object): Promise<number> =>
  (await api.send('POST', `~/branches/${branch}/revert`, { json })).status
const pick = async (branch: string, json: object): Promise<number> =>
  (await api.send('POST', `~/branches/${branch}/cherry-pick`, { json })).status
const hardReset = async (branch: string, ref: string): Promise<number> =>
  (await api.send('PUT', `~/branches/${branch}/hard_reset`, { query: { ref } })).status
const reset = (branch: string, json: object): Promise<unknown> =>
  api.need(204, 'PUT', `~/branches/${branch}`, { json })
const merge = async (source: string, destination: string, json: object = {}): Promise<number> =>
  (await api.merge(source, destination, json)).status

describe('what counts as a change', () => {
  test('ES-102 a merge from a first commit that is empty makes a commit, and from one that changed nothing later does not', async () => {
    await api.branch('s', 'main')
    await api.commit('s', 'empty', { allow_empty: true })
    expect(await merge('s', 'main')).toBe(200)
    await api.branch('t', 'main')
    await api.commit('t', 'empty again', { allow_empty: true })
    expect(await merge('t', 'main')).toBe(400)
  })

  test('ES-102 content that was changed and written again is a change, and the same commit reverted is none', async () => {
    for (const path of ['a', 'b']) await api.put('main', path)
    await api.commit('main', 'base')
    for (const name of ['rewritten', 'reverted']) await api.branch(name, 'main')
    for (const name of ['rewritten', 'reverted']) {
      await api.put(name, 'b', 'other')
      await api.commit(name, 'other')
    }
    await api.put('rewritten', 'b')
    await api.commit('rewritten', 'again')
    expect(await revert('reverted', { ref: 'reverted', parent_number: 0 })).toBe(204)
    // Both hold what main holds.
    expect(await merge('reverted', 'main')).toBe(400)
    expect(await merge('rewritten', 'main')).toBe(200)
  })

  test('ES-102 a merge whose result is the destination makes a commit all the same', async () => {
    await api.put('main', 'a', 'base')
    await api.commit('main', 'base')
    await api.branch('s', 'main')
    for (const branch of ['main', 's']) {
      await api.put(branch, 'a', `of ${branch}`)
      await api.commit(branch, branch)
    }
    expect(await merge('s', 'main', { strategy: 'dest-wins' })).toBe(200)
    expect((await api.get('main', 'a')).text).toBe('of main')
  })

  test('ES-102 a revert to nothing on a branch with nothing makes a commit, once', async () => {
    await api.branch('s', 'main')
    await api.put('s', 'a')
    await api.commit('s', 'adds')
    expect(await revert('main', { ref: 's', parent_number: 0 })).toBe(204)
    expect(await revert('main', { ref: 's', parent_number: 0 })).toBe(400)
  })
})

describe('reverts and cherry-picks', () => {
  test('ES-103 a parent number that no commit has is refused before anything is looked for', async () => {
    expect(await revert('missing', { ref: 'missing', parent_number: -1 })).toBe(400)
    for (const parent_number of [-1, 0])
      expect(await pick('missing', { ref: 'missing', parent_number })).toBe(400)
    // Of the commit before the branch.
    expect(await pick('missing', { ref: 'main', parent_number: 1 })).toBe(400)
    expect(await revert('missing', { ref: 'main', parent_number: 1 })).toBe(400)
    expect(await revert('missing', { ref: 'main', parent_number: 0 })).toBe(404)
  })

  test('ES-105 what the new commit says is replaced where the request gives it, and nothing by an empty message', async () => {
    await api.branch('s', 'main')
    await api.put('s', 'a')
    const picked = await api.commit('s', 'adds', { metadata: { of: 's' } })
    const metadata = { given: '1' }
    expect(await pick('main', { ref: 's', commit_overrides: { message: 'other', metadata } })).toBe(201)
    expect(await api.commitOf('main')).toMatchObject({
      message: 'other',
      metadata: { given: '1', 'cherry-pick-origin': picked },
    })
    expect(await revert('main', { ref: 'main', parent_number: 0, commit_overrides: { metadata } })).toBe(204)
    expect(await api.commitOf('main')).toMatchObject({ message: 'Revert main', metadata })
    expect(await pick('main', { ref: 's', commit_overrides: { message: '' } })).toBe(201)
    const plain = await api.commitOf('main')
    expect([plain.message, plain.metadata['of']]).toEqual(['adds', 's'])
    expect(await pick('main', { ref: 's', commit_overrides: { message: 1 } })).toBe(400)
  })
})

describe('what is sealed', () => {
  beforeEach(async () => {
    for (const path of ['d/a', 'd/b']) await api.put('main', path, 'old')
    await api.commit('main', 'base')
    await api.branch('work', 'main')
  })

  test('ES-104 after a reset of a prefix a branch cannot be moved while what was changed there differs from its head', async () => {
    await api.put('work', 'd/a', 'new')
    await reset('work', { type: 'common_prefix', path: 'd/' })
    expect((await api.get('work', 'd/a')).text).toBe('old')
    expect(await hardReset('work', 'main~1')).toBe(400)
    await reset('work', { type: 'reset' })
    expect(await hardReset('work', 'main~1')).toBe(204)
  })

  test('ES-104 what was only added, and what is only staged, does not hold a branch', async () => {
    await api.put('work', 'd/new')
    await reset('work', { type: 'common_prefix', path: '' })
    expect(await hardReset('work', 'main~1')).toBe(204)
    await api.put('main', 'd/new')
    expect(await hardReset('main', 'main~1')).toBe(204)
  })

  test('ES-104 a successful commit takes what was sealed with it', async () => {
    await api.put('work', 'd/a', 'new')
    await reset('work', { type: 'common_prefix', path: 'd/' })
    await api.put('work', 'd/a', 'newer')
    await api.commit('work', 'takes all')
    expect(await hardReset('work', 'main~1')).toBe(204)
  })

  test('ES-106 a reset of one object stages what the head holds, which shows once the branch is moved', async () => {
    await api.put('work', 'd/a', 'new')
    await reset('work', { type: 'object', path: 'd/a' })
    expect((await api.send('GET', '~/branches/work/diff')).json).toMatchObject({ results: [] })
    expect(await hardReset('work', 'main~1')).toBe(204)
    expect((await api.send('GET', '~/branches/work/diff')).json).toMatchObject({
      results: [{ path: 'd/a', type: 'added' }],
    })
  })
})

test('ES-107 differences with a delimiter go on behind everything that starts with `after`', async () => {
  for (const path of ['a', 'ab', 'd/a', 'd/b', 'e']) await api.put('main', path)
  const pathsAfter = async (path: string, after: string): Promise<string[]> => {
    const { json } = await api.send('GET', path, { query: { delimiter: '/', after } })
    return (json as { results: { path: string }[] }).results.map((shown) => shown.path)
  }
  expect(await pathsAfter('~/branches/main/diff', 'a')).toEqual(['d/', 'e'])
  expect(await pathsAfter('~/branches/main/diff', 'd/b')).toEqual(['e'])
  expect(await pathsAfter('~/refs/main/objects/ls', 'a')).toEqual(['ab', 'd/', 'e'])
})

test('ES-108 a wrong expression for one commit, and an empty name, are failures of the server', async () => {
  for (const ref of ['main^2', 'main$', 'main~x'])
    expect((await api.send('GET', `~/commits/${encodeURIComponent(ref)}`)).status).toBe(500)
  expect((await api.send('POST', '~/tags', { json: { id: '', ref: 'missing' } })).status).toBe(500)
  expect((await api.send('POST', '~/branches', { json: { name: '', source: 'missing' } })).status).toBe(500)
})

test('ES-109 of several mistakes the one is told that lakeFS finds first', async () => {
  const status = async (method: string, path: string, options: object = {}): Promise<number> =>
    (await api.send(method, path, options)).status
  const long = { path: 'x'.repeat(1025) }
  expect(await status('POST', '~/branches/missing/objects', { query: long, body: 'x' })).toBe(404)
  const copy = { query: { dest_path: 'b' }, json: { src_path: 'a', src_ref: 'main^2' } }
  expect(await status('POST', '~/branches/missing/objects/copy', copy)).toBe(404)
  expect(await status('GET', '~/refs/missing/merge/main%5E2')).toBe(400)
  expect(await status('GET', '~/refs/main%5E2/commits', { query: { after: 'missing' } })).toBe(400)
  expect(await status('PUT', '~/branches/missing', { json: { type: 'common_prefix' } })).toBe(404)
  const commit = { query: { source_metarange: '' }, json: { message: 'm' } }
  expect(await status('POST', '~/branches/missing/commits', commit)).toBe(400)
  const lines = { query: { path: 'missing' }, headers: { range: 'lines=1' } }
  expect(await status('HEAD', '~/refs/main/objects', lines)).toBe(400)
})
