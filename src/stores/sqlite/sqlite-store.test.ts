// Goal: what a commit that fails leaves behind is told truly: perhaps written, or certainly not.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { keysOf, put, write } from '../../../test/conformance/store-cases/scene.ts'
import { SqliteConnection } from '../../base/sqlite-connection.ts'
import type { Store } from '../../core/ports.ts'
import { openSqliteStore } from './sqlite-store.ts'

let directory: string
let store: Store

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perago-sqlite-'))
  store = openSqliteStore({ file: join(directory, 'store.db') })
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

/** The next statement that is this one fails: before it takes effect, or after. */
function failOnce(statement: string, when: 'before' | 'after', error: Error): void {
  const exec = Reflect.get<SqliteConnection, 'exec'>(SqliteConnection.prototype, 'exec')
  const spy = vi.spyOn(SqliteConnection.prototype, 'exec').mockImplementation(function (
    this: SqliteConnection,
    sql,
  ) {
    if (sql !== statement) {
      exec.call(this, sql)
      return
    }
    spy.mockRestore()
    if (when === 'after') exec.call(this, sql)
    throw error
  })
  onTestFinished(() => spy.mockRestore())
}

const FULL = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
const BUSY = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })

test.each(['before', 'after'] as const)(
  'ST-102 a commit that fails %s it took effect is uncertain for each batch in it, and names a key to read',
  async (when) => {
    failOnce('COMMIT', when, FULL)
    const outcomes = await Promise.allSettled([write(store, put('a')), write(store, put('b'), put('c'))])
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as unknown))).toEqual([
      expect.objectContaining({ kind: 'uncertain', code: 'stores/answer-lost', read: 'the key "a"' }),
      expect.objectContaining({ kind: 'uncertain', code: 'stores/answer-lost', read: 'the key "b"' }),
    ])
    expect(await keysOf(store, '')).toEqual(when === 'after' ? ['a', 'b', 'c'] : [])
    await write(store, put('d'))
    expect(await keysOf(store, 'd')).toEqual(['d'])
  },
)

test('ST-102 a batch that fails before its commit is surely not written', async () => {
  failOnce('BEGIN IMMEDIATE', 'before', FULL)
  await expect(write(store, put('a'))).rejects.toMatchObject({
    kind: 'unavailable',
    code: 'stores/not-done',
  })
  expect(await keysOf(store, '')).toEqual([])
})

test('ST-102 a commit that other processes keep waiting is made again, as a whole', async () => {
  failOnce('COMMIT', 'before', BUSY)
  await write(store, put('a'), put('b'))
  expect(await keysOf(store, '')).toEqual(['a', 'b'])
})
