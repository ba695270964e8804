import { expect, test } from 'vitest'
import { diamond, graphOf, lasting, task } from '../../../test/support/engine-graphs.ts'
import { Simulation, type SimulationSettings } from '../../../test/support/engine-simulation.ts'
import { parseSize } from '../../base/quantities.ts'
import { analyseGraph } from '../graph/analysis.ts'
import type { Planning, TaskUnit } from '../graph/graph.ts'
import { recordRuns } from '../graph/history.ts'
import { ENGINE_SCHEDULING, type SchedulingOptions } from './options.ts'
import { Schedule } from './schedule.ts'

const planned = (name: string, planning: Planning, after: readonly string[] = []): TaskUnit =>
  task(name, after, { planning })

function simulate(options: Partial<SchedulingOptions>, more: Partial<SimulationSettings> = {}): Simulation {
  return new Simulation({
    schedule: new Schedule({ options: { ...ENGINE_SCHEDULING, balancing: 'none', ...options } }),
    executors: { a: 1 },
    durationOf: () => 10,
    ...more,
  })
}

/** The units in the order in which one slot got them. */
function orderOf(units: readonly TaskUnit[], options: Partial<SchedulingOptions> = {}): readonly string[] {
  const simulation = simulate(options)
  simulation.start(graphOf(units))
  simulation.run()
  return simulation.started.map(({ unit }) => unit)
}

const many = (count: number, more: Partial<TaskUnit> = {}): TaskUnit[] =>
  Array.from({ length: count }, (_, index) => task(`u${index}`, [], more))

test('X-01 the middle units of a diamond run at once, the last one after both', () => {
  const simulation = simulate({}, { executors: { a: 2 }, durationOf: (unit) => (unit === 'c' ? 30 : 10) })
  simulation.start(graphOf(diamond))
  simulation.run()
  expect(simulation.started.map(({ unit, startMs }) => [unit, startMs])).toEqual([
    ['a', 0],
    ['b', 10],
    ['c', 10],
    ['d', 40],
  ])
})

test('X-24 of several ready units the critical ones start first', () => {
  const units = [
    planned('short', { expectedMs: 5, priority: 9 }),
    planned('long', { expectedMs: 50 }),
    planned('end', { expectedMs: 5 }, ['long']),
  ]
  expect(orderOf(units)).toEqual(['long', 'end', 'short'])
})

/** Without slack for any of them: the longest one decides, and all others have some. */
const late = planned('late', { expectedMs: 1000 })

test('X-31 with one free slot priority decides after the critical path, then the higher risk', () => {
  const units = [
    planned('calm', { expectedMs: 1, complexity: 0.1 }),
    planned('risky', { expectedMs: 1, complexity: 0.9 }),
    planned('urgent', { expectedMs: 1, priority: 1 }),
    planned('later', { expectedMs: 1, priority: -1, complexity: 1 }),
    late,
  ]
  expect(orderOf(units)).toEqual(['late', 'urgent', 'risky', 'calm', 'later'])
  expect(orderOf(units, { riskFirst: 'lower' })).toEqual(['late', 'urgent', 'calm', 'risky', 'later'])
})

test('X-04 X-15 of two ready units the one that failed more often starts first', () => {
  const units = [planned('good', { expectedMs: 1 }), planned('bad', { expectedMs: 1 }), late]
  const history = recordRuns({}, [{ unit: 'bad', succeeded: false, durationMs: 1 }])
  const simulation = simulate(
    {},
    {
      schedule: new Schedule({
        options: { ...ENGINE_SCHEDULING, balancing: 'none' },
        analyse: (graph) => analyseGraph(graph, { history }),
      }),
    },
  )
  simulation.start(graphOf(units))
  simulation.run()
  expect(simulation.started.map(({ unit }) => unit)).toEqual(['late', 'bad', 'good'])
  expect(simulation.started[1]?.risk).toBeCloseTo(0.4)
  expect(orderOf(units)).toEqual(['late', 'good', 'bad'])
})

