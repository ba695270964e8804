import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LAKE, openLake, reopenLake, temporaryDir } from '../../../../test/support/embedded-engine.ts'
import { checkDataDir } from './fsck.ts'
import { openMetadataDb } from './metadata-db.ts'

/** `a` and `old` on main, `old` overwritten later; `work` with `b` committed and `c` uncommitted; a tag on the first commit. */
async function closedLake() {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  await lake.put('main', 'a', 'content a')
  await lake.put('main', 'old', 'content old')
  const first = (await lake.commit('main', 'first')).id
  await lake.put('main', 'old', 'newer')
  const second = (await lake.commit('main', 'second')).id
  await lake.branch('work')
  await lake.put('work', 'b', 'content b')
  await lake.commit('work', 'third')
  await lake.put('work', 'c', 'content c')
  await lake.engine.close()
  return { dataDir, first, second, fileOf: (content: string) => objectFile(dataDir, content) }
}

function objectFile(dataDir: string, content: string): string {
  return join(dataDir, 'objects', createHash('sha256').update(content).digest('hex'))
}

test('EE-78 a whole directory has no damage, and a check changes nothing in it', async () => {
  const { dataDir } = await closedLake()
  const content = () => readdirSync(dataDir).map((name) => name)
  const before = content()
  const metadata = readFileSync(join(dataDir, 'metadata.sqlite'))
  expect(await checkDataDir(dataDir)).toMatchObject({
    isServed: false,
    objects: 5,
    commits: 4,
    damages: [],
    damagesLeftOut: 0,
  })
  expect(content()).toEqual(before)
  expect(readFileSync(join(dataDir, 'metadata.sqlite')).equals(metadata)).toBe(true)
})

test('EE-78 a damaged or missing object is named with every branch that shows it, or the commit', async () => {
  const { dataDir, first, fileOf } = await closedLake()
  writeFileSync(fileOf('content a'), 'content A')
  rmSync(fileOf('content old'))
  writeFileSync(fileOf('content c'), 'content C')
  const { damages } = await checkDataDir(dataDir)
  const named = damages.map(({ kind, branch, path, isUncommitted, what, file }) => [
    ...[kind, branch, path, isUncommitted === true, what],
    file,
  ])
  const damaged = 'the stored bytes are damaged'
  expect(named).toEqual([
    ['object', 'main', 'a', false, damaged, fileOf('content a')],
    ['object', 'work', 'a', false, damaged, fileOf('content a')],
    ['object', 'work', 'c', true, damaged, fileOf('content c')],
    ['object', undefined, 'old', false, 'the stored bytes are missing', fileOf('content old')],
  ])
  expect(damages.at(-1)).toMatchObject({ repository: LAKE, commit: first })
  for (const { next } of damages) expect(next).toMatch(/^Upload the object again/)

  // What it says helps.
  const lake = await reopenLake({ dataDir })
  for (const content of ['content a', 'content old', 'content c']) await lake.put('main', 'again', content)
  expect((await checkDataDir(dataDir)).damages).toEqual([])
})

test.each([
  ['a tree node', `UPDATE nodes SET bytes = zeroblob(8) WHERE number = 1`, 'tree', /tree node/],
  ['a commit', `UPDATE commits SET record = replace(record, 'second', 'SECOND')`, 'commit', /damaged/],
  ['a tag', `UPDATE tags SET name = 'v2'`, 'metadata', /row tags .*v2/],
  ['an uncommitted change', `UPDATE staged SET seq = 1`, 'metadata', /row staged/],
])('EE-78 %s that is damaged is named', async (_, sql, kind, what) => {
  const { dataDir } = await closedLake()
  const lake = await reopenLake({ dataDir })
  await lake.engine.createTag({ repository: LAKE, name: 'v1', ref: 'main' })
  await lake.engine.close()
  const db = openMetadataDb(join(dataDir, 'metadata.sqlite'), 'open')
  db.exec(sql)
  db.close()
  const { damages } = await checkDataDir(dataDir)
  expect(damages).toContainEqual(
    expect.objectContaining({ kind, what: expect.stringMatching(what) as string }),
  )
})

test('EE-79 a check beside a running server names what is damaged and does not disturb it', async () => {
  const { dataDir, fileOf } = await closedLake()
  const lake = await reopenLake({ dataDir })
  expect(await checkDataDir(dataDir)).toMatchObject({ isServed: true, damages: [] })
  writeFileSync(fileOf('content a'), 'content A')
  const checked = checkDataDir(dataDir)
  await lake.put('work', 'during', 'written during the check')
  expect((await checked).damages).toMatchObject([
    { branch: 'main', path: 'a' },
    { branch: 'work', path: 'a' },
  ])
  expect(await lake.read('work', 'during')).toBe('written during the check')
})

test('EE-78 a directory that is none of ours is refused, and nothing is made', async () => {
  const dataDir = join(temporaryDir(), 'none')
  await expect(checkDataDir(dataDir)).rejects.toMatchObject({ code: 'embedded/no-data-dir' })
})
