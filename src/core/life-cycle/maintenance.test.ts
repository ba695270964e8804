// Goal: what is over is archived, kept as long as it was asked for, and then gone without a trace; nothing else is touched.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import {
  collect,
  externalEvent,
  nodeEvent,
  openWorld,
  start,
  type CoreWorld,
} from '../../../test/support/core-world.ts'
import { STORE_KINDS, type StoreKind } from '../../../test/support/stores.ts'
import { UnavailableError } from '../../base/errors.ts'
import { openSqliteArchive } from '../../stores/archive/sqlite-archive.ts'
import type { EventArchive } from '../events/archive-port.ts'
import { executionId, executionKeys } from '../keys.ts'
import { toBytes } from '../json.ts'
import { listExecutions } from '../namespaces/registry.ts'
import type { Store } from '../ports.ts'
import { openCore, type Core } from './core.ts'
import type { Execution } from './execution.ts'
import { keepMaintained } from './keep-maintained.ts'
import { openMaintenance, type Maintenance, type MaintenanceOptions } from './maintenance.ts'

const DAY_MS = 86_400_000

interface Archived extends CoreWorld {
  readonly archive: Switchable
  readonly maintain: (options?: Partial<MaintenanceOptions>) => Maintenance
}

/** An archive that can be switched off, as by a server that is stopped. */
interface Switchable extends EventArchive {
  isDown: boolean
  /** Set: the count that is answered whatever is held. */
  claims: number | undefined
}

function openArchive(): Switchable {
  const directory = mkdtempSync(join(tmpdir(), 'perago-archive-'))
  const real = openSqliteArchive({ file: join(directory, 'events.db') })
  onTestFinished(async () => {
    await real.close()
    rmSync(directory, { recursive: true })
  })
  const when = <T>(act: () => Promise<T>): Promise<T> =>
    archive.isDown
      ? Promise.reject(new UnavailableError('test/down', 'reach the archive: it is down'))
      : act()
  const archive: Switchable = {
    name: 'switchable',
    isDown: false,
    claims: undefined,
    write: (rows) => when(() => real.write(rows)),
    read: (query) => when(() => real.read(query)),
    listTypes: (place) => when(() => real.listTypes(place)),
    count: (place) => when(async () => archive.claims ?? real.count(place)),
    remove: (place) => when(() => real.remove(place)),
    close: () => real.close(),
  }
  return archive
}

async function openArchived(kind: StoreKind, context: TestContext): Promise<Archived> {
  const archive = openArchive()
  const world = await openWorld(kind, context, { archive })
  return {
    ...world,
    archive,
    maintain: (options) => openMaintenance({ store: world.store, archive, clock: world.clock, ...options }),
  }
}

async function runOne(core: Core, own?: string): Promise<Execution> {
  const execution = await start(core, own)
  for (const [n, type] of ['a.started', 'a.task.running', 'a.task.running', 'a.completed'].entries()) {
    await execution.events.publish(nodeEvent(type, { n, text: 'ü' }))
  }
  await execution.events.publish(externalEvent('external.note'), { idempotencyKey: 'note' })
  await execution.finish({ status: 'completed', outputs: { rows: 7 } })
  return execution
}

async function keysOf(store: Store, prefix: string): Promise<readonly string[]> {
  return (await store.range({ prefix, limit: 1000 })).entries.map(({ key }) => key)
}

/** A store whose process goes down after so many deletions by prefix. */
function dying(store: Store, clears: number): Store {
  let clearsLeft = clears
  return {
    ...store,
    clearEach: undefined,
    clear: async (prefix, options) => {
      clearsLeft -= 1
      if (clearsLeft < 0) throw new UnavailableError('test/down', 'clear: the process is going down')
      return store.clear(prefix, options)
    },
  }
}

