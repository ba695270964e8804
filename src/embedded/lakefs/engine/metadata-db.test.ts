import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LAKE, openLake, reopenLake, temporaryDir } from '../../../../test/support/embedded-engine.ts'
import { openMetadataDb } from './metadata-db.ts'
import { openEngine } from './open-engine.ts'

test('EE-70 a query without a row has none, also after the same query for all rows had some', () => {
  const db = openMetadataDb(':memory:', 'create')
  const sql = 'SELECT sql FROM sqlite_schema WHERE name = ?'
  expect(db.get(sql, 'none')).toBeUndefined()
  expect(db.all(sql, 'branches')).toHaveLength(1)
  expect(db.get(sql, 'none')).toBeUndefined()
  db.close()
})

const DAMAGED = { code: 'embedded/corrupt-data-dir' }

/** A closed directory with something in every table, damaged through SQLite itself: structure and indexes stay right. */
async function damagedLake(sql: string) {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  for (const path of ['a', 'b', 'c']) await lake.put('main', path)
  await lake.commit('main', 'one')
  await lake.branch('dev')
  await lake.engine.createTag({ repository: LAKE, name: 'v1', ref: 'main' })
  for (const path of ['x', 'y', 'z']) await lake.put('dev', path)
  await lake.engine.close()
  const db = openMetadataDb(join(dataDir, 'metadata.sqlite'), 'open')
  db.exec(sql)
  db.close()
  return dataDir
}

test.each([
  ['the head of a branch', `UPDATE branches SET commit_id = replace(commit_id, '1', '2') WHERE name = 'dev'`],
  ['a hidden branch', `UPDATE branches SET hidden = 1 WHERE name = 'dev'`],
  ['the commit of a tag', `UPDATE tags SET commit_id = replace(commit_id, '1', '2')`],
  ['the name of a tag', `UPDATE tags SET name = 'v3'`],
  ['a repository', `UPDATE repositories SET read_only = 1`],
  ['a storage namespace', `UPDATE namespaces SET namespace = 'local://lakf'`],
  ['the schema', 'CREATE INDEX more ON tags (commit_id)'],
])('EE-72 %s that is not what was written stops the start', async (_, sql) => {
  const dataDir = await damagedLake(sql)
  await expect(openEngine({ dataDir })).rejects.toMatchObject(DAMAGED)
})

test('EE-73 a damaged commit is refused with its id, and everything without it is answered', async () => {
  const dataDir = await damagedLake(`UPDATE commits SET record = replace(record, 'one', 'two')`)
  const lake = await reopenLake({ dataDir })
  const id = lake.head('main')
  const told = expect.objectContaining({
    ...DAMAGED,
    message: expect.stringContaining(id) as string,
  }) as Error
  expect(() => lake.engine.getCommit(LAKE, 'main')).toThrow(told)
  expect(() => lake.paths('main')).toThrow(told)
  expect(() => lake.engine.getCommit(LAKE, id)).toThrow(told)
  await expect(lake.commit('dev', 'on it')).rejects.toMatchObject(DAMAGED)
  expect(lake.engine.listBranches(LAKE, { amount: 10, showHidden: true }).items).toHaveLength(2)
})

test.each([
  [
    'a value',
    `UPDATE staged SET value = CAST(replace(CAST(value AS TEXT), 'octet', 'octex') AS BLOB) WHERE key = x'79'`,
  ],
  ['a key', `UPDATE staged SET key = x'7979' WHERE key = x'79'`],
  ['a number', `UPDATE staged SET seq = seq + (1 << 40) WHERE key = x'79'`],
])(
  'EE-74 damage of %s among staged changes stops their branch alone, until they are discarded',
  async (_, sql) => {
    const dataDir = await damagedLake(sql)
    const lake = await reopenLake({ dataDir })
    for (const ask of [
      () => lake.paths('dev'),
      () => lake.engine.stat(LAKE, 'dev', 'x'),
      () => lake.uncommitted('dev'),
    ]) {
      expect(ask).toThrow(expect.objectContaining(DAMAGED))
    }
    await expect(lake.commit('dev', 'two')).rejects.toMatchObject(DAMAGED)
    expect(lake.paths('main')).toEqual(['a', 'b', 'c'])
    await lake.put('main', 'd')
    await lake.engine.resetUncommitted(LAKE, 'dev', { type: 'reset' })
    expect(lake.paths('dev')).toEqual(['a', 'b', 'c'])
    await lake.put('dev', 'x')
    await lake.commit('dev', 'two')
    expect(lake.paths('dev@')).toEqual(['a', 'b', 'c', 'x'])
  },
)

test('EE-75 a directory of an earlier version gets its sums once, and keeps everything', async () => {
  const tables = [
    ...['meta', 'repositories', 'namespaces', 'branches', 'tags', 'commits', 'staged', 'dropped_stagings'],
    'addresses',
  ]
  const dropped = tables.map((table) => `ALTER TABLE ${table} DROP COLUMN sum`).join('; ')
  const dataDir = await damagedLake(
    `${dropped}; DROP TABLE sealed; DELETE FROM meta WHERE name = 'schema'; PRAGMA user_version = 1`,
  )
  for (let time = 0; time < 2; time += 1) {
    const lake = await reopenLake({ dataDir })
    expect(lake.paths('dev')).toEqual(['a', 'b', 'c', 'x', 'y', 'z'])
    expect(lake.engine.getTag(LAKE, 'v1').commitId).toBe(lake.head('main'))
    await lake.put('dev', 'w')
    await lake.engine.resetUncommitted(LAKE, 'dev', { type: 'object', path: 'w' })
    await lake.engine.close()
  }
})
