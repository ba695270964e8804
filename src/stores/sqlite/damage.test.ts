// Goal: damage is told as damage, with the key; and a disk that is full or may not be written is not taken for damage.
import Database from 'libsql'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keysOf, put, write } from '../../../test/conformance/store-cases/scene.ts'
import { actAsNobody } from '../../../test/support/act-as-nobody.ts'
import { emptyDisk, fillDisk, mountSmallDisk } from '../../../test/support/small-disk.ts'
import { StillClock } from '../../../test/support/core-world.ts'
import type { Clock } from '../../base/clock.ts'
import type { Store } from '../../core/ports.ts'
import { openSqliteStore } from './sqlite-store.ts'

function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'perago-damage-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'store.db')
}

function open(file: string, clock?: Clock): Store {
  const store = openSqliteStore({ file, ...(clock === undefined ? {} : { clock }) })
  onTestFinished(() => store.close())
  return store
}

/** What another program does to the file. */
function change(file: string, ...sql: readonly string[]): void {
  const db = new Database(file)
  for (const one of sql) db.exec(one)
  db.close()
}

async function fill(file: string, ...keys: readonly string[]): Promise<void> {
  const store = openSqliteStore({ file })
  for (const key of keys) await write(store, put(key))
  await store.close()
}

const corrupt = (key?: string): object =>
  expect.objectContaining({
    kind: 'defect',
    code: 'stores/corrupt',
    details: expect.objectContaining(key === undefined ? {} : { key }) as object,
  }) as object

test.each([
  ["UPDATE entries SET value = x'00' WHERE key = 'b'"],
  ["UPDATE entries SET revision = revision + 1 WHERE key = 'b'"],
  ["UPDATE entries SET expires_at = 9000000000000 WHERE key = 'b'"],
  ["UPDATE entries SET key = 'b2' WHERE key = 'b'"],
])('ST-103 what %s changes is refused with the key, and other keys are read', async (sql) => {
  const file = newFile()
  await fill(file, 'a', 'b', 'c')
  change(file, sql)
  const key = sql.includes("'b2'") ? 'b2' : 'b'
  const store = open(file)
  await expect(store.get(key)).rejects.toEqual(corrupt(key))
  await expect(store.range({ prefix: '' })).rejects.toEqual(corrupt(key))
  expect((await store.get('a'))?.key).toBe('a')
  expect(await keysOf(store, 'c')).toEqual(['c'])
})

test('ST-103 a key that is changed wherever it stands in the file is found, or refused, and never absent', async () => {
  const file = newFile()
  await fill(file, 'a', 'keyOfInterest', 'z')
  const whole = readFileSync(file)
  const refused: number[] = []
  for (let at = whole.indexOf('keyOfInterest'); at >= 0; at = whole.indexOf('keyOfInterest', at + 1)) {
    const damaged = Buffer.from(whole)
    damaged.write('zeyOfInterest', at)
    writeFileSync(file, damaged)
    const store = openSqliteStore({ file })
    const found = await store.get('keyOfInterest').catch((error: unknown) => error)
    if (found instanceof Error) expect(found).toEqual(corrupt('keyOfInterest'))
    else expect(found).toMatchObject({ key: 'keyOfInterest' })
    if (found instanceof Error) {
      refused.push(at)
      const taken = store.commit({
        conditions: [{ key: 'keyOfInterest', is: 'absent' }],
        operations: [put('x')],
      })
      await expect(taken).rejects.toEqual(corrupt('keyOfInterest'))
      for (const order of ['ascending', 'descending'] as const) {
        const listed = store.range({ prefix: '', order })
        await expect(listed).rejects.toMatchObject({ code: 'stores/corrupt' })
      }
    }
    await store.close()
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
  }
  expect(refused).toHaveLength(2)
})

test('ST-103 a wrong time of expiry has nothing removed that stays', async () => {
  const file = newFile()
  const clock = new StillClock()
  await fill(file, 'stays')
  change(file, "UPDATE entries SET expires_at = 1 WHERE key = 'stays'")
  const store = open(file, clock)
  await expect(write(store, put('a'))).rejects.toEqual(corrupt('stays'))
  await expect(store.get('stays')).rejects.toEqual(corrupt('stays'))
})

