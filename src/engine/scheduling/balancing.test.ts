import fc from 'fast-check'
import { expect, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { Simulation } from '../../../test/support/engine-simulation.ts'
import type { TaskUnit } from '../graph/graph.ts'
import { preferredExecutor } from './balancing.ts'
import { ENGINE_SCHEDULING, type SchedulingOptions } from './options.ts'
import { Schedule } from './schedule.ts'

const OPTIONS: SchedulingOptions = {
  ...ENGINE_SCHEDULING,
  concurrentTasksMax: Infinity,
  concurrentPerPhaseMax: Infinity,
  balanceWaitMs: 2000,
}
const many = (count: number, more: Partial<TaskUnit> = {}): TaskUnit[] =>
  Array.from({ length: count }, (_, index) => task(`u${index}`, [], more))

function simulate(
  options: Partial<SchedulingOptions>,
  executors: Readonly<Record<string, number>>,
  durationOf: (unit: string, executor: string) => number = () => 10,
): Simulation {
  const simulation = new Simulation({
    schedule: new Schedule({ options: { ...OPTIONS, ...options } }),
    executors,
    durationOf,
  })
  // All workers are known from their first poll.
  simulation.step()
  return simulation
}

function shares(simulation: Simulation): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { executor } of simulation.started) counts[executor] = (counts[executor] ?? 0) + 1
  return counts
}

test('X-40 with round-robin nine equal tasks go to three executors in turn', () => {
  const simulation = simulate({ balancing: 'round-robin' }, { a: 9, b: 9, c: 9 })
  simulation.start(graphOf(many(9)))
  simulation.step()
  expect(shares(simulation)).toEqual({ a: 3, b: 3, c: 3 })
  const byUnit = [...simulation.started].sort((one, other) => (one.unit < other.unit ? -1 : 1))
  expect(byUnit.map(({ executor }) => executor).join('')).toBe('abcabcabc')
})

test('X-41 with least connections the next task goes to the executor that runs least', () => {
  const simulation = simulate({ balancing: 'least-connections' }, { a: 4, b: 4, c: 4 }, () => 60_000)
  const load = (executor: string, count: number): void => {
    simulation.start(graphOf(many(count, { name: executor })))
    simulation.poll(executor, executor, count)
  }
  load('a', 2)
  load('c', 1)
  expect(simulation.running.map(({ executor }) => executor)).toEqual(['a', 'a', 'c'])
  simulation.start(graphOf(many(1)))
  simulation.step()
  expect(simulation.started.at(-1)?.executor).toBe('b')
})

test('X-42 with weights of three and one, of 400 tasks about 300 and 100 are given', () => {
  const simulation = simulate({ balancing: 'weighted', weights: { a: 3, b: 1 } }, { a: 500, b: 500 })
  simulation.start(graphOf(many(400)))
  simulation.step()
  expect(shares(simulation)).toEqual({ a: 300, b: 100 })
})

test('X-39 an executor that became slow is given fewer tasks afterwards', () => {
  let slowMs = 10
  const simulation = simulate({ balancing: 'weighted' }, { a: 4, b: 4 }, (_, executor) =>
    executor === 'a' ? slowMs : 10,
  )
  const round = (): number => {
    const before = simulation.started.length
    simulation.start(graphOf(many(4)))
    simulation.run()
    return simulation.started.slice(before).filter(({ executor }) => executor === 'a').length
  }
  const rounds = (count: number): number =>
    Array.from({ length: count }, round).reduce((sum, each) => sum + each, 0)
  expect(rounds(10)).toBe(20)
  slowMs = 80
  rounds(10)
  expect(rounds(10)).toBeLessThan(12)
  expect(rounds(10)).toBeGreaterThan(0)
})

