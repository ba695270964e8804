// Goal: as many workers as were asked for, again and again, one supervisor for each root, and none left behind.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SUPERVISOR_KILL_AFTER_MS, SUPERVISOR_RESTART_MAX_MS, SUPERVISOR_WELL_AFTER_MS } from '../limits.ts'
import { WORKER_ABORT_WAIT_MS } from '../../worker/limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { superviseWorkers, type Supervisor, type WorkerEnd } from './supervisor.ts'

interface Child {
  readonly index: number
  readonly formerEnd: string | undefined
  readonly atMs: number
  readonly told: string[]
  readonly ready: () => void
  readonly end: (end?: Partial<WorkerEnd>) => void
}

let root: string
let clock: ManualClock
let children: Child[]
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'perago-supervisor-'))
  clock = new ManualClock()
  children = []
})
afterEach(() => rm(root.replace(/\/file\/below$/, ''), { recursive: true, force: true }))

async function supervise(count: number): Promise<Supervisor> {
  const supervisor = await superviseWorkers({
    root,
    count,
    clock,
    logger: silentLogger,
    spawn: (index, formerEnd) => {
      let ready: () => void = () => undefined
      let end: Child['end'] = () => undefined
      const told: string[] = []
      const process = {
        pid: 1_000 + children.length,
        ready: new Promise<void>((resolve) => (ready = resolve)),
        ended: new Promise<WorkerEnd>((resolve) => {
          end = (how = {}) => resolve({ how: 'it ended with status 1', isForGood: false, ...how })
        }),
        stop: (deadlineMs: number) => told.push(`stop ${deadlineMs}`),
        kill: () => {
          told.push('kill')
          end()
        },
      }
      children.push({ index, formerEnd, atMs: clock.monotonicMs(), told, ready: () => ready(), end })
      return process
    },
  })
  await clock.advance(0)
  return supervisor
}

async function stop(supervisor: Supervisor): Promise<void> {
  const stopped = supervisor.stop({ deadlineMs: 1_000 })
  for (const child of children) child.end()
  await clock.run(stopped)
}

test('WK-115 a root that cannot be made is refused', async () => {
  await writeFile(join(root, 'file'), '')
  root = join(root, 'file', 'below')
  await expect(supervise(1)).rejects.toMatchObject({ code: 'runtime/bad-root' })
  expect(children).toEqual([])
})

describe('worker processes', () => {
  test('WK-110 are as many as were asked for, and ready when each is', async () => {
    const supervisor = await supervise(3)
    expect(children.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(supervisor.pids()).toEqual([1_000, 1_001, 1_002])
    let isReady = false
    supervisor.ready.then(
      () => (isReady = true),
      () => undefined,
    )
    children[0]?.ready()
    children[1]?.ready()
    await clock.advance(0)
    expect(isReady).toBe(false)
    children[2]?.ready()
    await clock.advance(0)
    expect(isReady).toBe(true)
    await stop(supervisor)
    expect(supervisor.pids()).toEqual([])
  })

  test('WK-111 one that ends is started again, after pauses that double up to a limit', async () => {
    const supervisor = await supervise(1)
    const pauses: number[] = []
    for (let time = 0; time < 9; time++) {
      const endedAtMs = clock.monotonicMs()
      children.at(-1)?.end()
      const before = children.length
      await clock.advance(0)
      while (children.length === before) await clock.advance(100)
      pauses.push(clock.monotonicMs() - endedAtMs)
    }
    expect(pauses).toEqual([
      500,
      1_000,
      2_000,
      4_000,
      8_000,
      16_000,
      ...Array<number>(3).fill(SUPERVISOR_RESTART_MAX_MS),
    ])
    await stop(supervisor)
  })

  test('WK-324 the next one is told how the one before it ended', async () => {
    const supervisor = await supervise(2)
    children[1]?.end({ how: 'it was killed by SIGKILL' })
    await clock.advance(0)
    await clock.advance(SUPERVISOR_RESTART_MAX_MS)
    expect(children.map(({ index, formerEnd }) => [index, formerEnd])).toEqual([
      [0, undefined],
      [1, undefined],
      [1, 'it was killed by SIGKILL'],
    ])
    await stop(supervisor)
  })

  test('WK-111 after one that ran well the pauses begin anew', async () => {
    const supervisor = await supervise(1)
    const endLast = async (passMs: number): Promise<void> => {
      children.at(-1)?.end()
      await clock.advance(0)
      await clock.advance(passMs)
    }
    for (let time = 0; time < 8; time++) await endLast(SUPERVISOR_RESTART_MAX_MS)
    await clock.advance(SUPERVISOR_WELL_AFTER_MS)
    const before = children.length
    await endLast(500)
    expect(children.length).toBe(before + 1)
    await stop(supervisor)
  })

  test('WK-112 one that ends for good ends them all, and its words are told', async () => {
    const supervisor = await supervise(2)
    children[0]?.end({ how: 'read the configuration: 2 problems', isForGood: true })
    await clock.advance(0)
    expect(children[1]?.told).toEqual(['stop 25000'])
    children[1]?.end()
    expect(await clock.run(supervisor.ended)).toBe('read the configuration: 2 problems')
    expect(children).toHaveLength(2)
    expect(clock.sleeping).toBe(0)
  })
})

describe('stopping', () => {
  test('WK-113 each is asked once, none is started again, and the promise is one', async () => {
    const supervisor = await supervise(2)
    const stopped = supervisor.stop({ deadlineMs: 1_000 })
    expect(supervisor.stop()).toBe(stopped)
    await clock.advance(0)
    expect(children.map(({ told }) => told)).toEqual([['stop 1000'], ['stop 1000']])
    for (const child of children) child.end()
    await clock.run(stopped)
    expect(children).toHaveLength(2)
    expect(clock.sleeping).toBe(0)
  })

  test('WK-113 one that waits to be started again is not waited for', async () => {
    const supervisor = await supervise(1)
    children[0]?.end()
    await clock.advance(100)
    await clock.run(supervisor.stop())
    expect(children).toHaveLength(1)
  })

  test('WK-114 one that does not end is killed after its deadline and a grace', async () => {
    const supervisor = await supervise(1)
    const stopped = supervisor.stop({ deadlineMs: 1_000 })
    // A stop has time to hand back what runs, however short its deadline.
    await clock.advance(WORKER_ABORT_WAIT_MS + SUPERVISOR_KILL_AFTER_MS - 1)
    expect(children[0]?.told).toEqual(['stop 1000'])
    await clock.advance(1)
    expect(children[0]?.told).toEqual(['stop 1000', 'kill'])
    await stopped
  })
})

describe('the root', () => {
  test('WK-115 WK-328 has one supervisor at a time, and who comes second is told which', async () => {
    const supervisor = await supervise(1)
    await expect(supervise(1)).rejects.toMatchObject({
      code: 'runtime/root-taken',
      kind: 'refused',
      message: expect.stringMatching(
        new RegExp(`process ${process.pid} has had them since 20\\d\\d-`),
      ) as string,
      next: expect.stringContaining(`kill ${process.pid}`) as string,
    })
    await stop(supervisor)
    const next = await supervise(1)
    await stop(next)
  })

  test('WK-115 is released when its outboxes cannot be taken over, and no worker is started', async () => {
    await writeFile(join(root, 'outbox'), '')
    await expect(supervise(1)).rejects.toThrow('ENOTDIR')
    expect(children).toEqual([])
    await rm(join(root, 'outbox'))
    await stop(await supervise(1))
  })
})