test('X-121 recorded durations change the order', () => {
  const units = [planned('one', { expectedMs: 10 }), planned('other', { expectedMs: 20 })]
  const history = recordRuns({}, [{ unit: 'one', succeeded: true, durationMs: 500 }])
  const schedule = new Schedule({
    options: ENGINE_SCHEDULING,
    analyse: (graph) => analyseGraph(graph, { history }),
  })
  const simulation = simulate({}, { schedule })
  simulation.start(graphOf(units))
  simulation.run()
  expect(simulation.started.map(({ unit }) => unit)).toEqual(['one', 'other'])
  expect(orderOf(units)).toEqual(['other', 'one'])
})

test('X-164 priority and fairness are strategies of one interface, and order the same units differently', () => {
  const order = (strategy: 'priority' | 'fair'): readonly string[] => {
    const simulation = simulate({ strategy }, { executors: { a: 4 } })
    const big = simulation.start(graphOf(many(6)), 5)
    simulation.start(graphOf(many(2)))
    simulation.step()
    return simulation.started.map(({ workflowId }) => (workflowId === big ? 'big' : 'small'))
  }
  expect(order('priority')).toEqual(['big', 'big', 'big', 'big'])
  expect(order('fair')).toEqual(['big', 'small', 'big', 'small'])
})

test('X-27 thirty independent units start at once where fifty may', () => {
  const simulation = simulate({}, { executors: { a: 200 } })
  simulation.start(graphOf(many(30)))
  simulation.step()
  expect(simulation.running).toHaveLength(30)
})

test('X-32 at most 100 units run at once, of however many phases', () => {
  const simulation = simulate({}, { executors: { a: 500 } })
  for (let phase = 0; phase < 5; phase++) simulation.start(graphOf(many(30)))
  simulation.step()
  expect(simulation.running).toHaveLength(100)
  simulation.run(() => {
    expect(simulation.running.length).toBeLessThanOrEqual(100)
    return simulation.started.length === 150
  })
})

test('X-33 at most 50 units of one phase run at once; a label makes several layers one phase', () => {
  const simulation = simulate({}, { executors: { a: 500 } })
  simulation.start(
    graphOf([
      ...many(30, { phase: 'load' }),
      ...many(80)
        .slice(30)
        .map((unit) => ({ ...unit, phase: 'load' })),
    ]),
  )
  simulation.step()
  expect(simulation.running).toHaveLength(50)
  simulation.start(graphOf(many(40)))
  simulation.step()
  expect(simulation.running).toHaveLength(90)
})

test.each([
  ['X-34 100 CPU cores', { cpu: 30 }, 3],
  ['X-35 500 GiB of memory', { memoryBytes: 120 * 2 ** 30 }, 4],
  ['X-36 10 GPUs', { gpu: 4 }, 2],
])('%s are what the units that run together may use', (_, demand, count) => {
  const simulation = simulate({}, { executors: { a: 500 } })
  simulation.start(graphOf(many(10, { planning: { demand } })))
  simulation.step()
  expect(simulation.running).toHaveLength(count)
  simulation.run()
  expect(simulation.started).toHaveLength(10)
})

test.each([
  ['500Gi', 500 * 2 ** 30],
  ['64Ki', 65_536],
  ['1Ti', 2 ** 40],
])('X-35 the size %s is in binary units', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes)
  expect(ENGINE_SCHEDULING.pool?.memoryBytes).toBe(parseSize('500Gi'))
})

test('X-25 units that are not critical cannot use the share that is reserved', () => {
  const criticalShare = { min: 0.3, max: 0.3 }
  const simulation = simulate({ criticalShare }, { executors: { a: 500 } })
  const demand = { cpu: 10 }
  const long = planned('long', { expectedMs: 1000, demand })
  simulation.start(graphOf([...many(20, { planning: { demand, expectedMs: 1 } }), long]))
  simulation.step()
  // The critical one, and as many others as seven tenths of the pool allow beside it.
  expect(simulation.running.map(({ unit }) => unit)[0]).toBe('long')
  expect(simulation.running).toHaveLength(7)
})

