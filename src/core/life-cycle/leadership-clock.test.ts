// Goal: whatever is done to the wall clock, exactly one instance leads, and another follows within a bounded time.
// Method: instances over one SQLite file, which expires entries by the wall time; the time is moved, and set, by the test.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SteppedClock } from '../../../test/support/stepped-clock.ts'
import { openSqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { Leadership } from './leadership.ts'

const LEASE_MS = 9_000
const LOOK_MS = 1_000
const STEP_MS = 3 * 3_600_000

async function world() {
  const directory = await mkdtemp(join(tmpdir(), 'perago-leadership-'))
  const clock = new SteppedClock()
  const store = openSqliteStore({ file: join(directory, 'store.db'), clock })
  onTestFinished(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  const open = (owner: string): Leadership =>
    new Leadership({ store, name: 'job', owner, clock, leaseMs: LEASE_MS })
  /** Each asks at every look; at no time do two hold the lease. Returns who held it after each look. */
  const look = async (all: readonly Leadership[], looks: number): Promise<readonly number[]> => {
    const holders: number[] = []
    for (let at = 0; at < looks; at += 1) {
      for (const one of all) await one.hold()
      const holding = all.flatMap((one, index) => (one.isHeld() ? [index] : []))
      expect(holding.length).toBeLessThanOrEqual(1)
      holders.push(holding[0] ?? -1)
      await clock.advance(LOOK_MS)
    }
    return holders
  }
  return { clock, open, look }
}

test.each([
  ['back', -STEP_MS],
  ['forward', STEP_MS],
])(
  'DO-113 a clock that is set three hours %s leaves the leader where it is, and one is enough',
  async (_, byMs) => {
    const { clock, open, look } = await world()
    const both = [open('a'), open('b')]
    expect(await look(both, 5)).toEqual([0, 0, 0, 0, 0])
    clock.set(byMs)
    // Also one that has seen nothing of all this before.
    expect(new Set(await look([...both, open('c')].reverse(), 30))).toEqual(new Set([2]))
  },
)

test.each([
  ['back', -STEP_MS],
  ['forward', STEP_MS],
])(
  'DO-113 when the leader is gone and the clock is set three hours %s another follows within a lease',
  async (_, byMs) => {
    const { clock, open, look } = await world()
    expect(await look([open('a')], 1)).toEqual([0])
    clock.set(byMs)
    const holders = await look([open('b'), open('c')], 2 * (LEASE_MS / LOOK_MS))
    const first = holders.findIndex((holder) => holder !== -1)
    expect(first * LOOK_MS).toBe(LEASE_MS)
    expect(new Set(holders.slice(first))).toEqual(new Set([holders[first]]))
  },
)

test('DO-113 one who asks once waits until the lease is renewed, or was not for its whole time', async () => {
  const { clock, open } = await world()
  const first = open('a')
  await first.hold()
  const other = open('b').holdWhenFree()
  await clock.advance(LEASE_MS / 2)
  await first.hold()
  await clock.advance(LOOK_MS)
  expect(await other).toBe(false)
  const startMs = clock.monotonicMs()
  expect(await clock.run(open('c').holdWhenFree())).toBe('taken')
  expect(clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(LEASE_MS)
  expect(clock.monotonicMs() - startMs).toBeLessThan(LEASE_MS + LOOK_MS)
})
