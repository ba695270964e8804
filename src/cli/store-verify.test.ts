// Goal: the walk through a store names everything that is damaged or missing, and nothing else.
import Database from 'libsql'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { externalEvent } from '../../test/support/core-world.ts'
import { plainRedactor } from '../base/redaction.ts'
import { openCore } from '../core/life-cycle/core.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { runCli } from './run.ts'
import { styleFor, type Terminal } from './terminal.ts'

let directory: string
let file: string

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'perago-verify-'))
  file = join(directory, 'store.db')
  const store = openSqliteStore({ file })
  const core = openCore({ store })
  for (const id of ['exec_1', 'exec_2', 'exec_3']) {
    const { events } = await core.startExecution({ name: 'etl', id })
    for (let n = 2; n <= 30; n += 1)
      await events.publish(externalEvent('external.a', { n, text: 'x'.repeat(300) }))
  }
  await store.close()
})
afterEach(() => rmSync(directory, { recursive: true }))

async function verify(...more: readonly string[]): Promise<{ code: number; answered: string; said: string }> {
  let [answered, said] = ['', '']
  const terminal: Terminal = {
    answer: (text) => (answered += text),
    say: (text) => (said += text),
    directory,
    environment: {},
    style: styleFor({}, {}),
    redactor: plainRedactor,
    keepSecret: () => undefined,
    stopSignal: () => new AbortController().signal,
  }
  const code = await runCli(['store', 'verify', '--store', 'store.db', ...more], terminal)
  return { code, answered, said }
}

function change(...sql: readonly string[]): void {
  const db = new Database(file)
  for (const one of sql) db.exec(one)
  db.close()
}

const entry = (execution: string, sequence: number): string =>
  `log:${execution}:${String(sequence).padStart(16, '0')}`

test('ST-106 CL-130 a whole store is walked and ends with 0, also as one document', async () => {
  expect(await verify()).toEqual({
    code: 0,
    answered: '105 entries read, 3 logs followed: all whole\n',
    said: '',
  })
  const { answered } = await verify('--json')
  expect(JSON.parse(answered)).toEqual({ entries: 105, logs: 3, found: 0, findings: [] })
})

test('ST-106 CL-130 each damaged entry and each hole is named, and the exit code is 3', async () => {
  change(
    `UPDATE entries SET value = x'7b7d' WHERE key = '${entry('exec_1', 7)}'`,
    "UPDATE entries SET revision = 0 WHERE key = 'events:exec_2:external.a'",
    `DELETE FROM entries WHERE key BETWEEN '${entry('exec_2', 4)}' AND '${entry('exec_2', 6)}'`,
    `DELETE FROM entries WHERE key BETWEEN '${entry('exec_3', 28)}' AND '${entry('exec_3', 30)}'`,
  )
  const told = await verify('--json')
  expect(told.code).toBe(3)
  expect(told.said).toContain('cli/store-damaged')
  const { findings, ...counts } = JSON.parse(told.answered) as { findings: readonly object[] }
  expect(counts).toMatchObject({ logs: 3, found: 4 })
  expect(findings).toEqual([
    expect.objectContaining({ code: 'stores/corrupt', key: 'events:exec_2:external.a' }),
    expect.objectContaining({ code: 'stores/corrupt', key: entry('exec_1', 7) }),
    expect.objectContaining({ code: 'core/log-hole', execution: 'exec_2', from: 4, to: 6 }),
    expect.objectContaining({ code: 'core/log-hole', execution: 'exec_3', from: 28, to: 30 }),
  ])
  const { answered } = await verify()
  for (const name of [entry('exec_1', 7), 'events 4 to 6 are missing', 'events 28 to 30 are missing']) {
    expect(answered).toContain(name)
  }
})

test('ST-106 where a whole page cannot be read, its entries are named and the others are walked', async () => {
  const bytes = readFileSync(file)
  const page = Math.floor(bytes.indexOf(`${entry('exec_2', 10)}{`) / 4096) * 4096
  bytes.fill(0xee, page, page + 4096)
  writeFileSync(file, bytes)
  const { code, answered } = await verify('--json')
  expect(code).toBe(3)
  const { entries, found, findings } = JSON.parse(answered) as Record<string, never> & {
    entries: number
    found: number
    findings: readonly { code: string; key: string }[]
  }
  expect(findings.map(({ key }) => key)).toContain(entry('exec_2', 10))
  expect(findings.filter(({ code: told }) => told !== 'stores/corrupt')).toEqual([])
  expect(found).toBeLessThan(30)
  expect(entries).toBeGreaterThan(50)
})

test('ST-106 a store that cannot be opened at all is told as damaged', async () => {
  writeFileSync(file, Buffer.alloc(8192, 7))
  const { code, said } = await verify()
  expect([code, said.includes('stores/corrupt')]).toEqual([3, true])
})
