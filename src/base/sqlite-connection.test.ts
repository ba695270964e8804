import { mkdtempSync, rmSync, statSync, writeFileSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SqliteConnection } from './sqlite-connection.ts'
import { sqliteTroubleOf } from './sqlite-trouble.ts'

function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'perago-sqlite-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  chmodSync(directory, 0o755)
  return join(directory, 'a.db')
}

function open(file: string): SqliteConnection {
  const db = new SqliteConnection(file, () => new Error('closed'))
  onTestFinished(() => db.close())
  return db
}

const modeOf = (file: string): number => statSync(file).mode & 0o777

test.each([0o022, 0o000, 0o777])(
  'ST-118 a file and its log are made for their owner alone, with the umask %d',
  (umask) => {
    const file = newFile()
    const before = process.umask(umask)
    onTestFinished(() => void process.umask(before))
    const db = open(file)
    db.useDurableLog(1_000_000)
    db.exec('CREATE TABLE t (a)')
    expect([file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual([0o600, 0o600, 0o600])
  },
)

test('ST-118 a file that exists keeps its mode, so that a group can share it', () => {
  const file = newFile()
  writeFileSync(file, '')
  chmodSync(file, 0o660)
  open(file).exec('CREATE TABLE t (a)')
  expect(modeOf(file)).toBe(0o660)
})

test.each([
  [{ code: 'SQLITE_FULL' }, 'full'],
  [{ code: 'SQLITE_IOERR_WRITE' }, 'io'],
  [{ code: 'SQLITE_CANTOPEN_ISDIR' }, 'cannot-open'],
  [{ code: 'SQLITE_READONLY_DIRECTORY' }, 'read-only'],
  [{ code: 'SQLITE_CORRUPT_INDEX' }, 'corrupt'],
  [{ code: 'SQLITE_NOTADB' }, 'corrupt'],
  [{ code: 'SQLITE_BUSY_SNAPSHOT' }, 'busy'],
  [{ rawCode: 778 }, 'io'],
  [{ message: 'ConnectionFailed("Unable to open connection to local database /x: 14")' }, 'cannot-open'],
  [{ code: 'ENOSPC' }, 'full'],
  [{ code: 'EACCES' }, 'cannot-open'],
  [{ code: 'SQLITE_ERROR' }, undefined],
])('ST-117 what %o says of the file is known', (fields, trouble) => {
  expect(sqliteTroubleOf(Object.assign(new Error(), fields))).toBe(trouble)
})
