// Goal: a checkpoint that is listed can be restored; a damaged one is noticed; the last good one is never removed.
import { describe, expect, onTestFinished, test } from 'vitest'
import { gunzipSync } from 'node:zlib'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  chainOf,
  commitOf,
  ExecutionWorld,
  SCOPE,
  unitOf,
  workspaceAt,
} from '../../../test/support/checkpoint-world.ts'
import { openLossyStore, type StoreFault } from '../../../test/support/lossy-store.ts'
import { failureOf } from '../../../test/support/publication-world.ts'
import { noise } from '../../../test/conformance/checkpoint-bodies.ts'
import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import { executionKeys } from '../../core/keys.ts'
import type { Store } from '../../core/ports.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { CheckpointRecord } from './checkpoint.ts'
import { openCheckpoints, type Checkpoints, type CheckpointsOptions } from './checkpoints.ts'
import { openDirectoryBodies } from './directory-bodies.ts'
import { dueCheckpoint, type CheckpointFrequency } from './due-checkpoint.ts'
import type { CheckpointBodies } from './ports.ts'
import { openStoreBodies } from './store-bodies.ts'

const DAY_MS = 86_400_000

interface Scene {
  readonly store: Store
  readonly bodies: CheckpointBodies
  readonly clock: ManualClock
  readonly checkpoints: Checkpoints
}

function openScene(options: Partial<CheckpointsOptions> = {}): Scene {
  const store = openMemoryStore()
  const bodies = openStoreBodies(store)
  const clock = new ManualClock()
  return {
    store,
    bodies,
    clock,
    checkpoints: openCheckpoints({ store, bodies: [bodies], clock, ...options }),
  }
}

/** Takes what is due, as a host does. */
async function keepUp(
  { checkpoints }: Pick<Scene, 'checkpoints'>,
  { execution }: ExecutionWorld,
  frequency: CheckpointFrequency = 'phase',
): Promise<CheckpointRecord | undefined> {
  const [newest] = await checkpoints.list(SCOPE)
  const reason = dueCheckpoint(execution, newest, frequency)
  return reason && checkpoints.take({ scope: SCOPE, execution, reason })
}

/** Turns one bit of the stored body over. */
async function flip({ bodies }: Scene, { checkpointId }: CheckpointRecord, at = 20): Promise<void> {
  const bytes = Uint8Array.from((await bodies.read({ scope: SCOPE, checkpointId }))!)
  bytes[at]! ^= 1
  await bodies.remove({ scope: SCOPE, checkpointId })
  await bodies.write({ scope: SCOPE, checkpointId }, bytes)
}

describe('when', () => {
  test('X-59 four phases have five checkpoints: one at the start and one after each phase', async () => {
    const scene = openScene()
    const world = new ExecutionWorld(chainOf('a', 'b', 'c', 'd'))
    await keepUp(scene, world)
    for (const name of ['a', 'b', 'c', 'd']) {
      world.end(name)
      await keepUp(scene, world)
      // Asked again, as after a crash, nothing more is due.
      expect(await keepUp(scene, world)).toBeUndefined()
    }
    const phases = (await scene.checkpoints.list(SCOPE)).map(({ phaseId }) => phaseId)
    expect(phases.reverse()).toEqual(['start', 'layer-1', 'layer-2', 'layer-3', 'layer-4'])
  })

  test('X-59 a phase is what its author labelled so, and ends with its last unit', async () => {
    const scene = openScene()
    const world = new ExecutionWorld([
      unitOf('a', [], { phase: 'load' }),
      unitOf('b', ['a'], { phase: 'load' }),
      unitOf('c', ['b'], { phase: 'report' }),
    ])
    expect((await keepUp(scene, world))?.phaseId).toBe('start')
    world.end('a')
    expect(await keepUp(scene, world)).toBeUndefined()
    world.end('b')
    expect((await keepUp(scene, world))?.phaseId).toBe('load')
  })

  test('X-106 per unit, one is due before each unit is handed out; per phase it is not', async () => {
    const world = new ExecutionWorld([unitOf('a', [], { phase: 'p' }), unitOf('b', ['a'], { phase: 'p' })])
    const [perUnit, perPhase] = [openScene(), openScene()]
    expect((await keepUp(perUnit, world, 'unit'))?.units).toEqual(['a'])
    await keepUp(perPhase, world)
    world.end('a')
    expect(await keepUp(perPhase, world)).toBeUndefined()
    expect(await keepUp(perUnit, world, 'unit')).toMatchObject({ phaseId: 'start', units: ['b'] })
    expect(await keepUp(perUnit, world, 'unit')).toBeUndefined()
    expect(dueCheckpoint(world.execution, undefined, 'never')).toBeUndefined()
  })

  test('EN-600 after a rollback a checkpoint of the restored state is due', async () => {
    const scene = openScene()
    const world = new ExecutionWorld(chainOf('a', 'b'))
    await keepUp(scene, world)
    const before = world.execution
    world.end('a')
    await keepUp(scene, world)
    world.execution = before
    expect(await keepUp(scene, world)).toMatchObject({ phaseId: 'start', finishedPhases: [] })
  })
})

