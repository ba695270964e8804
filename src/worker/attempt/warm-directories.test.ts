// Goal: a directory that was left is found by whoever wants exactly that, given away once, and never kept for too long.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openHandOverWorld } from '../../../test/support/workspace/hand-over-world.ts'
import { ATTEMPT, attemptsOf, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'
import { commitRef, repositoryName } from '../../base/ids.ts'
import { WARM_ANNOUNCED_WAIT_MS } from '../limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { HandedOver } from '../../workspace/hand-over/hand-over.ts'
import type { WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import { WarmDirectories, type WarmDirectoriesOptions, type WarmKey } from './warm-directories.ts'

const key = (changes: Partial<WarmKey> = {}): WarmKey => ({
  repository: repositoryName('lake'),
  ref: commitRef('a'.repeat(64)),
  spec: { prefix: 'data' },
  ...changes,
})

interface World {
  readonly root: WorkspaceRoot
  readonly clock: ManualClock
  readonly warm: WarmDirectories
  readonly left: () => Promise<HandedOver>
}

async function open(options: Partial<WarmDirectoriesOptions> = {}): Promise<World> {
  const root = await temporaryRoot()
  const clock = new ManualClock()
  const warm = new WarmDirectories({ root, clock, logger: silentLogger, ...options })
  onTestFinished(() => warm.close())
  return {
    root,
    clock,
    warm,
    left: async () => {
      const left = await (await openHandOverWorld({ a: 'content' }, {}, root)).leave()
      if (!left.isHandedOver) throw new Error(left.why)
      return left.directory
    },
  }
}

test('WS-71 is found by repository, commit and view, and by nothing less', async () => {
  const { warm, left } = await open()
  await warm.keep(key(), await left())
  const others: Partial<WarmKey>[] = [
    { repository: repositoryName('other') },
    { ref: commitRef('b'.repeat(64)) },
    { spec: {} },
    { spec: { prefix: 'data', include: ['**'] } },
    { spec: { prefix: 'data', exclude: ['x'] } },
  ]
  for (const other of others) expect(await warm.take(key(other), { attempt: ATTEMPT })).toBeUndefined()
  const taken = await warm.take(key(), { attempt: ATTEMPT })
  expect(taken?.manifest.count).toBe(1)
  expect(await warm.take(key(), { attempt: ATTEMPT })).toBeUndefined()
})

test('WS-71 of many that come at once, as many get one as there are', async () => {
  const { warm, left } = await open()
  await warm.keep(key(), await left())
  await warm.keep(key(), await left())
  const taken = await Promise.all(Array.from({ length: 5 }, () => warm.take(key(), { attempt: ATTEMPT })))
  const dirs = taken.flatMap((workspace) => (workspace === undefined ? [] : [workspace.dir]))
  expect(new Set(dirs).size).toBe(2)
  expect(dirs).toHaveLength(2)
})

test('WS-73 one that was touched is passed over for another one that was not', async () => {
  const { warm, left } = await open()
  const [good, touched] = [await left(), await left()]
  await warm.keep(key(), good)
  await warm.keep(key(), touched)
  await writeFile(join(touched.aside.tree, 'a'), 'CONTENT')
  expect((await warm.take(key(), { attempt: ATTEMPT }))?.manifest).toBe(good.manifest)
})

test('WS-76 there are never more than so many, the oldest go first', async () => {
  const { warm, left, root } = await open({ maxDirectories: 2 })
  const directories = [await left(), await left(), await left()]
  for (const directory of directories) await warm.keep(key(), directory)
  expect(directories.map(({ aside }) => existsSync(aside.path))).toEqual([false, true, true])
  await warm.clear()
  expect(directories.map(({ aside }) => existsSync(aside.path))).toEqual([false, false, false])
  expect(await attemptsOf(root)).toEqual([])
})

test('WS-76 nor more than so many bytes, be it one alone', async () => {
  const { warm, left } = await open({ maxBytes: 10 })
  const directories = [await left(), await left()]
  for (const directory of directories) await warm.keep(key(), directory)
  expect(directories.map(({ aside }) => existsSync(aside.path))).toEqual([false, true])
  const none = await open({ maxBytes: 3 })
  const large = await none.left()
  await none.warm.keep(key(), large)
  expect(existsSync(large.aside.path)).toBe(false)
})

test('WS-76 nor more than so many files together, but the latest one with any number', async () => {
  const { warm, left } = await open({ maxFiles: 2 })
  const directories = [await left(), await left(), await left()]
  for (const directory of directories) await warm.keep(key(), directory)
  expect(directories.map(({ aside }) => existsSync(aside.path))).toEqual([false, true, true])
  const few = await open({ maxFiles: 0 })
  const latest = await few.left()
  await few.warm.keep(key(), latest)
  expect(existsSync(latest.aside.path)).toBe(true)
})

test('WS-76 nor for longer than so long', async () => {
  const { warm, left, clock } = await open({ ageMs: 1_000 })
  const [first, second] = [await left(), await left()]
  await warm.keep(key(), first)
  await clock.advance(600)
  await warm.keep(key(), second)
  await clock.advance(500)
  await expect.poll(() => existsSync(first.aside.path)).toBe(false)
  expect(existsSync(second.aside.path)).toBe(true)
  await clock.advance(600)
  await expect.poll(() => existsSync(second.aside.path)).toBe(false)
  expect(await warm.take(key(), { attempt: ATTEMPT })).toBeUndefined()
})

test('WS-76 nor after it was closed', async () => {
  const { warm, left } = await open()
  const directory = await left()
  await warm.keep(key(), directory)
  await warm.close()
  expect(existsSync(directory.aside.path)).toBe(false)
  const late = await left()
  await warm.keep(key(), late)
  expect(existsSync(late.aside.path)).toBe(false)
  await warm.close()
})

test('WS-77 whoever wants one that was announced waits for it, and only whoever wants that one', async () => {
  const { warm, left } = await open()
  const announced = warm.announce(key())
  let isHere = false
  const wanted = warm.take(key(), { attempt: ATTEMPT }).finally(() => (isHere = true))
  expect(await warm.take(key({ spec: {} }), { attempt: ATTEMPT })).toBeUndefined()
  expect(isHere).toBe(false)
  await warm.keep(key(), await left())
  announced()
  expect((await wanted)?.manifest.count).toBe(1)
})

test('WS-77 one that does not come is not waited for any more, nor one that takes too long', async () => {
  const { warm, clock } = await open()
  const announced = warm.announce(key())
  const first = warm.take(key(), { attempt: ATTEMPT })
  announced()
  expect(await first).toBeUndefined()
  warm.announce(key())
  const second = warm.take(key(), { attempt: ATTEMPT })
  await clock.advance(0)
  await clock.advance(WARM_ANNOUNCED_WAIT_MS)
  expect(await second).toBeUndefined()
})

test('WS-77 whoever waits can be called away', async () => {
  const { warm, clock } = await open()
  warm.announce(key())
  const stop = new AbortController()
  const wanted = warm.take(key(), { attempt: ATTEMPT, signal: stop.signal })
  stop.abort(new Error('the lease is lost'))
  await expect(wanted).rejects.toThrow('the lease is lost')
  expect(clock.sleeping).toBe(0)
})
