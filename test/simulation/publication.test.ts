// Goal: whatever the order of requests and whatever is lost, no commit is overwritten unread outside the documented
// window, what is reported as done is on the branch, and everything comes to an end once nothing goes wrong any more.
// Method: one seed makes one world (scheduler.ts, queue.ts, world.ts), and checks.ts reads what happened in it.
//   PERAGO_SIMULATION_SEED=8841   replays one world
//   PERAGO_SIMULATION_RUNS=20000  tries more of them
import { describe, expect, test } from 'vitest'
import { isPeragoError } from '../../src/base/errors.ts'
import { judge, type Verdict } from './checks.ts'
import { World, type Scenario } from './world.ts'

const RUNS = Number(process.env.PERAGO_SIMULATION_RUNS ?? 200)
const SEED = process.env.PERAGO_SIMULATION_SEED

interface Finished {
  readonly world: World
  readonly verdict: Verdict
}

async function forEachWorld(
  kind: Omit<Scenario, 'seed'>,
  check: (finished: Finished) => void,
): Promise<void> {
  const seeds = SEED === undefined ? Array.from({ length: RUNS }, (_, index) => index + 1) : [Number(SEED)]
  for (const seed of seeds) {
    const world = new World({ ...kind, seed })
    try {
      await world.run()
      check({ world, verdict: judge(world) })
    } catch (error) {
      throw new Error(`PERAGO_SIMULATION_SEED=${seed} replays this world:\n${world.history.join('\n')}`, {
        cause: error,
      })
    }
  }
}

/** Whether the soft fence's documented limits were touched: then more than one history is right. */
function isClear({ world, verdict }: Finished): boolean {
  return verdict.unread.length === 0 && world.staleWrites.length === 0 && world.lateEffects === 0
}

describe('simulated worlds', () => {
  test('PU-25 F-01 no unread head is overwritten outside the window, and what is reported was the head', async () => {
    const seen = { windows: 0, replaced: 0 }
    for (const isDisturbed of [false, true])
      await forEachWorld({ steps: 3, faults: 8, isDisturbed }, (finished) => {
        const { world, verdict } = finished
        expect(verdict.outsideWindow).toEqual([])
        expect(verdict.unruly).toEqual([])
        expect(verdict.neverHead).toEqual([])
        expect(world.uncheckedWrites).toEqual([])
        if (verdict.unread.length === 0) expect(verdict.lostCommits).toEqual([])
        seen.windows += verdict.unread.length
        seen.replaced += world.repo.model.tags.size
      })
    // The worlds are hostile enough to reach both: else this test would prove little.
    if (SEED === undefined) expect(Math.min(seen.windows, seen.replaced)).toBeGreaterThan(0)
  })

  test('PU-26 F-43 an undisturbed workflow completes with one commit for each step that wrote', async () => {
    let clear = 0
    await forEachWorld({ steps: 3, faults: 6, isDisturbed: false }, (finished) => {
      if (!isClear(finished)) return
      clear++
      const { world, verdict } = finished
      expect(world.queue.workflow).toBe('COMPLETED')
      const wrote = world.queue.completed.filter(({ inputRef, outputRef }) => inputRef !== outputRef)
      expect(verdict.log).toEqual(wrote.map(({ outputRef }) => outputRef).reverse())
    })
    if (SEED === undefined) expect(clear).toBeGreaterThan(RUNS / 4)
  })

  test('PU-26 F-51 a disturbed workflow ends too: completed, or refused by the publish fence', async () => {
    const ends = new Set<string>()
    await forEachWorld({ steps: 2, faults: 6, isDisturbed: true }, ({ world }) => {
      expect(['COMPLETED', 'FAILED']).toContain(world.queue.workflow)
      ends.add(world.queue.workflow)
      for (const result of world.results.values()) {
        if (result instanceof Error) expect(isPeragoError(result), String(result)).toBe(true)
      }
    })
    if (SEED === undefined) expect([...ends].sort()).toEqual(['COMPLETED', 'FAILED'])
  })

  test('PU-26 when nothing goes wrong, nothing is tried twice and nothing is left behind', async () => {
    await forEachWorld({ steps: 4, faults: 0, isDisturbed: false }, ({ world, verdict }) => {
      expect(world.queue.workflow).toBe('COMPLETED')
      expect(world.queue.attempts).toHaveLength(4)
      expect(verdict.unread).toEqual([])
      expect(world.repo.model.tags.size).toBe(0)
      expect([...world.repo.model.branches.keys()]).toEqual(['main'])
    })
  })

  test('PU-27 one seed replays one world', async () => {
    const [one, other] = [
      new World({ seed: 8841, steps: 3, faults: 8, isDisturbed: true }),
      new World({ seed: 8841, steps: 3, faults: 8, isDisturbed: true }),
    ]
    await one.run()
    await other.run()
    expect(one.history).toEqual(other.history)
    expect(one.repo.updates).toEqual(other.repo.updates)
  })
})
