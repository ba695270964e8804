// Goal: what was acknowledged and is lost with a damaged log is told, and a store that lost nothing opens.
// Method: the files of an open store are copied, as a kill leaves them, and bits of the copy of its log are changed.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keysOf, put, write } from '../../../test/conformance/store-cases/scene.ts'
import { openSqliteStore } from './sqlite-store.ts'

const BATCHES = 12

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'perago-log-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** What a kill leaves of a store after so many acknowledged batches. */
async function killed(batches = BATCHES): Promise<string> {
  const [living, left] = [newDirectory(), newDirectory()]
  const store = openSqliteStore({ file: join(living, 'store.db') })
  for (let n = 0; n < batches; n += 1) await write(store, put(`key${n}`))
  cpSync(living, left, { recursive: true })
  await store.close()
  return left
}

function copyOf(directory: string): string {
  const copy = newDirectory()
  cpSync(directory, copy, { recursive: true })
  return copy
}

async function countIn(directory: string): Promise<number | string> {
  try {
    const store = openSqliteStore({ file: join(directory, 'store.db') })
    try {
      return (await keysOf(store, 'key')).length
    } finally {
      await store.close()
    }
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('ST-113 whichever bit of the log of a killed store changes, its batches are all there, or it is refused as corrupt', async () => {
  const left = await killed()
  expect(await countIn(copyOf(left))).toBe(BATCHES)
  const log = readFileSync(join(left, 'store.db-wal'))
  const found = new Map<number | string, number>()
  const [directory] = [newDirectory()]
  const step = Math.floor(log.length / 150)
  for (let at = 0; at < log.length; at += at < 120 ? 3 : step) {
    rmSync(directory, { recursive: true })
    cpSync(left, directory, { recursive: true })
    const damaged = Buffer.from(log)
    damaged[at] = (damaged[at] ?? 0) ^ 4
    writeFileSync(join(directory, 'store.db-wal'), damaged)
    const count = await countIn(directory)
    expect([BATCHES, 'stores/corrupt'], `byte ${at}`).toContain(count)
    found.set(count, (found.get(count) ?? 0) + 1)
    // Nothing that could still be read from it is lost by the refusal.
    if (count !== BATCHES) expect(readFileSync(join(directory, 'store.db-wal')).equals(damaged)).toBe(true)
  }
  expect(found.get('stores/corrupt')).toBeGreaterThan(50)
})

test('ST-113 a log that was cut or lost is told, with how to go on without what is missing', async () => {
  const left = await killed()
  const file = join(left, 'store.db')
  rmSync(`${file}-wal`)
  rmSync(`${file}-shm`, { force: true })
  expect(() => openSqliteStore({ file })).toThrow(
    expect.objectContaining({
      code: 'stores/corrupt',
      message: expect.stringContaining(`remove ${file}-mark`) as string,
    }) as Error,
  )
  rmSync(`${file}-mark`)
  const store = openSqliteStore({ file })
  onTestFinished(() => store.close())
  await write(store, put('key'))
})

test('ST-114 a store that was closed, or is an older copy of a closed one, opens, also beside what writes to it', async () => {
  const directory = newDirectory()
  const file = join(directory, 'store.db')
  const first = openSqliteStore({ file })
  await write(first, put('key0'))
  await first.close()
  const older = readFileSync(file)
  const [one, other] = [openSqliteStore({ file }), openSqliteStore({ file })]
  for (let n = 1; n < 6; n += 1) await write(n % 2 === 0 ? one : other, put(`key${n}`))
  expect(await countIn(directory)).toBe(6)
  await one.close()
  await other.close()
  expect(await countIn(directory)).toBe(6)
  writeFileSync(file, older)
  expect(existsSync(`${file}-wal`) && readFileSync(`${file}-wal`).length > 0).toBe(false)
  expect(await countIn(directory)).toBe(1)
})

test('ST-114 a mark that is damaged, or of another store, keeps no store from opening', async () => {
  const left = await killed()
  const mark = join(left, 'store.db-mark')
  const others = readFileSync(join(await killed(BATCHES * 2), 'store.db-mark'))
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(64, 0xff), others]) {
    const copy = copyOf(left)
    writeFileSync(mark, bytes)
    writeFileSync(join(copy, 'store.db-mark'), bytes)
    expect(await countIn(copy)).toBe(BATCHES)
  }
})