describe('what', () => {
  async function taken() {
    const scene = openScene()
    const world = new ExecutionWorld([...chainOf('a', 'b'), unitOf('side')], {
      workspace: workspaceAt(commitOf('0')),
      day: '2026-01-01',
    })
    world.end('a', { workspace: workspaceAt(commitOf('1')), result: { rows: 12, note: 'é€😀' } })
    world.claim('b')
    const { execution } = world
    const reason = { phaseId: 'layer-1' }
    const variables = { 'a.rows': 12 }
    const record = await scene.checkpoints.take({ scope: SCOPE, execution, variables, reason })
    return { scene, execution, record, checkpoint: await scene.checkpoints.read(SCOPE, record.checkpointId) }
  }

  test('X-60 it holds the complete state of its moment', async () => {
    const { execution, checkpoint } = await taken()
    expect(checkpoint.execution).toEqual(execution)
    expect(checkpoint.variables).toEqual({ 'a.rows': 12 })
  })

  test('X-61 units that have ended are in it with their results', async () => {
    const { checkpoint } = await taken()
    const ended = checkpoint.execution.rows.filter(({ record }) => record.status === 'COMPLETED')
    expect(ended.map(({ record }) => [record.referenceTaskName, record.output.result])).toEqual([
      ['a', { rows: 12, note: 'é€😀' }],
    ])
  })

  test('X-62 outputs and metadata can be read from the checkpoint alone', async () => {
    const { checkpoint, record } = await taken()
    const a = checkpoint.execution.rows.find((row) => row.record.referenceTaskName === 'a')
    expect(a?.record).toMatchObject({ workerId: 'worker-of-a', retryCount: 0, pollCount: 1 })
    expect(record.branches).toEqual([{ repository: 'lake', branch: 'main', ref: commitOf('1') }])
    expect(checkpoint.branches).toEqual(record.branches)
  })

  test('X-63 it holds the graph, so that restoring needs no definition', async () => {
    const { checkpoint, execution } = await taken()
    expect(checkpoint.execution.graph).toEqual(execution.graph)
    expect(checkpoint.execution.taskDefs).toEqual(execution.taskDefs)
  })

  test('X-56 a record has its id, phase and time, and its snapshot can be restored', async () => {
    const { record, checkpoint } = await taken()
    expect(record).toMatchObject({ phaseId: 'layer-1', timestamp: '2026-01-01T00:00:00.000Z', format: 1 })
    expect(record.checkpointId).toMatch(/^cp-1-[0-9a-z]+-[0-9a-z]{8}$/)
    expect(checkpoint.execution.status).toBe('RUNNING')
  })

  test('X-65 what is stored is gzip and unpacks to the original', async () => {
    const { scene, record, execution } = await taken()
    const bytes = (await scene.bodies.read({ scope: SCOPE, checkpointId: record.checkpointId }))!
    expect([...bytes.subarray(0, 2)]).toEqual([0x1f, 0x8b])
    expect(bytes).toHaveLength(record.storedBytes)
    const plain = gunzipSync(bytes)
    expect(plain).toHaveLength(record.plainBytes)
    expect(JSON.parse(plain.toString())).toMatchObject({ format: 1, execution: { input: execution.input } })
  })
})

