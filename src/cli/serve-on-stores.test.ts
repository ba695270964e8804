// The commands as they are shipped, over stores that the configuration names: `npm test` builds dist/ first.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openProject, type Project } from '../../test/support/cli/command.ts'
import { openCore } from '../core/life-cycle/core.ts'
import { sealStore } from '../stores/sealed/sealed-store.ts'
import { openSqliteArchive } from '../stores/archive/sqlite-archive.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'

let project: Project
beforeEach(async () => {
  project = await openProject()
})
afterEach(() => project.close())

const DAY_MS = 86_400_000

/** Ends `ageMs` ago, as far as its record says. */
async function endOne(id: string, ageMs: number, file = '.perago/core/store.db'): Promise<void> {
  const store = openSqliteStore({ file: join(project.directory, file) })
  const clock = {
    now: () => new Date(Date.now() - ageMs),
    monotonicMs: () => performance.now(),
    sleep: () => Promise.resolve(),
  }
  const execution = await openCore({ store, clock }).startExecution({ id, name: 'etl' })
  await execution.finish({ status: 'completed' })
  await store.close()
}

async function startOne(id: string, file = '.perago/core/store.db', key?: Buffer): Promise<void> {
  const below = openSqliteStore({ file: join(project.directory, file) })
  const store = key === undefined ? below : sealStore(below, { encryption: { keys: { k1: key }, use: 'k1' } })
  const execution = await openCore({ store }).startExecution({
    id,
    name: 'etl',
    inputs: { day: 'a day to remember' },
  })
  await execution.variables.set('a.rows', 7)
  await store.close()
}

test('N-63 a sweep by hand says what it would remove, removes just that, and what it may not remove yet stays', async () => {
  for (const [id, days] of [
    ['exec_old', 31],
    ['exec_week', 8],
    ['exec_new', 1],
  ] as const) {
    await endOne(id, days * DAY_MS)
  }
  const dry = await project.run(['sweep', '--dry-run', '--json'])
  const due = (JSON.parse(dry.stdout) as { due: { execution: string; parts: string[] }[] }).due
  const shown = due.map(({ execution, parts }) => [execution, ...parts])
  expect(shown).toEqual([
    ['exec_old', 'variables', 'checkpoints', 'events'],
    ['exec_week', 'variables', 'checkpoints'],
  ])
  expect((await project.run(['events', 'exec_old'])).stdout).toContain('pipeline.started')
  const people = await project.run(['sweep', '--dry-run', '--keep-variables', 'forever'])
  expect(people.stdout).toMatch(/exec_old +- +completed +\S+Z +checkpoints, events\n/)
  expect(people.stderr).toBe('2 would be swept; nothing was changed\n')
  const swept = await project.run(['sweep'])
  expect(swept).toMatchObject({ code: 0, stdout: 'archived 0, swept 2\n', stderr: '' })
  expect((await project.run(['events', 'exec_old'])).stdout).not.toContain('pipeline')
  expect((await project.run(['vars', 'exec_week'])).stdout).not.toContain('system')
  expect((await project.run(['events', 'exec_week'])).stdout).toContain('pipeline.completed')
  expect((await project.run(['vars', 'exec_new'])).stdout).toContain('system.started_at')
  expect((await project.run(['sweep', '--json'])).stdout).toContain('"swept"')
  const none = await project.run(['sweep', '--dry-run'])
  expect([none.stdout, none.stderr]).toEqual(['', '0 would be swept; nothing was changed\n'])
  expect((await project.run(['sweep', '--keep-events', 'soon'])).code).toBe(2)
})

