import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { plainRedactor } from '../base/redaction.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { runCli } from './run.ts'
import { styleFor, type Terminal } from './terminal.ts'

let directory: string

beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'perago-store-cli-'))))
afterEach(() => rmSync(directory, { recursive: true }))

async function run(...args: readonly string[]): Promise<{ code: number; answered: string; said: string }> {
  let [answered, said] = ['', '']
  const terminal: Terminal = {
    answer: (text) => (answered += text),
    say: (text) => (said += text),
    directory,
    environment: { STORE: join(directory, 'second.db') },
    style: styleFor({}, {}),
    redactor: plainRedactor,
    keepSecret: () => undefined,
    stopSignal: () => new AbortController().signal,
  }
  const code = await runCli(args, terminal)
  return { code, answered, said }
}

async function fill(name: string, values: Readonly<Record<string, Uint8Array>>): Promise<void> {
  const store = openSqliteStore({ file: join(directory, name) })
  for (const [key, value] of Object.entries(values)) {
    await store.commit({ operations: [{ do: 'put', key, value }] })
  }
  const lease = { do: 'put', key: 'leases:sweeper', value: Buffer.from('me'), ttlMs: 600_000 } as const
  await store.commit({ operations: [lease] })
  await store.close()
}

const many = Object.fromEntries(
  Array.from({ length: 250 }, (_, at) => [`k:${String(at)}`, Buffer.alloc(at * 100, at)]),
)

test('ST-96 ST-97 an export imported into another store holds the same entries, except those that expire', async () => {
  await fill('first.db', { ...many, 'é😀': Buffer.alloc(1_000_000, 1), empty: Buffer.alloc(0) })
  const exported = await run('store', 'export', 'copy.jsonl', '--store', 'first.db', '--json')
  expect(JSON.parse(exported.answered)).toEqual({ entries: 252, expiring: 1 })
  expect((await run('store', 'verify', 'copy.jsonl')).answered).toContain('whole: 252 entries')
  expect(await run('store', 'import', 'copy.jsonl', '--store', 'env:STORE')).toMatchObject({
    code: 0,
    said: '',
  })
  for (const store of ['first.db', 'env:STORE']) {
    const verified = await run('store', 'verify', 'copy.jsonl', '--store', store)
    expect(verified).toMatchObject({ code: 0, said: '' })
  }
  const again = await run('store', 'import', 'copy.jsonl', '--store', 'env:STORE')
  expect(again).toMatchObject({ code: 3 })
  expect(again.said).toContain('runtime/store-not-empty')
})

test('ST-119 a copy can be read by its owner alone, also where an interrupted one left a file', async () => {
  await fill('first.db', { a: Buffer.from('1') })
  writeFileSync(join(directory, 'copy.jsonl.unfinished'), '', { mode: 0o666 })
  chmodSync(join(directory, 'copy.jsonl.unfinished'), 0o666)
  await run('store', 'export', 'copy.jsonl', '--store', 'first.db')
  expect(statSync(join(directory, 'copy.jsonl')).mode & 0o777).toBe(0o600)
})

test('ST-97 a difference between a copy and a store is found, wherever it is', async () => {
  await fill('first.db', many)
  await run('store', 'export', 'copy.jsonl', '--store', 'first.db')
  await fill('first.db', { 'k:7': Buffer.from('other'), a: Buffer.from('new'), z: Buffer.from('new') })
  const verified = await run('store', 'verify', 'copy.jsonl', '--store', 'first.db')
  expect(verified.code).toBe(3)
  expect(verified.said).toContain('3 keys differ: "a", "k:7", "z"')
})

test('ST-98 a copy that was cut or changed in any line is refused, and nothing of it is imported', async () => {
  await fill('first.db', { a: Buffer.from('1'), b: Buffer.from('2') })
  await run('store', 'export', 'copy.jsonl', '--store', 'first.db')
  const lines = readFileSync(join(directory, 'copy.jsonl'), 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(4)
  const broken = [
    ...lines.map((_, at) => lines.filter((_line, other) => other !== at)),
    ...lines.map((text, at) => lines.toSpliced(at, 1, text.replace(/[A-Za-z0-9](?=[^A-Za-z0-9]*$)/, '_'))),
    [...lines, lines[1] ?? ''],
    ['no json'],
  ]
  for (const [at, text] of broken.entries()) {
    const file = `broken-${String(at)}.jsonl`
    writeFileSync(join(directory, file), `${text.join('\n')}\n`)
    const imported = await run('store', 'import', file, '--store', 'second.db')
    expect(imported.code, text.join('\n')).toBe(2)
    expect(imported.said).toContain('runtime/damaged-backup')
  }
  const store = openSqliteStore({ file: join(directory, 'second.db') })
  expect((await store.range({ prefix: '' })).entries).toEqual([])
  await store.close()
})