test('X-123 the share reserved follows what critical units will demand next', () => {
  const critical = (cpu: number): TaskUnit[] => [
    planned('first', { expectedMs: 500 }),
    planned('second', { expectedMs: 500, demand: { cpu } }, ['first']),
  ]
  const others = many(20, { planning: { demand: { cpu: 10 }, expectedMs: 1 } })
  const running = (cpu: number, max: number): number => {
    const simulation = simulate({ criticalShare: { min: 0, max } }, { executors: { a: 500 } })
    simulation.start(graphOf([...critical(cpu), ...others]))
    simulation.step()
    return simulation.running.length - 1
  }
  expect(running(0, 0.5)).toBe(10)
  // The first unit runs already, so that the second one comes next.
  expect(running(20, 0.5)).toBe(8)
  expect(running(90, 0.5)).toBe(5)
  expect(running(20, 0.1)).toBe(9)
})

test('X-123 nothing is reserved any more once the critical unit runs', () => {
  const simulation = simulate({}, { executors: { a: 500 } })
  const demand = { cpu: 50 }
  simulation.start(
    graphOf([planned('long', { expectedMs: 500, demand }), planned('big', { expectedMs: 1, demand })]),
  )
  simulation.step()
  expect(simulation.running.map(({ unit }) => unit)).toEqual(['long', 'big'])
})

test('X-122 a hundred ready units are dispatched in batches', () => {
  const schedule = new Schedule({
    options: { ...ENGINE_SCHEDULING, concurrentPerPhaseMax: 100, batchMax: 25, balancing: 'none' },
  })
  const simulation = simulate({}, { schedule, executors: {} })
  simulation.start(graphOf(many(100)))
  const poll = { taskType: 't', executor: 'a', count: 100, nowMs: 0 }
  const sizes = Array.from({ length: 5 }, () => schedule.choose(poll).length)
  expect(sizes).toEqual([25, 25, 25, 25, 0])
})

test('EN-111 what was chosen is offered to nobody else until its claim failed', () => {
  const schedule = new Schedule({ options: ENGINE_SCHEDULING })
  const simulation = simulate({}, { schedule, executors: {} })
  simulation.start(graphOf(many(1, { planning: { demand: { cpu: 100 } } })))
  const poll = { taskType: 't', executor: 'a', count: 1, nowMs: 0 }
  const [first] = schedule.choose(poll)
  expect(first?.unit).toBe('u0')
  expect(schedule.choose(poll)).toEqual([])
  schedule.giveBack(first!.taskId, 0)
  expect(schedule.choose(poll)).toEqual([first])
})

test('EN-112 a delayed unit holds nobody back, and the time when it is due is known', () => {
  const simulation = simulate({}, { executors: { a: 1 } })
  simulation.start(graphOf([task('delayed', [], { startDelay: 2, planning: { priority: 9 } }), task('now')]))
  simulation.run(() => simulation.started.length === 2)
  expect(simulation.started.map(({ unit, startMs }) => [unit, startMs])).toEqual([
    ['now', 0],
    ['delayed', 2010],
  ])
  const schedule = new Schedule({ options: ENGINE_SCHEDULING })
  simulate({}, { schedule }).start(graphOf([task('delayed', [], { startDelay: 2 })]))
  expect(schedule.nextDueMs({ taskType: 't' })).toBe(2000)
  expect(schedule.nextDueMs({ taskType: 'other' })).toBeUndefined()
})

