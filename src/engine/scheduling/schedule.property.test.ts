// Goal: whatever the graphs and the durations, scheduling delays units but breaks no rule: nothing starts before what it depends
// on has ended, no limit is exceeded, everything starts in the end.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyGraph, graphOf, lasting, task } from '../../../test/support/engine-graphs.ts'
import { Simulation, type SimulatedTask } from '../../../test/support/engine-simulation.ts'
import { analyseGraph } from '../graph/analysis.ts'
import { totalMs } from '../graph/critical-path.ts'
import type { Graph, TaskUnit } from '../graph/graph.ts'
import { ENGINE_SCHEDULING, type SchedulingOptions } from './options.ts'
import { Schedule } from './schedule.ts'

const anyOptions: fc.Arbitrary<SchedulingOptions> = fc.record({
  ...Object.fromEntries(Object.entries(ENGINE_SCHEDULING).map(([name, value]) => [name, fc.constant(value)])),
  strategy: fc.constantFrom('plain', 'priority', 'fair'),
  ageAfterMs: fc.constantFrom(50, 1000, Infinity),
  overtakesMax: fc.constantFrom(0, 1, 10, Infinity),
  concurrentTasksMax: fc.integer({ min: 1, max: 6 }),
  concurrentPerPhaseMax: fc.integer({ min: 1, max: 3 }),
  pool: fc.constant({ cpu: 4, memoryBytes: 10, gpu: 1 }),
  criticalShare: fc.constantFrom({ min: 0, max: 0 }, { min: 0, max: 0.5 }),
  balancing: fc.constantFrom('none', 'round-robin', 'least-connections', 'weighted', 'consistent-hashing'),
}) as unknown as fc.Arbitrary<SchedulingOptions>

/** With demands that the pool above can meet, and keys of affinity. */
const anyDemandingGraph: fc.Arbitrary<Graph> = fc
  .tuple(
    anyGraph(20),
    fc.array(fc.record({ cpu: fc.nat(4), gpu: fc.nat(1), key: fc.option(fc.constantFrom('x', 'y')) }), {
      minLength: 20,
      maxLength: 20,
    }),
  )
  .map(([graph, demands]) => ({
    ...graph,
    units: graph.units.map((unit, index) => {
      const { cpu = 0, gpu = 0, key = null } = demands[index] ?? {}
      const affinity = key === null ? {} : { affinity: key }
      return { ...unit, planning: { ...unit.planning, demand: { cpu, gpu }, ...affinity } } as TaskUnit
    }),
  }))

test('X-28 a unit starts only when all its dependencies are complete, whatever the schedule', () => {
  fc.assert(
    fc.property(
      fc.array(anyDemandingGraph, { minLength: 1, maxLength: 3 }),
      anyOptions,
      (graphs, options) => {
        const schedule = new Schedule({ options })
        const durations = new Map(
          graphs.flatMap(({ units }) => units.map((unit, at) => [unit.taskReferenceName, at * 7])),
        )
        const simulation = new Simulation({
          schedule,
          executors: { a: 3, b: 2 },
          durationOf: (unit) => durations.get(unit) ?? 0,
        })
        const ids = graphs.map((graph) => simulation.start(graph))
        simulation.run()
        graphs.forEach((graph, index) => {
          const own = simulation.started.filter(({ workflowId }) => workflowId === ids[index])
          const of = new Map(own.map((each) => [each.unit, each]))
          expect(own).toHaveLength(graph.units.length)
          for (const { taskReferenceName, after } of graph.units)
            for (const before of after)
              expect(of.get(before)?.endMs).toBeLessThanOrEqual(of.get(taskReferenceName)?.startMs ?? -1)
        })
      },
    ),
    { numRuns: 60 },
  )
})

test('X-29 units that run together never demand more than the pool has', () => {
  fc.assert(
    fc.property(
      fc.array(anyDemandingGraph, { minLength: 1, maxLength: 3 }),
      anyOptions,
      (graphs, options) => {
        const demands = new Map<string, { readonly cpu?: number; readonly gpu?: number }>()
        const simulation = new Simulation({
          schedule: new Schedule({ options }),
          executors: { a: 6 },
          durationOf: (unit) => unit.length * 10,
        })
        const named = graphs.map((graph, index) => renamed(graph, `g${index}`))
        for (const { units } of named)
          for (const { taskReferenceName, planning } of units)
            demands.set(taskReferenceName, planning?.demand ?? {})
        for (const graph of named) simulation.start(graph)
        simulation.run(() => {
          const running = simulation.running.map(({ unit }) => demands.get(unit))
          expect(running.reduce((sum, each) => sum + (each?.cpu ?? 0), 0)).toBeLessThanOrEqual(4)
          expect(running.reduce((sum, each) => sum + (each?.gpu ?? 0), 0)).toBeLessThanOrEqual(1)
          expect(running.length).toBeLessThanOrEqual(options.concurrentTasksMax)
          return [...simulation.executions.values()].every(({ status }) => status === 'COMPLETED')
        })
      },
    ),
    { numRuns: 60 },
  )
})