describe('damage', () => {
  test('X-70 one turned bit anywhere is detected', async () => {
    for (const at of [0, 3, 9, 40, -5]) {
      const scene = openScene()
      const record = (await keepUp(scene, new ExecutionWorld(chainOf('a'))))!
      await flip(scene, record, at < 0 ? record.storedBytes + at : at)
      expect(await failureOf(scene.checkpoints.read(SCOPE, record.checkpointId))).toMatchObject({
        ...{ kind: 'refused', code: 'engine/checkpoint-damaged' },
      })
    }
  })

  test('X-67 a damaged newest checkpoint falls back to the one before, and says so', async () => {
    const scene = openScene()
    const world = new ExecutionWorld(chainOf('a', 'b', 'c'))
    const start = (await keepUp(scene, world))!
    world.end('a')
    const first = (await keepUp(scene, world))!
    world.end('b')
    const second = (await keepUp(scene, world))!
    await flip(scene, second)
    const found = await scene.checkpoints.readLastGood(SCOPE)
    expect(found?.record).toEqual(first)
    expect(found?.damaged).toEqual([second])
    await scene.bodies.remove({ scope: SCOPE, checkpointId: first.checkpointId })
    expect((await scene.checkpoints.readLastGood(SCOPE))?.record).toEqual(start)
    await flip(scene, start)
    expect(await scene.checkpoints.readLastGood(SCOPE)).toBeUndefined()
  })

  test('X-82 both places hold it, and one that is damaged is replaced by the other when it is read', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'perago-checkpoints-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const store = openMemoryStore()
    const [inStore, onDisk] = [openStoreBodies(store), openDirectoryBodies(directory)]
    const scene = openScene({ store, bodies: [inStore, onDisk] })
    const record = (await keepUp(scene, new ExecutionWorld(chainOf('a'))))!
    const place = { scope: SCOPE, checkpointId: record.checkpointId }
    expect(Buffer.compare((await inStore.read(place))!, (await onDisk.read(place))!)).toBe(0)
    await flip({ ...scene, bodies: inStore }, record)
    expect((await scene.checkpoints.readLastGood(SCOPE))?.record).toEqual(record)
    await onDisk.remove(place)
    expect(await scene.checkpoints.readLastGood(SCOPE)).toBeUndefined()
  })
})

describe('limits', () => {
  /** A chain of phases, a checkpoint after each. */
  async function run(scene: Scene, phases: number) {
    const names = Array.from({ length: phases }, (_, index) => `u${index + 1}`)
    const world = new ExecutionWorld(chainOf(...names, 'last'))
    for (const name of names) {
      world.end(name)
      await keepUp(scene, world)
    }
    return world
  }

  test('X-64 after eight phases the newest five are kept, with their bodies', async () => {
    const scene = openScene()
    await run(scene, 8)
    const records = await scene.checkpoints.list(SCOPE)
    expect(records.map(({ phaseId }) => phaseId)).toEqual([8, 7, 6, 5, 4].map((n) => `layer-${n}`))
    const ids = records.map(({ checkpointId }) => checkpointId)
    expect((await scene.bodies.list(SCOPE)).toSorted()).toEqual(ids.toSorted())
    for (const id of ids) await scene.checkpoints.read(SCOPE, id)
    const few = openScene({ limits: { kept: 2 } })
    await run(few, 4)
    expect(await few.checkpoints.list(SCOPE)).toHaveLength(2)
  })

  test('X-66 six days keep a checkpoint, eight remove it; of an unfinished execution the last stays', async () => {
    const scene = openScene()
    await run(scene, 3)
    await scene.clock.advance(6 * DAY_MS)
    expect(await scene.checkpoints.expire(SCOPE, { isFinished: true })).toEqual([])
    await scene.clock.advance(2 * DAY_MS)
    expect(await scene.checkpoints.expire(SCOPE, { isFinished: false })).toHaveLength(2)
    expect((await scene.checkpoints.readLastGood(SCOPE))?.record.phaseId).toBe('layer-3')
    expect(await scene.checkpoints.expire(SCOPE, { isFinished: true })).toHaveLength(1)
    expect(await scene.checkpoints.list(SCOPE)).toEqual([])
    expect(await scene.bodies.list(SCOPE)).toEqual([])
  })

  test('X-66 the last good one stays, even where newer ones are damaged', async () => {
    const scene = openScene()
    await run(scene, 4)
    const [fourth, third] = await scene.checkpoints.list(SCOPE)
    await flip(scene, fourth!)
    await flip(scene, third!)
    await scene.clock.advance(30 * DAY_MS)
    await scene.checkpoints.expire(SCOPE, { isFinished: false })
    expect((await scene.checkpoints.list(SCOPE)).map(({ phaseId }) => phaseId)).toEqual(['layer-2'])
  })

  test('X-139 one that is too large is refused, and the last good one stays usable', async () => {
    const scene = openScene({ limits: { maxBytes: 20_000 } })
    const world = new ExecutionWorld(chainOf('a', 'b'))
    const good = await keepUp(scene, world)
    world.end('a', { result: Buffer.from(noise(30_000)).toString('base64') })
    expect(await failureOf(keepUp(scene, world))).toMatchObject({
      ...{ kind: 'refused', code: 'engine/checkpoint-too-large', details: { maxBytes: 20_000 } },
    })
    expect((await scene.checkpoints.readLastGood(SCOPE))?.record).toEqual(good)
    expect(await scene.bodies.list(SCOPE)).toEqual([good?.checkpointId])
  })
})

