// Goal: an outage costs time and no retry, and what can go on without the server goes on.
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { z } from 'zod'
import { filesOf } from '../../../test/support/publication-world.ts'
import { emptyDisk, fillDisk, mountSmallDisk } from '../../../test/support/small-disk.ts'
import { AWAY, openOutageWorld, type OutageWorld } from '../../../test/support/worker/outage-world.ts'
import { filesTask, MAIN, OWNER, recordOf } from '../../../test/support/worker/world.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import { silentLogger } from '../../base/logger.ts'
import { defineTask, type TaskDefinition } from '../../tasks/task-definition.ts'
import { NODE_HAND_BACK_POLLS_MAX, OUTAGE_GIVE_UP_MS } from '../limits.ts'
import { blameOutage } from './blame.ts'
import { NodeWatch } from './node-watch.ts'

const change = filesTask({
  body: async ({ workspace, attempt }) => {
    await writeFile(workspace.path('a.csv'), `by attempt ${attempt.retryCount}`)
    return { rows: 1 }
  },
})

const until = async (happened: () => boolean): Promise<void> => {
  await expect.poll(happened, { timeout: 20_000, interval: 5 }).toBe(true)
}

/** The codes with which attempts have ended. */
const attemptsOf = ({ events }: OutageWorld): readonly unknown[] =>
  events.flatMap((event) => (event.kind === 'attempt-ended' ? [event.summary.errorCode] : []))

describe('a server that is away', () => {
  test('WK-236 tasks with a workspace stay in the queue meanwhile, others run, and it goes on by itself', async () => {
    const world = await openOutageWorld()
    const plain: TaskDefinition = defineTask({
      ...{ name: 'plain', owner: OWNER, params: z.unknown(), result: z.number() },
      body: () => Promise.resolve(7),
    })
    world.watch.set(AWAY)
    const worker = await world.open([change, plain])
    const waiting = await world.start()
    const other = await world.start('plain')
    expect((await world.ended(other)).status).toBe('COMPLETED')
    expect((await world.queue.readWorkflow(waiting))?.tasks[0]?.status).toBe('SCHEDULED')
    expect(worker.status()).toMatchObject({ outages: [AWAY], held: ['orders.clean'] })
    world.watch.set(undefined)
    const { status, tasks } = await world.ended(waiting)
    expect([status, tasks.length, tasks[0]?.pollCount]).toEqual(['COMPLETED', 1, 1])
    await worker.ready
    expect(worker.status()).toMatchObject({ outages: [], held: [] })
    expect(world.events.filter(({ kind }) => kind.startsWith('outage'))).toMatchObject([
      { kind: 'outage-began', what: 'lakefs', why: AWAY.why },
      { kind: 'outage-ended', what: 'lakefs' },
    ])
  })

  test('WK-237 an attempt that fails by it is handed back without using a retry', async () => {
    const world = await openOutageWorld()
    world.watch.explains = (error) => String(error).includes('no lakeFS')
    let isAway = true
    const connected = world.repo.connect('worker')
    await world.open([change], {
      openRepo: () => ({
        ...connected,
        createBranch: (...given) =>
          isAway
            ? Promise.reject(new UnavailableError('lakefs/unreachable', 'no lakeFS'))
            : connected.createBranch(...given),
      }),
    })
    const workflow = await world.start()
    await until(() => attemptsOf(world).length === 1)
    const [handedBack] = (await world.queue.readWorkflow(workflow))?.tasks ?? []
    expect(handedBack).toMatchObject({ status: 'SCHEDULED', retryCount: 0 })
    isAway = false
    const { status, tasks } = await world.ended(workflow)
    expect([status, ...tasks.map(({ retryCount, pollCount }) => [retryCount, pollCount])]).toEqual([
      'COMPLETED',
      [0, 2],
    ])
    await until(() => attemptsOf(world).length === 2)
    expect(attemptsOf(world)).toEqual(['worker/server-away', undefined])
    expect(await filesOf(connected)).toEqual({ 'orders/a.csv': 'by attempt 0' })
  })

  test('WK-238 a workspace that is being laid out is given up at once and handed back; a body that runs goes on', async () => {
    const world = await openOutageWorld()
    const connected = world.repo.connect('worker')
    let isListing = false
    let go: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (go = resolve))
    let isRunning = false
    const held = filesTask({
      body: async () => {
        isRunning = true
        await gate
        return { rows: 1 }
      },
    })
    let lists = 0
    await world.open([held], {
      openRepo: () => ({
        ...connected,
        // The first one never ends by itself.
        list: (ref, options) => {
          isListing = true
          return lists++ > 0
            ? connected.list(ref, options)
            : {
                [Symbol.asyncIterator]: () => ({
                  next: () =>
                    new Promise((_, reject) => {
                      options?.signal?.addEventListener('abort', () => reject(new Error('cut')))
                    }),
                }),
              }
        },
      }),
    })
    const workflow = await world.start()
    await until(() => isListing)
    world.watch.set(AWAY)
    await until(() => attemptsOf(world).length === 1)
    expect(attemptsOf(world)).toEqual(['worker/server-away'])
    world.watch.set(undefined)
    await until(() => isRunning)
    world.watch.set(AWAY)
    go()
    expect((await world.ended(workflow)).status).toBe('COMPLETED')
    await until(() => attemptsOf(world).length === 2)
    expect(attemptsOf(world)).toEqual(['worker/server-away', undefined])
  })

  test('WK-239 a task handed back for longer than the limit fails, and uses a retry', async () => {
    const world = await openOutageWorld()
    world.watch.explains = () => true
    const failing = filesTask({ body: () => Promise.reject(new Error('no lakeFS')) })
    const later: Clock = { ...systemClock, now: () => new Date(Date.now() + OUTAGE_GIVE_UP_MS + 60_000) }
    await world.open([failing], { clock: later })
    const { status, tasks } = await world.ended(await world.start())
    expect([status, tasks.length]).toEqual(['FAILED', 3])
    expect(tasks[0]?.reasonForIncompletion).toContain('[worker/outage-too-long]')
  })

  test('WK-240 a staging branch that could not be removed is removed when lakeFS is back', async () => {
    const world = await openOutageWorld()
    const connected = world.repo.connect('worker')
    let isAway = true
    const clock: Clock = {
      ...systemClock,
      sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 50), signal),
    }
    await world.open([change], {
      clock,
      openRepo: () => ({
        ...connected,
        deleteBranch: (...given) =>
          isAway
            ? Promise.reject(new UnavailableError('lakefs/unreachable', 'no lakeFS'))
            : connected.deleteBranch(...given),
      }),
    })
    expect((await world.ended(await world.start())).status).toBe('COMPLETED')
    await until(() => attemptsOf(world).length === 1)
    expect(world.repo.model.branches.size).toBe(2)
    isAway = false
    await until(() => world.repo.model.branches.size === 1)
    expect([...world.repo.model.branches.keys()]).toEqual([MAIN])
  })
})