test('N-63 of a sweep by hand and a server that sweeps one does the work', async () => {
  await endOne('exec_1', 40 * DAY_MS)
  const store = openSqliteStore({ file: join(project.directory, '.perago/core/store.db') })
  const value = new TextEncoder().encode('another instance')
  await store.commit({ operations: [{ do: 'put', key: 'leases:sweep', value, ttlMs: 600_000 }] })
  // One that works renews its lease.
  const renewing = setInterval(() => {
    const renewal = { do: 'put', key: 'leases:sweep', value, ttlMs: 600_000 } as const
    store.commit({ operations: [renewal] }).catch(() => undefined)
  }, 200)
  const held = await project.run(['sweep'])
  clearInterval(renewing)
  expect([held.code, held.stderr]).toEqual([3, expect.stringContaining('[cli/sweep-held]')])
  const [sweep, archive] = ['leases:sweep', 'leases:archive']
  await store.commit({
    operations: [
      { do: 'delete', key: sweep },
      { do: 'put', key: archive, value, ttlMs: 600_000 },
    ],
  })
  const beside = await project.run(['sweep', '--archive', 'sqlite:archive.db'])
  expect(beside.stdout).toBe('archiving is done by another instance, swept 1\n')
  expect(await store.get(archive)).toBeDefined()
  await store.commit({ operations: [{ do: 'delete', key: archive }] })
  const rest = await project.run(['sweep', '--archive', 'sqlite:archive.db'])
  expect(rest.stdout).toBe('archived 1, swept 1\n')
  await store.close()
})

test('DO-40 a server archives by itself, and what has left the store is read and followed all the same', async () => {
  await endOne('exec_1', 1000)
  const archive = ['--archive', 'sqlite:archive.db']
  const server = project.start(['serve', '--port', '0', '--open-loopback', 'viewer', ...archive])
  const url = (await server.firstLine).replace('ready ', '')
  const store = openSqliteStore({ file: join(project.directory, '.perago/core/store.db') })
  await expect
    .poll(async () => (await store.range({ prefix: 'log:' })).entries.length, { timeout: 30_000 })
    .toBe(0)
  const held = openSqliteArchive({ file: join(project.directory, 'archive.db') })
  expect(await held.count({ tenant: '', execution: 'exec_1' })).toBe(2)
  await held.close()
  await store.close()
  const types = ['pipeline.started', 'pipeline.completed']
  const listed = (await (await fetch(`${url}/executions/exec_1/events`)).json()) as {
    events: { type: string }[]
  }
  expect(listed.events.map(({ type }) => type)).toEqual(types)
  const followed = await (await fetch(`${url}/executions/exec_1/follow`)).text()
  expect(followed).toMatch(/pipeline\.started[\s\S]*pipeline\.completed[\s\S]*event: end/)
  const events = await project.run(['events', 'exec_1', '--follow', '--json', ...archive])
  const lines = events.stdout.trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(types)
  // Without the archive it is not told as if nothing had happened.
  for (const further of [[], ['--follow'], ['--type', 'pipeline.started']]) {
    const without = await project.run(['events', 'exec_1', ...further])
    expect([without.code, without.stdout]).toEqual([4, ''])
    expect(without.stderr).toContain('[core/archive-not-given]')
  }
  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
})

test('DO-41 X-143 the store is configured by flag, environment or file, and sealed with the configured keys', async () => {
  const key = randomBytes(32)
  const keys = `k1=${key.toString('base64')}`
  await startOne('exec_1', 'sealed.db', key)
  await startOne('exec_2', 'plain.db')
  await project.write('keys.txt', `${keys}\n`)
  const sealed = { PERAGO_STORE_ADDRESS: 'sealed.db', PERAGO_STORE_KEYS_FILE: 'keys.txt' }
  expect((await project.run(['vars', 'exec_1', 'a.rows'], sealed)).stdout).toBe('7\n')
  expect((await readFile(join(project.directory, 'sealed.db'))).includes('a day to remember')).toBe(false)

  const other = { ...sealed, PERAGO_STORE_KEYS: `k1=${randomBytes(32).toString('base64')}` }
  const wrong = await project.run(['vars', 'exec_1'], { ...other, PERAGO_STORE_KEYS_FILE: '' })
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
    2,
    '',
    expect.stringContaining('[stores/damaged]'),
  ])
  const missing = await project.run(['vars', 'exec_1', '--store', 'sqlite:sealed.db'])
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('[runtime/store-is-sealed]')])
  const clear = await project.run(['vars', 'exec_2', '--store', 'plain.db'], sealed)
  expect(clear.stderr).toContain('[runtime/store-not-sealed]')
  expect(clear.stderr).not.toContain(key.toString('base64'))

  await project.write('perago.yaml', 'store:\n  address: plain.db\n')
  expect((await project.run(['vars', 'exec_2', 'a.rows'])).stdout).toBe('7\n')
  const both = await project.run(['serve', '--memory', '--store', 'plain.db'])
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--memory and --store exclude')])
  const bad = await project.run(['vars', 'exec_1', '--store', 'mysql://root:geheimes@db/x'])
  expect(bad.stderr).toContain('[runtime/bad-store-address]')
  expect(bad.stderr).not.toContain('geheimes')
  const shown = await project.run(['config'], {
    PERAGO_STORE_ADDRESS: 'postgresql://me:geheimes@db/x',
    PERAGO_STORE_KEYS: keys,
  })
  expect(shown.stdout + shown.stderr).not.toMatch(/geheimes|k1=/)
})