test('EN-113 a hand-out says whether its unit is critical and how late it starts; so do critical units that wait', () => {
  const schedule = new Schedule({ options: { ...ENGINE_SCHEDULING, balancing: 'none' } })
  const simulation = simulate({}, { schedule, durationOf: (unit) => (unit === 'long' ? 50 : 30) })
  simulation.start(
    graphOf([
      task('long', [], lasting(20)),
      task('end', ['long'], lasting(5)),
      task('short', [], lasting(1)),
    ]),
  )
  simulation.step()
  simulation.nowMs = 50
  expect(schedule.waitingCritical(50)).toEqual([])
  simulation.step()
  expect(simulation.started[1]).toMatchObject({ unit: 'end', isCritical: true, waitedMs: 0, delayMs: 30 })
  simulation.run()
  expect(simulation.started[2]).toMatchObject({ unit: 'short', isCritical: false, waitedMs: 80, delayMs: 80 })
})

test('EN-114 aged units go in turn with urgent ones', () => {
  const simulation = simulate({ ageAfterMs: 100 }, { executors: {} })
  simulation.start(graphOf(many(6, { planning: { priority: -1 } })))
  simulation.nowMs = 200
  simulation.start(
    graphOf([...many(6)].map((unit) => ({ ...unit, taskReferenceName: `urgent-${unit.taskReferenceName}` }))),
  )
  simulation.poll('a', 't', 6)
  expect(simulation.started.map(({ unit }) => unit)).toEqual([
    'u0',
    'urgent-u0',
    'u1',
    'urgent-u1',
    'u2',
    'urgent-u2',
  ])
})

test('EN-118 a unit of low rank starts after ten others, far before it has aged, though critical ones keep coming', () => {
  const simulation = simulate({}, { durationOf: () => 1000 })
  const urgent = graphOf([task('urgent')])
  for (let count = 0; count < 3; count++) simulation.start(urgent, 50)
  const calm = planned('calm', { priority: -9, expectedMs: 1, complexity: 0 })
  simulation.nowMs = 1
  simulation.start(graphOf([calm, late]))
  simulation.run(() => {
    simulation.start(urgent, 50)
    return simulation.started.some(({ unit }) => unit === 'calm')
  })
  const { startMs, waitedMs } = simulation.started.at(-1)!
  // Three that were due before it, ten overtakes for its critical neighbour, and ten for itself.
  expect(simulation.started.length).toBeLessThanOrEqual(3 + 2 * 11)
  expect(startMs).toBeLessThan(30_000)
  expect(waitedMs).toBeLessThan(ENGINE_SCHEDULING.ageAfterMs / 10)
})

test('EN-118 what does not fit is passed over, and keeps no room', () => {
  const simulation = simulate(
    { overtakesMax: 1, pool: { cpu: 2, memoryBytes: 0, gpu: 0 } },
    { executors: { a: 9 } },
  )
  const urgent = graphOf([task('urgent', [], { planning: { demand: { cpu: 1 } } })])
  simulation.start(urgent, 50)
  simulation.step()
  simulation.start(graphOf([planned('big', { priority: -9, demand: { cpu: 2 } })]))
  simulation.nowMs = 1
  for (let count = 0; count < 3; count++) simulation.start(urgent, 50)
  simulation.step()
  expect(simulation.running.map(({ unit }) => unit)).toEqual(['urgent', 'urgent'])
  simulation.run()
  expect(simulation.started.at(-1)?.unit).toBe('big')
})

test('EN-115 what an ended or removed execution used is free again', () => {
  const schedule = new Schedule({
    options: { ...ENGINE_SCHEDULING, pool: { cpu: 1, memoryBytes: 1, gpu: 0 } },
  })
  const simulation = simulate({}, { schedule, executors: { a: 9 } })
  const units = many(2, { planning: { demand: { cpu: 1 } } })
  const first = simulation.start(graphOf(units))
  simulation.step()
  expect(simulation.running).toHaveLength(1)
  schedule.forget(first, 0)
  simulation.start(graphOf(units))
  simulation.step()
  expect(simulation.running).toHaveLength(2)
})