test('ST-103 a batch that comes upon damage is refused, and those beside it are written', async () => {
  const file = newFile()
  await fill(file, 'a', 'keyOfInterest', 'z')
  const whole = readFileSync(file)
  whole.write('zeyOfInterest', whole.lastIndexOf('keyOfInterest'))
  writeFileSync(file, whole)
  const store = open(file)
  await expect(store.get('keyOfInterest')).rejects.toEqual(corrupt('keyOfInterest'))
  const outcomes = await Promise.allSettled([
    write(store, put('b')),
    store.commit({ conditions: [{ key: 'keyOfInterest', is: 'present' }], operations: [put('c')] }),
    write(store, put('d')),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[1]).toMatchObject({ reason: corrupt('keyOfInterest') })
  expect([...(await keysOf(store, 'b')), ...(await keysOf(store, 'd'))]).toEqual(['b', 'd'])
})

test('ST-105 a store of the first version opens, and an entry has its checksum once it is written again', async () => {
  const file = newFile()
  change(
    file,
    FIRST_VERSION,
    "INSERT INTO state VALUES (1, 'epoch', 7, 0)",
    "INSERT INTO entries VALUES ('a', x'31', 6, NULL), ('b', x'32', 7, NULL)",
    'PRAGMA application_id = 1886545779',
    'PRAGMA user_version = 1',
  )
  const store = openSqliteStore({ file })
  expect((await store.range({ prefix: '' })).entries.map(({ key, revision }) => [key, revision])).toEqual([
    ['a', 6],
    ['b', 7],
  ])
  await write(store, put('b'))
  expect((await store.get('b'))?.revision).toBe(8)
  await store.close()
  change(file, "UPDATE entries SET value = x'39'")
  const again = open(file)
  expect(Buffer.from((await again.get('a'))?.value ?? []).toString()).toBe('9')
  await expect(again.get('b')).rejects.toEqual(corrupt('b'))
})

test.each([
  ['PRAGMA application_id = 7'],
  ['PRAGMA user_version = 6'],
  ['PRAGMA user_version = 1'],
  ['DROP TABLE changes'],
  ['UPDATE state SET revision = 1'],
  ['DELETE FROM state'],
])('ST-103 a store after %s is damaged, not another program’s file', async (sql) => {
  const file = newFile()
  await fill(file, 'a', 'b')
  change(file, sql)
  const use = async (): Promise<void> => {
    await write(open(file), put('c'))
  }
  await expect(use()).rejects.toEqual(corrupt())
})

test('ST-103 a file that is no database is told as damaged, with what to do if it is no store', () => {
  const file = newFile()
  writeFileSync(file, 'x'.repeat(10_000))
  expect(() => openSqliteStore({ file })).toThrow(corrupt())
})

describe('a disk without room or rights', () => {
  test('ST-117 a full disk is unavailable at the start and later, and never called damaged', async (context) => {
    const at = await mountSmallDisk('tmpfs', context)
    const file = join(at, 'store.db')
    const store = open(file)
    await write(store, put('a'))
    fillDisk(at, 'bytes')
    const next = expect.stringMatching(/[Ff]ree space/) as string
    const large = { do: 'put', key: 'large', value: Buffer.alloc(1_000_000) } as const
    const kind = expect.stringMatching(/^(?:unavailable|uncertain)$/) as string
    await expect(store.commit({ operations: [large] })).rejects.toMatchObject({ kind, next })
    const opening = (): Store => openSqliteStore({ file: join(at, 'other.db') })
    const told = { kind: 'unavailable', code: 'stores/cannot-open', next }
    expect(opening).toThrow(expect.objectContaining(told) as Error)
    emptyDisk(at)
    expect((await store.get('a'))?.key).toBe('a')
    await write(open(join(at, 'other.db')), put('a'))
  })

  test('ST-117 a store that this user may not write, or that cannot be there, is unavailable', async () => {
    const file = newFile()
    await fill(file, 'a')
    mkdirSync(`${file}.d`)
    for (const wrong of [`${file}.d`, join(file, 'below', 'store.db')]) {
      expect(() => openSqliteStore({ file: wrong })).toThrow(
        expect.objectContaining({ kind: 'unavailable', code: 'stores/cannot-open' }) as Error,
      )
    }
    actAsNobody(file)
    chmodSync(file, 0o400)
    const store = open(file)
    const next = expect.stringContaining('Let this user write') as string
    await expect(write(store, put('b'))).rejects.toMatchObject({ code: 'stores/not-done', next })
    expect(await keysOf(store, '')).toEqual(['a'])
  })
})

const FIRST_VERSION = `
  CREATE TABLE entries (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    revision INTEGER NOT NULL,
    expires_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX expiring ON entries (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE changes (
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (revision, position)
  ) WITHOUT ROWID;
  CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), epoch TEXT NOT NULL, revision INTEGER NOT NULL, forgotten INTEGER NOT NULL);
`