describe('a fault of the machine', () => {
  async function openDisk(context: TestContext): Promise<{ disk: string; world: OutageWorld }> {
    const disk = await mountSmallDisk('tmpfs', context)
    return { disk, world: await openOutageWorld({ directory: disk }) }
  }

  function watchOf({ root }: OutageWorld): NodeWatch {
    const watch = new NodeWatch({ directory: root.directory, clock: systemClock, logger: silentLogger })
    onTestFinished(() => watch.close())
    return watch
  }

  test('WK-241 a full disk hands the task back, stops polls until there is room, and costs no retry', async (context) => {
    const { disk, world } = await openDisk(context)
    const node = watchOf(world)
    fillDisk(disk, 'bytes')
    const worker = await world.open([change], { watches: [node], onFileError: (error) => node.notice(error) })
    const workflow = await world.start()
    await until(() => worker.status().outages.length === 1)
    expect(worker.status()).toMatchObject({
      outages: [{ what: 'node', why: 'this machine cannot work: the disk is full (ENOSPC)' }],
      held: ['orders.clean'],
    })
    await until(() => attemptsOf(world).length === 1)
    const polls = (): number => world.events.filter(({ kind }) => kind === 'poll').length
    const before = polls()
    await systemClock.sleep(1_500)
    // One may have been under way.
    expect(polls() - before).toBeLessThanOrEqual(1)
    emptyDisk(disk)
    const { status, tasks } = await world.ended(workflow)
    expect([status, tasks.length, tasks[0]?.pollCount]).toEqual(['COMPLETED', 1, 2])
    await until(() => attemptsOf(world).length === 2)
    expect(attemptsOf(world)).toEqual(['worker/node-fault', undefined])
    expect(readdirSync(world.root.directory).filter((name) => name.startsWith('probe'))).toEqual([])
  })

  test('WK-242 a body that meets a full disk is handed back if the disk of the root is full', async (context) => {
    const { disk, world } = await openDisk(context)
    const node = watchOf(world)
    const greedy = filesTask({
      body: async ({ workspace, attempt }) => {
        if (world.events.every(({ kind }) => kind !== 'attempt-ended')) fillDisk(disk, 'bytes')
        await writeFile(workspace.path('b.csv'), Buffer.alloc(4096, `${attempt.retryCount}`))
        return { rows: 1 }
      },
    })
    await world.open([greedy], { watches: [node] })
    const workflow = await world.start()
    await until(() => attemptsOf(world).length === 1)
    expect(attemptsOf(world)).toEqual(['worker/node-fault'])
    emptyDisk(disk)
    const { status, tasks } = await world.ended(workflow)
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
  })

  test('WK-242 a body that says its disk is full, though the disk of the root is not, fails', async () => {
    const world = await openOutageWorld()
    const elsewhere = filesTask({
      body: () => Promise.reject(Object.assign(new Error('no room there'), { code: 'ENOSPC' })),
    })
    await world.open([elsewhere], { watches: [watchOf(world)] })
    const { status, tasks } = await world.ended(await world.start())
    expect([status, tasks.length]).toEqual(['FAILED', 3])
  })

  test.each([
    ['ENOSPC', 1],
    ['EMFILE', NODE_HAND_BACK_POLLS_MAX],
    ['EROFS', NODE_HAND_BACK_POLLS_MAX + 1],
  ])('WK-243 %s in poll %d of a task: handed back only in the first ones', async (code, pollCount) => {
    const world = await openOutageWorld()
    const error = new UnavailableError('workspace/disk-failed', 'write', {
      cause: Object.assign(new Error(code), { code }),
    })
    const record = recordOf({ pollCount })
    const outages = watchOf(world)
    const blamed = await blameOutage(error, { record, sinceMs: 0, clock: systemClock, outages })
    const isHandedBack = pollCount <= NODE_HAND_BACK_POLLS_MAX
    expect(blamed).toMatchObject({ code: isHandedBack ? 'worker/node-fault' : 'worker/outage-too-long' })
  })
})