test('X-43 with consistent hashing one key goes to one executor', () => {
  const simulation = simulate({ balancing: 'consistent-hashing' }, { a: 50, b: 50, c: 50 })
  const keyed = Array.from({ length: 60 }, (_, index) =>
    task(`u${index}`, [], { planning: { affinity: `branch-${index % 12}` } }),
  )
  simulation.start(graphOf(keyed))
  simulation.step()
  expect(simulation.started).toHaveLength(60)
  const executorsOf = new Map<number, Set<string>>()
  for (const { unit, executor } of simulation.started) {
    const key = Number(unit.slice(1)) % 12
    executorsOf.set(key, (executorsOf.get(key) ?? new Set()).add(executor))
  }
  expect([...executorsOf.values()].map(({ size }) => size)).toEqual(Array.from({ length: 12 }, () => 1))
  expect(Object.keys(shares(simulation)).sort()).toEqual(['a', 'b', 'c'])
})

test('X-43 removing an executor moves only its keys, and spreads them', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 8 })
  fc.assert(
    fc.property(names, fc.array(fc.string(), { maxLength: 30 }), (workers, keys) => {
      const candidates = workers.map((name) => ({ name }))
      const [gone, ...rest] = candidates
      for (const key of keys) {
        const before = preferredExecutor(key, candidates)
        if (before !== gone) expect(preferredExecutor(key, rest)).toBe(before)
      }
    }),
  )
  const four = ['a', 'b', 'c', 'd'].map((name) => ({ name }))
  const counts = new Map<string, number>()
  for (let key = 0; key < 2000; key++) {
    const name = preferredExecutor(`key-${key}`, four)?.name ?? ''
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  for (const count of counts.values()) expect(Math.abs(count - 500)).toBeLessThan(100)
})

test('X-44 the configured strategy changes who gets the same twelve tasks', () => {
  const assignment = (balancing: SchedulingOptions['balancing']): string => {
    const simulation = simulate({ balancing, weights: { a: 3 } }, { a: 12, b: 12 })
    simulation.start(graphOf(many(12, { planning: { affinity: 'k' } })))
    simulation.step()
    return [...simulation.started]
      .sort((one, other) => Number(one.unit.slice(1)) - Number(other.unit.slice(1)))
      .map(({ executor }) => executor)
      .join('')
  }
  expect(assignment('none')).toBe('aaaaaaaaaaaa')
  expect(assignment('round-robin')).toBe('abababababab')
  expect(assignment('weighted')).toBe('aabaaabaaaba')
  expect(new Set(assignment('consistent-hashing')).size).toBe(1)
})

test('EN-117 a task is left for another worker only while that one is alive, and never longer than the bound', () => {
  const [warm, other] = ['a', 'b'].sort((one) =>
    preferredExecutor('k', [{ name: 'a' }, { name: 'b' }])?.name === one ? -1 : 1,
  )
  const { schedule } = {
    schedule: new Schedule({ options: { ...OPTIONS, balancing: 'consistent-hashing' } }),
  }
  const world = new Simulation({ schedule, executors: {}, durationOf: () => 10 })
  const poll = (executor: string | undefined, nowMs: number): number => {
    world.nowMs = nowMs
    world.poll(executor ?? '', 't', 9)
    return world.started.length
  }
  poll(warm, 0)
  world.start(graphOf(many(2, { planning: { affinity: 'k' } })))
  expect(poll(other, 100)).toBe(0)
  expect(poll(other, 2099)).toBe(0)
  expect(poll(other, 2100)).toBe(2)
  // It has let one wait in vain: until its next poll nothing is left for it.
  world.start(graphOf(many(1, { planning: { affinity: 'k' } })))
  expect(poll(other, 2200)).toBe(3)
  poll(warm, 2300)
  world.start(graphOf(many(1, { planning: { affinity: 'k' } })))
  expect(poll(other, 2400)).toBe(3)
  expect(poll(warm, 2500)).toBe(4)
  world.nowMs = 3000
  world.step()
  // Silent for longer than a living worker is.
  world.start(graphOf(many(1, { planning: { affinity: 'k' } })))
  expect(poll(other, 20_000)).toBe(5)
})