test('X-22 with unlimited resources an execution takes as long as its critical path', () => {
  fc.assert(
    fc.property(anyGraph(20), (graph) => {
      const analysis = analyseGraph(graph)
      const simulation = new Simulation({
        schedule: new Schedule({
          options: { ...ENGINE_SCHEDULING, pool: undefined, concurrentPerPhaseMax: Infinity },
        }),
        executors: { a: 1000 },
        durationOf: (unit) => analysis.units.get(unit)?.lengthMs ?? 0,
      })
      simulation.start(graph)
      simulation.run()
      expect(simulation.nowMs).toBe(totalMs(analysis))
    }),
    { numRuns: 60 },
  )
})

test('X-30 a unit of low priority starts though more urgent ones keep coming, also one that needs the whole pool', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('priority' as const, 'fair' as const),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 20, max: 90 }),
      (strategy, cpu, durationMs) => {
        const options = {
          ...ENGINE_SCHEDULING,
          strategy,
          ageAfterMs: 500,
          overtakesMax: Infinity,
          pool: { cpu: 4, memoryBytes: 0, gpu: 0 },
        }
        let started = 0
        const simulation = new Simulation({
          schedule: new Schedule({ options }),
          executors: { a: 4 },
          // They end one by one: at no time is the whole pool free by itself.
          durationOf: () => durationMs + ((started++ * 7) % 13),
        })
        const urgent = graphOf([task('urgent', [], { planning: { demand: { cpu: 1 } } })])
        for (let count = 0; count < 8; count++) simulation.start(urgent, 50)
        simulation.start(
          graphOf([task('patient', [], lasting(1, { planning: { priority: -5, demand: { cpu } } }))]),
        )
        simulation.run(() => {
          // As many as can run come with every step.
          for (let count = 0; count < 4; count++) simulation.start(urgent, 50)
          return simulation.started.some(({ unit }) => unit === 'patient')
        })
        expect(simulation.nowMs).toBeLessThan(500 + 10 * durationMs)
      },
    ),
    { numRuns: 40 },
  )
})

test('EN-118 a unit is overtaken so many times by units due later, for each one due before it and itself', () => {
  fc.assert(
    fc.property(
      fc.record({
        strategy: fc.constantFrom('priority' as const, 'fair' as const),
        overtakesMax: fc.integer({ min: 0, max: 12 }),
        slots: fc.integer({ min: 1, max: 4 }),
        arrivals: fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }),
      }),
      ({ strategy, overtakesMax, slots, arrivals }) => {
        const options = { ...ENGINE_SCHEDULING, strategy, overtakesMax, ageAfterMs: Infinity }
        const simulation = new Simulation({
          schedule: new Schedule({ options: { ...options, balancing: 'none' } }),
          executors: { a: slots },
          durationOf: () => 10,
        })
        // Critical, in executions of high priority, and always more of them than can run.
        const urgent = graphOf([task('urgent')])
        const patient = graphOf([task('long', [], lasting(9)), task('patient', [], lasting(1))])
        const coming = [...arrivals]
        const patientCount = 2 * arrivals.reduce((sum, each) => sum + each)
        simulation.run(() => {
          for (let count = 0; count <= slots; count++) simulation.start(urgent, 50)
          for (let count = coming.shift() ?? 0; count > 0; count--) simulation.start(patient, -5)
          return coming.length === 0 && patientsOf(simulation).length === patientCount
        })
        const { started } = simulation
        const patients = patientsOf(simulation)
        for (const each of patients) {
          const before = started.slice(0, started.indexOf(each) + 1)
          const later = before.filter((other) => dueOf(other) > dueOf(each)).length
          expect(later).toBeLessThanOrEqual(overtakesMax * (before.length - later))
        }
      },
    ),
    { numRuns: 60 },
  )
})

function patientsOf({ started }: Simulation): readonly SimulatedTask[] {
  return started.filter(({ unit }) => unit !== 'urgent')
}

function dueOf({ startMs, waitedMs }: SimulatedTask): number {
  return startMs - waitedMs
}

function renamed(graph: Graph, prefix: string): Graph {
  const name = (old: string): string => `${prefix}-${old}`
  return {
    ...graph,
    units: graph.units.map((unit) => ({
      ...unit,
      taskReferenceName: name(unit.taskReferenceName),
      after: unit.after.map(name),
    })),
  }
}
