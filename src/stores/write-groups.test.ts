// Goal: sharing a round trip changes nothing for the batches that share it.
// Method: groups are answered by hand, and what was sent is looked at.
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { UnavailableError, UncertainError } from '../base/errors.ts'
import type { CommitOutcome } from '../core/ports.ts'
import type { CheckedBatch } from './backend.ts'
import { answerLost, notDone, workOfBatch } from './failures.ts'
import { WriteGroups } from './write-groups.ts'

const REFUSED = new UnavailableError('test/refused', 'it was refused')

test('ST-124 few writers wait for nobody; what comes while others are on their way is sent together', async () => {
  const world = openWorld()
  const first = [world.write('a'), world.write('b')]
  expect(world.sent).toEqual([['a'], ['b']])
  const more = ['c', 'd', 'e'].map((key) => world.write(key))
  expect(world.sent).toHaveLength(2)
  world.answer(0)
  expect(await first[0]).toEqual({ committed: true, revision: 1 })
  await expect.poll(() => world.sent).toEqual([['a'], ['b'], ['c', 'd', 'e']])
  world.answer(1)
  world.answer(2)
  expect(await Promise.all([first[1], ...more])).toHaveLength(4)
})

test('ST-125 no two batches of a group name a key that one of them writes, and none is left behind', async () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const keys = fc.uniqueArray(key, { maxLength: 3 })
  const batch = fc.record({ looked: keys, written: keys })
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 30 }), async (given) => {
      const world = openWorld({ groupsAtOnce: 1 })
      const outcomes = given.map(({ looked, written }) =>
        world.groups.write(batchOf(written, looked), undefined),
      )
      for (let at = 0; at < given.length && world.batches.length > at; at += 1) {
        expectApart(world.batches[at] ?? [])
        world.answer(at)
        await turn()
      }
      expect(await Promise.all(outcomes)).toHaveLength(given.length)
      expect(world.batches.flat()).toHaveLength(given.length)
    }),
    { numRuns: 200 },
  )
})

test('ST-126 a lost response of a group is told to each of its batches with its own keys, and nothing is sent again', async () => {
  const world = openWorld({ groupsAtOnce: 1 })
  const first = world.write('a')
  const group = [world.write('b'), world.write('c')]
  world.answer(0)
  await first
  await expect.poll(() => world.sent.length).toBe(2)
  world.fail(1, answerLost(workOfBatch('test', batchOf(['b', 'c'])), new Error('cut')))
  const [b, c] = await Promise.allSettled(group)
  expect(b).toMatchObject({ reason: { kind: 'uncertain', details: { keys: ['b'] } } })
  expect(c).toMatchObject({ reason: { kind: 'uncertain', details: { keys: ['c'] } } })
  expect((c as PromiseRejectedResult).reason).toBeInstanceOf(UncertainError)
  expect(world.sent).toHaveLength(2)
})

test('ST-126 a group that the server refuses is sent batch by batch, so that only the one at fault is refused', async () => {
  const world = openWorld({ groupsAtOnce: 1, isFaultOfOne: (failure) => failure === REFUSED })
  const first = world.write('a')
  const group = Promise.allSettled([world.write('b'), world.write('c')])
  world.answer(0)
  await first
  await expect.poll(() => world.sent.length).toBe(2)
  world.fail(1, REFUSED)
  await expect.poll(() => world.sent.slice(2)).toEqual([['b']])
  world.fail(2, REFUSED)
  await expect.poll(() => world.sent.slice(3)).toEqual([['c']])
  world.answer(3)
  expect(await group).toMatchObject([{ reason: REFUSED }, { value: { committed: true } }])
  // Without a connection all fail alike: nothing is sent again.
  await turn()
  const others = Promise.allSettled(['d', 'e', 'f'].map((key) => world.write(key)))
  world.answer(4)
  await expect.poll(() => world.sent.length).toBe(6)
  world.fail(5, notDone(workOfBatch('test', batchOf(['e', 'f'])), new Error('no connection')))
  expect((await others).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(world.sent).toHaveLength(6)
})

test('ST-127 a batch that is given up while it waits is unavailable and never sent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const world = openWorld({ groupsAtOnce: 1, waitMs: 1_000 })
    const first = world.write('a')
    const end = new AbortController()
    const waiting = [
      world.groups.write(batchOf(['aborted']), end.signal),
      world.write('late'),
      world.write('closed'),
    ].map((outcome) => outcome.catch((error: unknown) => error))
    end.abort()
    expect(await waiting[0]).toMatchObject({ kind: 'unavailable' })
    vi.advanceTimersByTime(999)
    const closed = world.write('last').catch((error: unknown) => error)
    vi.advanceTimersByTime(1)
    expect(await Promise.all(waiting.slice(1))).toMatchObject([
      { kind: 'unavailable' },
      { kind: 'unavailable' },
    ])
    world.groups.close()
    expect(await closed).toMatchObject({ kind: 'unavailable' })
    world.answer(0)
    expect(await first).toMatchObject({ committed: true })
    expect(world.sent).toEqual([['a']])
    // One that was sent may have happened.
    const gone = new AbortController()
    const sent = world.groups.write(batchOf(['b']), gone.signal)
    gone.abort()
    await expect(sent).rejects.toMatchObject({ kind: 'uncertain', details: { keys: ['b'] } })
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

/** Until those that were told have had their turn. */
async function turn(): Promise<void> {
  for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

function batchOf(written: readonly string[], looked: readonly string[] = []): CheckedBatch {
  return {
    conditions: looked.map((key) => ({ key, is: 'absent' })),
    operations: written.map((key) => ({ do: 'put', key, value: new Uint8Array() })),
  }
}

function expectApart(group: readonly CheckedBatch[]): void {
  for (const one of group) {
    const named = new Set([...one.conditions, ...one.operations].map(({ key }) => key))
    for (const other of group) {
      if (other !== one) expect(other.operations.filter(({ key }) => named.has(key))).toEqual([])
    }
  }
}

function openWorld({
  groupsAtOnce = 2,
  waitMs = 10_000,
  isFaultOfOne = () => false,
}: {
  readonly groupsAtOnce?: number
  readonly waitMs?: number
  readonly isFaultOfOne?: (failure: unknown) => boolean
} = {}) {
  const batches: (readonly CheckedBatch[])[] = []
  const open: { resolve: (outcomes: readonly CommitOutcome[]) => void; reject: (error: unknown) => void }[] =
    []
  const groups = new WriteGroups({
    groupsAtOnce,
    waitMs,
    isFaultOfOne,
    workOf: (batch) => workOfBatch('test', batch),
    send: (group) => {
      batches.push(group)
      return new Promise((resolve, reject) => open.push({ resolve, reject }))
    },
  })
  return {
    groups,
    batches,
    /** The keys that each group writes. */
    get sent(): string[][] {
      return batches.map((group) => group.flatMap(({ operations }) => operations.map(({ key }) => key)))
    },
    write: (key: string) => groups.write(batchOf([key]), undefined),
    answer: (at: number) =>
      open[at]?.resolve((batches[at] ?? []).map(() => ({ committed: true, revision: at + 1 }))),
    fail: (at: number, error: unknown) => open[at]?.reject(error),
  }
}