describe.each(STORE_KINDS)('maintenance on $kind', (kind) => {
  test('N-49 N-50 an ended execution has a final status and an end time, and its data stays readable', async (context) => {
    const { core, store, clock } = await openWorld(kind, context)
    const execution = await start(core)
    expect(await execution.readState()).toEqual({
      status: 'running',
      startedAt: '2025-01-01T00:00:00.000Z',
      endedAt: undefined,
    })
    clock.move(60_000)
    await execution.finish({ status: 'failed', error: new Error('no') })
    const [record] = await collect(listExecutions(store))
    expect(record).toMatchObject({ status: 'failed', endedAt: '2025-01-01T00:01:00.000Z' })
    expect(await execution.readState()).toMatchObject({
      status: 'failed',
      endedAt: '2025-01-01T00:01:00.000Z',
    })
    expect(await execution.events.query()).toHaveLength(2)
    expect(await execution.variables.exists('system.started_at')).toBe(true)
  })

  /** One ended execution whose events, variables and checkpoints expire a day apart, checkpoints first. */
  async function startExpiring(context: TestContext) {
    const { core, store, clock } = await openWorld(kind, context)
    const { id } = await runOne(core, 'exec_1')
    await store.commit({
      operations: [
        { do: 'put', key: `${executionKeys({ execution: id }).checkpoints}1`, value: toBytes('{}') },
      ],
    })
    const retention = { eventsMs: 3 * DAY_MS, variablesMs: 2 * DAY_MS, checkpointsMs: DAY_MS }
    const { sweepOnce } = openMaintenance({ store, clock, retention })
    const left = async (...families: readonly string[]): Promise<readonly number[]> =>
      Promise.all(families.map(async (family) => (await keysOf(store, `${family}:exec_1:`)).length))
    return { core, store, clock, id, sweepOnce, left }
  }

  test('N-51 E-04 a sweep removes each kind of data after its own retention time, and nothing earlier', async (context) => {
    const { clock, sweepOnce, left } = await startExpiring(context)
    const all = ['events', 'log', 'idempotency', 'variables', 'checkpoints']
    expect(await left(...all)).toEqual([6, 7, 1, 3, 1])
    clock.move(DAY_MS - 1)
    expect(await sweepOnce()).toEqual({ seen: 0, done: 0, failed: 0 })
    expect(await left(...all)).toEqual([6, 7, 1, 3, 1])
    clock.move(1)
    expect(await sweepOnce()).toEqual({ seen: 1, done: 1, failed: 0 })
    expect(await left(...all)).toEqual([6, 7, 1, 3, 0])
    clock.move(DAY_MS)
    await sweepOnce()
    expect(await left(...all)).toEqual([6, 7, 1, 0, 0])
    clock.move(DAY_MS)
    await sweepOnce()
    expect(await left(...all)).toEqual([0, 0, 0, 0, 0])
    expect(await sweepOnce()).toEqual({ seen: 0, done: 0, failed: 0 })
  })

  test('N-52 E-86 a sweep removes the events of an expired execution together', async (context) => {
    const { clock, sweepOnce, left } = await startExpiring(context)
    clock.move(3 * DAY_MS)
    expect(await sweepOnce()).toMatchObject({ done: 1 })
    expect(await left('events', 'log', 'idempotency')).toEqual([0, 0, 0])
  })

  test('N-53 a sweep leaves no variable of an expired execution', async (context) => {
    const { clock, sweepOnce, left } = await startExpiring(context)
    clock.move(2 * DAY_MS)
    expect(await sweepOnce()).toMatchObject({ done: 1 })
    expect(await left('events', 'variables')).toEqual([6, 0])
  })

  test('E-55 only the record of a swept execution stays: it takes no event, and its id is not used again', async (context) => {
    const { core, store, clock, id, sweepOnce } = await startExpiring(context)
    clock.move(3 * DAY_MS)
    await sweepOnce()
    await expect(core.events.publishEvent(id, externalEvent('external.late'))).rejects.toMatchObject({
      code: 'core/not-active',
      message: expect.stringContaining('swept') as string,
    })
    await expect(start(core, 'exec_1')).rejects.toMatchObject({ code: 'core/execution-exists' })
    expect(await keysOf(store, '')).toEqual(['executions:exec_1', 'leases:sweep', 'server:indexes:ended'])
  })

  test('E-54 a clearing that was cut off anywhere is finished by the next pass, and no half log is archived', async (context) => {
    const { core, store, archive, clock, maintain } = await openArchived(kind, context)
    const { archiveOnce, sweepOnce } = maintain()
    for (let clears = 0; clears < 4; clears += 1) {
      const { id } = await runOne(core, `exec_${String(clears)}`)
      await expect(
        openCore({ store: dying(store, clears), archive, clock }).events.clearEvents(id),
      ).rejects.toMatchObject({ code: 'test/down' })
      await archiveOnce()
      expect(await archive.count({ tenant: '', execution: id })).toBe(0)
      // Long before its retention time is over.
      expect(await sweepOnce()).toMatchObject({ done: 1, failed: 0 })
      for (const family of ['events', 'log', 'idempotency'])
        expect(await keysOf(store, `${family}:${id}:`)).toEqual([])
      expect(await core.events.clearEvents(id)).toBe(0)
    }
  })

  test('N-54 E-04 a sweep removes the expired execution alone, among fresh and running ones with similar ids', async (context) => {
    const { core, store, clock, openOther } = await openWorld(kind, context)
    const red = await openOther({ tenant: 'red' })
    await runOne(core, 'exec_1')
    await start(core, 'exec_1x')
    await start(red, 'exec_1')
    const fresh = ['exec_10', 'exec_', 'exec_1-1']
    clock.move(40 * DAY_MS)
    for (const own of fresh) await runOne(core, own)
    const before = new Map(
      (await store.range({ prefix: '', limit: 1000 })).entries.map(({ key, revision }) => [key, revision]),
    )
    expect(await openMaintenance({ store, clock }).sweepOnce()).toEqual({ seen: 1, done: 1, failed: 0 })
    const after = new Map(
      (await store.range({ prefix: '', limit: 1000 })).entries.map(({ key, revision }) => [key, revision]),
    )
    const touched = [...before].filter(([key, revision]) => after.get(key) !== revision).map(([key]) => key)
    expect(touched.filter((key) => !/^(ended:[a-z]+:.*|[a-z]+):exec_1(:|$)/.test(key))).toEqual([])
    expect([...after.keys()].filter((key) => /:exec_1:/.test(key))).toEqual([])
  })

  test('N-55 the sweep finds executions through the registry, and no execution or manager offers it', async (context) => {
    const { core, store, clock } = await openWorld(kind, context)
    const execution = await runOne(core)
    clock.move(40 * DAY_MS)
    expect(await openMaintenance({ store, clock }).sweepOnce()).toMatchObject({ done: 1 })
    const offered = [
      core,
      core.events,
      core.variables,
      execution,
      execution.events,
      execution.variables,
      execution.node('a'),
    ]
    const names = offered.flatMap((object) => Object.keys(object))
    expect(names.filter((name) => /registry|executions|scan|ids/i.test(name))).toEqual([])
  })

  test('N-51 one of two instances sweeps; when it is gone the other takes over and finishes its sweep', async (context) => {
    const { core, store, clock } = await openWorld(kind, context)
    for (let n = 0; n < 20; n += 1) await runOne(core, `exec_${String(n)}`)
    clock.move(40 * DAY_MS)
    const first = openMaintenance({ store: dying(store, 25), clock })
    const second = openMaintenance({ store, clock })
    const report = await first.sweepOnce()
    expect(report!.failed).toBeGreaterThan(0)
    expect(await second.sweepOnce()).toBeUndefined()
    expect((await keysOf(store, 'variables:')).length).toBeGreaterThan(0)
    await first.release()
    expect(await second.sweepOnce()).toEqual({
      seen: 20 - report!.done,
      done: 20 - report!.done,
      failed: 0,
    })
    for (const prefix of ['events:', 'log:', 'variables:', 'idempotency:'])
      expect(await keysOf(store, prefix)).toEqual([])
  })

  test('E-79 a running execution writes and reads its events while the archive is away', async (context) => {
    const { core, archive } = await openArchived(kind, context)
    archive.isDown = true
    const execution = await start(core)
    await execution.events.publish(nodeEvent('a.completed'))
    expect(await execution.events.has('a.completed')).toBe(true)
    expect(await execution.events.has('a.failed')).toBe(false)
    expect(await execution.events.query()).toHaveLength(2)
  })

  test('E-80 ending an execution does not wait for the archive, which holds its log later', async (context) => {
    const { core, archive, maintain } = await openArchived(kind, context)
    archive.isDown = true
    const execution = await runOne(core, 'exec_1')
    expect((await execution.readState()).status).toBe('completed')
    expect(await execution.events.query()).toHaveLength(7)
    archive.isDown = false
    expect(await maintain().archiveOnce()).toEqual({ seen: 1, done: 1, failed: 0 })
    expect(await execution.events.query()).toHaveLength(7)
  })

  test('E-83 reads of an archived execution give the same results as before', async (context) => {
    const { core, archive, store, maintain } = await openArchived(kind, context)
    const { events, variables } = await runOne(core, 'exec_1')
    const readAll = async (): Promise<unknown> => ({
      all: await events.query(),
      some: await events.query({ types: ['a.**', 'external.*'], order: 'descending', limit: 3 }),
      paged: await events.query({ after: 2, limit: 2 }),
      source: await events.query({ source: { entityType: 'task', entityId: 'a' } }),
      time: await events.query({ timeRange: { start: '2025-01-01T00:00:00Z' } }),
      latest: await events.get('a.task.running'),
      none: await events.get('a.failed'),
      has: [await events.has('a.completed'), await events.has('a.failed')],
    })
    const before = await readAll()
    await maintain().archiveOnce()
    expect(await keysOf(store, 'log:')).toEqual([])
    expect(await keysOf(store, 'events:')).toEqual([])
    expect(await readAll()).toEqual(before)
    expect(before).toMatchObject({ has: [true, false], none: null })
    expect(Object.isFrozen((await events.query())[1]?.payload)).toBe(true)
    expect(await variables.get('pipeline.output.rows')).toBe(7)
    archive.isDown = true
    await expect(events.has('a.completed')).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('DO-60 a query of archived events ends with the event that brings it to bytesMax', async (context) => {
    const { core, maintain } = await openArchived(kind, context)
    const execution = await start(core)
    for (let n = 2; n <= 6; n++) {
      await execution.events.publish(externalEvent('external.a.b', { text: 'x'.repeat(10_000) }))
    }
    await execution.finish({ status: 'completed' })
    const read = async () =>
      (await execution.events.query({ after: 1, bytesMax: 25_000 })).map(({ sequence }) => sequence)
    const readPage = async (after: number) => {
      const { events, next } = await execution.events.queryPage({ after, bytesMax: 25_000 })
      return [...events.map(({ sequence }) => sequence), next]
    }
    for (const archive of [() => maintain().archiveOnce(), undefined]) {
      expect(await read()).toEqual([2, 3, 4])
      expect(await readPage(1)).toEqual([2, 3, 4, 4])
      expect(await readPage(4)).toEqual([5, 6, 7, undefined])
      await archive?.()
    }
  })

  test('E-83 a host that is given no archive says so, instead of telling that nothing happened', async (context) => {
    const { core, store, clock, openOther, maintain } = await openArchived(kind, context)
    await runOne(core, 'exec_1')
    const blind = openCore({ store, clock })
    const early = await blind.openExecution('exec_1')
    await maintain().archiveOnce()
    const late = await blind.openExecution('exec_1')
    for (const execution of [late, early]) {
      const code = 'core/archive-not-given'
      await expect(execution.events.query()).rejects.toMatchObject({ code, kind: 'unavailable' })
      await expect(execution.events.get('a.completed')).rejects.toMatchObject({ code })
      await expect(execution.events.has('a.completed')).rejects.toMatchObject({ code })
    }
    expect(await late.variables.get('pipeline.output.rows')).toBe(7)
    const other = await openOther()
    expect(await other.events.queryEvents(executionId('exec_1'))).toHaveLength(7)
  })

  test('E-68 E-81 the store frees its space only after the archive holds the whole log', async (context) => {
    const { core, archive, store, maintain } = await openArchived(kind, context)
    const execution = await runOne(core, 'exec_1')
    await start(core, 'exec_2')
    const before = await execution.events.query()
    const { archiveOnce } = maintain()
    archive.isDown = true
    for (let n = 0; n < 3; n += 1) expect(await archiveOnce()).toEqual({ seen: 1, done: 0, failed: 1 })
    expect(await keysOf(store, 'log:exec_1:')).toHaveLength(7)
    archive.isDown = false
    archive.claims = 6
    expect(await archiveOnce()).toMatchObject({ failed: 1 })
    expect(await keysOf(store, 'log:exec_1:')).toHaveLength(7)
    archive.claims = undefined
    expect(await archiveOnce()).toMatchObject({ done: 1 })
    expect(await keysOf(store, 'log:exec_1:')).toEqual([])
    expect(await keysOf(store, 'events:exec_1:')).toEqual([])
    expect(await keysOf(store, 'idempotency:exec_1:')).toEqual([])
    expect(await execution.events.query()).toEqual(before)
    expect(await keysOf(store, 'log:exec_2:')).toHaveLength(1)
    expect(await archiveOnce()).toEqual({ seen: 0, done: 0, failed: 0 })
  })

  test('E-81 nothing is lost when the archive is away for an hour, passes being made and executions ending all the time', async (context) => {
    const { core, archive, store, clock, maintain } = await openArchived(kind, context)
    const { archiveOnce, sweepOnce } = maintain({ retention: { eventsMs: 60_000 } })
    const histories = new Map<string, unknown>()
    archive.isDown = true
    for (let minute = 0; minute < 60; minute += 5) {
      const execution = await runOne(core, `exec_${String(minute)}`)
      histories.set(execution.id, await execution.events.query())
      clock.move(5 * 60_000)
      await archiveOnce()
      await sweepOnce()
    }
    expect((await keysOf(store, 'log:')).length).toBe(12 * 7)
    archive.isDown = false
    expect(await archiveOnce()).toMatchObject({ done: 12, failed: 0 })
    for (const [own, history] of histories) {
      expect(await core.events.queryEvents(executionId(own))).toEqual(history)
    }
  })

  test('E-82 the archive keeps an execution for thirty days after its end, and then nothing of it', async (context) => {
    const { core, archive, clock, maintain } = await openArchived(kind, context)
    const execution = await runOne(core, 'exec_1')
    const { archiveOnce, sweepOnce } = maintain()
    await archiveOnce()
    clock.move(29 * DAY_MS)
    await sweepOnce()
    expect(await execution.events.query()).toHaveLength(7)
    clock.move(2 * DAY_MS)
    await sweepOnce()
    expect(await archive.count({ tenant: '', execution: 'exec_1' })).toBe(0)
    expect(await execution.events.query()).toEqual([])
  })

  test('E-82 removing from an archive that goes away is finished by the next sweep', async (context) => {
    const { core, archive, clock, maintain } = await openArchived(kind, context)
    const execution = await runOne(core, 'exec_1')
    const { archiveOnce, sweepOnce } = maintain()
    await archiveOnce()
    clock.move(31 * DAY_MS)
    archive.isDown = true
    expect(await sweepOnce()).toMatchObject({ failed: 1 })
    archive.isDown = false
    expect(await archive.count({ tenant: '', execution: 'exec_1' })).toBe(7)
    expect(await sweepOnce()).toMatchObject({ done: 1 })
    expect(await archive.count({ tenant: '', execution: 'exec_1' })).toBe(0)
    expect(await execution.events.query()).toEqual([])
  })

  test('E-80 a host keeps both going until its signal, and a pass that fails is made again', async (context) => {
    const { core, archive, store, maintain, clock } = await openArchived(kind, context)
    archive.isDown = true
    const execution = await runOne(core, 'exec_1')
    const end = new AbortController()
    const kept = keepMaintained({ maintenance: maintain(), clock, signal: end.signal })
    for (let turn = 0; turn < 20; turn += 1) await clock.sleep(1)
    expect(await keysOf(store, 'log:exec_1:')).toHaveLength(7)
    archive.isDown = false
    while ((await keysOf(store, 'log:exec_1:')).length > 0) await clock.sleep(1)
    end.abort()
    await kept
    expect(await keysOf(store, 'leases:')).toEqual([])
    expect(await execution.events.query()).toHaveLength(7)
  })
})
