import fc from 'fast-check'
import { expect, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { Simulation } from '../../../test/support/engine-simulation.ts'
import { afterEnd, afterHandOut, allows, CLOSED, type AttemptEnd, type BreakerState } from './breaker.ts'
import { ENGINE_SCHEDULING } from './options.ts'
import { Schedule } from './schedule.ts'

const breaker = { failures: 3, openMs: 1000, openMaxMs: 4000 }
const OPTIONS = { ...ENGINE_SCHEDULING, balancing: 'none' as const, breaker }

function after(state: BreakerState, end: AttemptEnd, nowMs = 0, id = 'x'): BreakerState {
  return afterEnd(state, { id, end, nowMs }, breaker)
}

test('X-83 a breaker opens after failures in a row, tries one task later, and that one decides', () => {
  const twice = after(after(CLOSED, 'failure'), 'failure')
  expect(allows(twice, 0)).toBe(true)
  expect(after(twice, 'success')).toEqual(CLOSED)
  const opened = after(twice, 'failure')
  expect(opened).toEqual({ is: 'open', untilMs: 1000, openings: 1 })
  expect([allows(opened, 999), allows(opened, 1000)]).toEqual([false, true])
  const probing = afterHandOut(opened, 'probe')
  expect(allows(probing, 5000)).toBe(false)
  // Handed out before it opened.
  expect(after(probing, 'success', 1000, 'other')).toBe(probing)
  expect(after(probing, 'success', 1000, 'probe')).toEqual(CLOSED)
  expect(after(probing, 'failure', 1000, 'probe')).toEqual({ is: 'open', untilMs: 3000, openings: 2 })
  expect(after(probing, 'unknown', 1000, 'probe')).toEqual({ is: 'open', untilMs: 1000, openings: 1 })
})

test('X-83 whatever happens, an open breaker lets a task through at the latest after the longest wait', () => {
  const ends = fc.array(fc.constantFrom<AttemptEnd>('success', 'failure', 'unknown'), { maxLength: 40 })
  fc.assert(
    fc.property(ends, (all) => {
      let state: BreakerState = CLOSED
      all.forEach((end, index) => {
        if (state.is === 'open') state = afterHandOut(state, 'p')
        state = afterEnd(state, { id: 'p', end, nowMs: index * 10_000 }, breaker)
        expect(allows(state, index * 10_000 + breaker.openMaxMs)).toBe(true)
      })
    }),
  )
})

test('X-83 tasks of a failing target are held back and tried again later, others go on', () => {
  const schedule = new Schedule({ options: OPTIONS })
  const simulation = new Simulation({
    schedule,
    executors: { a: 1 },
    durationOf: () => 10,
    // The target is away for five seconds.
    fails: (unit, startMs) => unit.startsWith('api') && startMs < 5000,
    retryCount: 20,
  })
  const api = Array.from({ length: 5 }, (_, index) => task(`api${index}`, [], { target: 'api' }))
  const others = Array.from({ length: 40 }, (_, index) => task(`other${index}`))
  simulation.start(graphOf([...api, ...others]))
  simulation.run(
    () =>
      simulation.started.filter(({ unit }) => unit.startsWith('api')).length === 3 &&
      simulation.running.length === 0,
  )
  expect(schedule.breakers()).toMatchObject({ api: { is: 'open' } })
  simulation.run()
  const tries = simulation.started.filter(({ unit }) => unit.startsWith('api')).map(({ startMs }) => startMs)
  const early = tries.filter((startMs) => startMs < 5000)
  // Three, and one probe each after one and two more seconds: without a breaker, each of five tasks tries every second.
  expect(early).toHaveLength(5)
  expect(simulation.started.filter(({ unit }) => unit.startsWith('other'))).toHaveLength(40)
  expect(schedule.breakers()).toEqual({})
})

test('EN-116 the state of breakers survives a restart of the engine', () => {
  const breakers = { api: { is: 'open', untilMs: 500, openings: 1 } } as const
  const schedule = new Schedule({
    options: OPTIONS,
    breakers: JSON.parse(JSON.stringify(breakers)) as typeof breakers,
  })
  const simulation = new Simulation({ schedule, executors: {}, durationOf: () => 1 })
  simulation.start(graphOf([task('a', [], { target: 'api' }), task('b', [], { target: 'api' })]))
  const poll = { taskType: 't', executor: 'a', count: 2 }
  expect(schedule.choose({ ...poll, nowMs: 499 })).toEqual([])
  const [probe, ...more] = schedule.choose({ ...poll, nowMs: 500 })
  expect(more).toEqual([])
  // Its claim could not be written: nothing was learnt, and the next poll gets a probe.
  schedule.giveBack(probe!.taskId, 500)
  expect(schedule.choose({ ...poll, nowMs: 500 })).toHaveLength(1)
})