test('DO-41 an encryption key is changed: the new one first, everything written anew, the old one taken away', async () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)]
  await startOne('exec_1', 'store.db', older)
  const [k1, k2] = [`k1=${older.toString('base64')}`, `k2=${newer.toString('base64')}`]
  const at = { PERAGO_STORE_ADDRESS: 'store.db' }
  const resealed = await project.run(['store', 'reseal'], { ...at, PERAGO_STORE_KEYS: `${k2},${k1}` })
  expect(resealed).toMatchObject({ code: 0, stderr: '' })
  expect(resealed.stdout).toMatch(/^\d+ values encrypted again with k2\n$/)
  const read = await project.run(['vars', 'exec_1', 'a.rows'], { ...at, PERAGO_STORE_KEYS: k2 })
  expect(read.stdout).toBe('7\n')
  const old = await project.run(['vars', 'exec_1', 'a.rows'], { ...at, PERAGO_STORE_KEYS: k1 })
  expect(old.stderr).toContain('[stores/unknown-key]')
  expect((await project.run(['store', 'reseal'], at)).stderr).toContain('[cli/no-store-keys]')
  const malformed = await project.run(['vars', 'exec_1'], { ...at, PERAGO_STORE_KEYS: 'nonsense' })
  expect(malformed.stderr).toContain('[runtime/bad-store-keys]')
})

test('DO-42 events of an execution are followed on the command line until it ends', async () => {
  await startOne('exec_1')
  const follower = project.start(['events', 'exec_1', '--follow', '--type', 'external.**', 'pipeline.*'])
  expect(await follower.firstLine).toMatch(/^1 {2}\S+Z {2}pipeline\.started {2}\{\}$/)
  const store = openSqliteStore({ file: join(project.directory, '.perago/core/store.db') })
  const execution = await openCore({ store }).openExecution('exec_1')
  const source = { entityType: 'external', entityId: 'outside' } as const
  await execution.events.publish({ type: 'external.a.b', source, payload: { text: 'one\ntwo' } })
  await execution.events.publish({ type: 'a.started', source: { entityType: 'node', entityId: 'a' } })
  await execution.finish({ status: 'completed' })
  const ended = await follower.ended
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  expect(ended.stdout.trim().split('\n').slice(1)).toEqual([
    expect.stringMatching(/^2 {2}\S+Z {2}external\.a\.b {2}\{"text":"one\\ntwo"\}$/) as string,
    expect.stringMatching(/^4 {2}\S+Z {2}pipeline\.completed {2}\{\}$/) as string,
  ])
  const other = project.start(['events', 'exec_1', '--follow', '--after', '4'])
  expect((await other.ended).code).toBe(0)
  await openCore({ store }).startExecution({ id: 'exec_2', name: 'etl' })
  const stopped = project.start(['events', 'exec_2', '--follow'])
  await stopped.firstLine
  stopped.child.kill('SIGTERM')
  expect(await stopped.ended).toMatchObject({ code: 0, stderr: '' })
  await store.close()
})