describe('interrupted', () => {
  test('EN-601 a body without a record is collected, but not while its record may still come', async () => {
    const scene = openScene()
    const world = new ExecutionWorld(chainOf('a', 'b'))
    await keepUp(scene, world)
    const left = { scope: SCOPE, checkpointId: `cp-9-${scene.clock.now().getTime().toString(36)}-abcdefgh` }
    await scene.bodies.write(left, noise(10))
    await scene.checkpoints.expire(SCOPE, { isFinished: false })
    expect(await scene.bodies.list(SCOPE)).toHaveLength(2)
    await scene.clock.advance(2 * 3_600_000)
    world.end('a')
    await keepUp(scene, world)
    expect(await scene.bodies.list(SCOPE)).not.toContain(left.checkpointId)
    expect(await scene.bodies.list(SCOPE)).toHaveLength(2)
  })

  test('EN-601 bodies on disk of an execution that the core has removed are collected', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'perago-checkpoints-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const bodies = openDirectoryBodies(directory)
    const scene = openScene({ bodies: [bodies] })
    await keepUp(scene, new ExecutionWorld(chainOf('a')))
    await scene.clock.advance(DAY_MS)
    expect(await scene.checkpoints.collect()).toBe(0)
    const other = openCheckpoints({ store: openMemoryStore(), bodies: [bodies], clock: scene.clock })
    expect(await other.collect()).toBe(1)
    expect(await bodies.listExecutions?.()).toEqual([])
  })

  test.each<readonly StoreFault[]>([
    ['lose-answer'],
    ['lose-request'],
    ['refuse', 'lose-answer'],
    ['none', 'lose-answer'],
    ['none', 'lose-request'],
    ['none', 'refuse'],
  ])('EN-602 a store that answers %s, %s leaves one checkpoint that can be restored', async (...faults) => {
    const store = openMemoryStore()
    const lossy = openLossyStore(store, faults[Symbol.iterator]())
    // Waits take no time.
    const clock = { ...systemClock, sleep: () => Promise.resolve() }
    const options = { bodies: [openStoreBodies(lossy, { clock, random: systemRandom })], clock }
    const scene = openScene({ store: lossy, ...options })
    const record = await keepUp(scene, new ExecutionWorld(chainOf('a')))
    const plain = openCheckpoints({ store, bodies: [openStoreBodies(store)] })
    expect(await plain.list(SCOPE)).toEqual([record])
    expect((await plain.readLastGood(SCOPE))?.record).toEqual(record)
  })

  test('EN-603 two that are taken at once both stay; one without its conditions is refused', async () => {
    const scene = openScene()
    const { execution } = new ExecutionWorld(chainOf('a'))
    const request = { scope: SCOPE, execution, reason: { phaseId: 'start' } }
    const both = await Promise.all([scene.checkpoints.take(request), scene.checkpoints.take(request)])
    expect(both.map(({ sequence }) => sequence).toSorted()).toEqual([1, 2])
    expect(await scene.checkpoints.list(SCOPE)).toHaveLength(2)
    const conditions = [{ key: executionKeys(SCOPE).record, is: 'present' as const }]
    expect(await failureOf(scene.checkpoints.take({ ...request, conditions }))).toMatchObject({
      code: 'engine/checkpoint-not-recorded',
    })
    expect(await scene.checkpoints.list(SCOPE)).toHaveLength(2)
  })
})
