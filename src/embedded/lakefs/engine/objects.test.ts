import { expect, test } from 'vitest'
import { LAKE, md5, openLake } from '../../../../test/support/embedded-engine.ts'

test('EE-19 reading a branch shows its uncommitted changes; "@" and a commit id do not', async () => {
  const lake = await openLake()
  await lake.put('main', 'a', '1')
  await lake.put('main', 'b', '1')
  const one = await lake.commit('main', 'one')
  await lake.put('main', 'a', '2')
  await lake.put('main', 'c', '3')
  await lake.remove('main', 'b')
  expect(lake.paths('main')).toEqual(['a', 'c'])
  expect(lake.paths('main$')).toEqual(['a', 'c'])
  expect(lake.paths('main@')).toEqual(['a', 'b'])
  expect(lake.paths(one.id)).toEqual(['a', 'b'])
  expect(await lake.read('main', 'a')).toBe('2')
  expect(await lake.read('main@', 'a')).toBe('1')
  expect(() => lake.engine.stat(LAKE, 'main', 'b')).toThrow(
    expect.objectContaining({ reason: 'object-not-found' }),
  )
  expect(lake.engine.stat(LAKE, 'main@', 'b').checksum).toBe(md5('1'))
  expect(() => lake.engine.stat(LAKE, 'none', 'b')).toThrow(
    expect.objectContaining({ reason: 'ref-not-found' }),
  )
})

test('EE-19 paths are never cleaned and are listed in the order of their bytes', async () => {
  const lake = await openLake()
  const paths = [
    '/',
    '/a',
    './r',
    'a%2Fb',
    'a\nb',
    'a\0b',
    'dir/',
    'p/../q',
    'x//y',
    '\ue000',
    '😀',
    'k'.repeat(1024),
  ]
  for (const path of paths) await lake.put('main', path)
  const expected = paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  expect(lake.paths('main')).toEqual(expected)
  await lake.commit('main', 'odd')
  expect(lake.paths('main@')).toEqual(expected)
  for (const path of paths) expect(await lake.read('main', path)).toBe(path)
  for (const path of ['', 'k'.repeat(1025), 'é'.repeat(513)]) {
    await expect(lake.put('main', path)).rejects.toMatchObject({ reason: 'bad-argument' })
  }
})

test('EE-20 of many that create one path only if it is absent, one does', async () => {
  const lake = await openLake()
  const asked = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => lake.putIfAbsent('main', 'lock', String(index))),
  )
  expect(asked.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  await lake.commit('main', 'lock')
  await expect(lake.putIfAbsent('main', 'lock')).rejects.toMatchObject({ reason: 'object-exists' })
  await lake.remove('main', 'lock')
  await expect(lake.putIfAbsent('main', 'lock', 'again')).resolves.toMatchObject({ checksum: md5('again') })
})

test('EE-21 deleting is remembered where there is something to delete', async () => {
  const lake = await openLake()
  for (const path of ['a', 'b', 'c', 'd']) await lake.put('main', path)
  await lake.commit('main', 'one')
  await lake.put('main', 'new')
  for (const path of ['a', 'a', 'new', 'never']) await lake.remove('main', path)
  expect(await lake.engine.deleteEntries(LAKE, 'main', ['b', 'never'])).toEqual([])
  expect(lake.uncommitted('main')).toEqual(['removed a', 'removed b'])
  // As lakeFS does: a path that cannot be a key spoils the whole batch, and nobody is told.
  expect(await lake.engine.deleteEntries(LAKE, 'main', ['c', ''])).toEqual([])
  expect(lake.paths('main')).toEqual(['c', 'd'])
  await expect(lake.remove('none', 'a')).rejects.toMatchObject({ reason: 'branch-not-found' })
  await expect(lake.engine.deleteEntries(LAKE, 'none', ['a'])).rejects.toMatchObject({
    reason: 'branch-not-found',
  })
})

test('EE-22 a copy keeps content, type and metadata, also across branches and from a commit', async () => {
  const lake = await openLake()
  await lake.put('main', 'a', 'copy me', { contentType: 'text/plain', metadata: { k: 'v' } })
  const { id } = await lake.commit('main', 'one')
  await lake.branch('other')
  await lake.remove('main', 'a')
  const copy = (sourceRef: string, sourcePath: string, branch: string, destination: string) =>
    lake.engine.copyEntry({ repository: LAKE, branch, destination, sourceRef, sourcePath })
  await expect(copy(id, 'a', 'other', 'z')).resolves.toMatchObject({
    path: 'z',
    checksum: md5('copy me'),
    contentType: 'text/plain',
    metadata: { k: 'v' },
  })
  expect(await lake.read('other', 'z')).toBe('copy me')
  await expect(copy('main', 'a', 'main', 'b')).rejects.toMatchObject({ reason: 'object-not-found' })
  await expect(copy(id, 'a', 'none', 'b')).rejects.toMatchObject({ reason: 'branch-not-found' })
})

test('EE-22 user metadata is replaced, the content stays', async () => {
  const lake = await openLake()
  await lake.put('main', 'a', 'x', { metadata: { old: '1' } })
  await lake.commit('main', 'one')
  const set = (path: string) =>
    lake.engine.setUserMetadata({ repository: LAKE, branch: 'main', path, metadata: { k: 'v' } })
  await set('a')
  expect(lake.engine.stat(LAKE, 'main', 'a')).toMatchObject({ metadata: { k: 'v' }, checksum: md5('x') })
  expect(lake.uncommitted('main')).toEqual(['changed a'])
  await expect(set('none')).rejects.toMatchObject({ reason: 'object-not-found' })
})
