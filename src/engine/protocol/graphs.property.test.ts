// Goal: whatever the graph and whatever becomes of its tasks, an execution ends, in order, and nothing runs twice.
// Method: random graphs of all kinds of units, whose tasks complete, fail, fail for good or are lost, in a random order; the
// rules are checked after every step.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { graph, RulesWorld, task, unit } from '../../../test/support/rules-world.ts'
import type { Graph, Unit } from '../graph/graph.ts'
import { nextDeadlineMs } from './deadlines.ts'
import { decide } from './decide.ts'
import { latestRow } from './execution.ts'
import { STATUSES_OF_STAGE } from './stages.ts'
import { isTaskOpen, isTaskWellEnded, isWorkflowOpen } from './state.ts'

const KINDS = ['task', 'optional', 'join', 'switch', 'wait', 'set', 'each', 'while', 'conditional'] as const
const node = fc.record({
  kind: fc.constantFrom(...KINDS),
  /** Which of the units before it are in `after`. */
  after: fc.array(fc.nat(20), { maxLength: 3 }),
  number: fc.nat(3),
  hasUndo: fc.boolean(),
})
type Node = typeof node extends fc.Arbitrary<infer T> ? T : never

function unitOf({ kind, after, number, hasUndo }: Node, at: number, before: readonly Unit[]): Unit {
  const name = `u${at}`
  const names = after.flatMap((place) => before[place % Math.max(1, before.length)]?.taskReferenceName ?? [])
  const last = before.at(-1)
  const onlyIn =
    last?.type === 'SWITCH'
      ? { onlyIn: { unit: last.taskReferenceName, case: number > 1 ? '1' : 'default' } }
      : {}
  const all = [...new Set([...names, ...(last?.type === 'SWITCH' ? [last.taskReferenceName] : [])])]
  const base = { after: all, ...onlyIn }
  const undo = hasUndo ? { undo: { name: 'undo' } } : {}
  const inner = [task(`${name}-a`), task(`${name}-b`, [`${name}-a`], { optional: number === 3 })]
  switch (kind) {
    case 'join':
      return unit('JOIN', name, base)
    case 'switch':
      return unit('SWITCH', name, { ...base, expression: '${workflow.input.kind}', cases: ['1'] })
    case 'wait':
      return unit('WAIT', name, { ...base, seconds: number })
    case 'set':
      return unit('SET_VARIABLE', name, { ...base, inputParameters: { [name]: number } })
    case 'each':
      return unit('EACH', name, {
        ...{ items: Array.from({ length: number }, (_, index) => index), max: 5, atOnce: 2, units: inner },
        ...base,
      })
    case 'while':
      return unit('DO_WHILE', name, {
        ...base,
        loopCondition: `${name}-a.more == true`,
        max: 3,
        units: inner,
      })
    case 'conditional':
      return task(name, all, { ...onlyIn, onlyIf: number > 1 ? 'true' : 'false' })
    default:
      return task(name, all, {
        ...onlyIn,
        ...undo,
        optional: kind === 'optional',
        retryCount: number,
        retryDelaySeconds: 1,
      })
  }
}

const graphs = fc
  .record({ nodes: fc.array(node, { minLength: 1, maxLength: 12 }), isUndone: fc.boolean() })
  .map(({ nodes, isUndone }): Graph => {
    const units: Unit[] = []
    for (const [at, one] of nodes.entries()) units.push(unitOf(one, at, units))
    return graph(units, { policy: { onFailure: isUndone ? 'rollback' : 'fail', attempts: 2 } })
  })

const OUTCOMES = ['complete', 'complete', 'complete', 'more', 'fail', 'failForGood', 'lose'] as const
const steps = fc.array(fc.record({ which: fc.nat(), outcome: fc.constantFrom(...OUTCOMES) }), {
  minLength: 1,
  maxLength: 40,
})
type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never

/** More than any of these graphs needs. */
const STEPS_MAX = 2000

function play(world: RulesWorld, chosen: Steps, check: () => void): void {
  for (let at = 0; at < STEPS_MAX && isWorkflowOpen(world.execution.status); at += 1) {
    check()
    const { which, outcome } = chosen[at % chosen.length]!
    world.pass((which % 3) / 1000)
    const open = world.claimable()
    const next = open[which % Math.max(1, open.length)]
    if (next === undefined) {
      const queued = world.execution.rows.flatMap(({ queuedFromMs = Infinity }) => queuedFromMs)
      // The execution may have ended just now: nothing is due then.
      if (!isWorkflowOpen(world.execution.status)) continue
      world.nowMs = Math.min(
        nextDeadlineMs(world.execution) ?? Infinity,
        ...queued.filter((ms) => ms > world.nowMs),
      )
      world.decide()
      continue
    }
    world.claim(next)
    if (outcome === 'fail') world.post(next, 'FAILED')
    else if (outcome === 'failForGood') world.post(next, 'FAILED_WITH_TERMINAL_ERROR')
    else if (outcome !== 'lose') world.post(next, 'COMPLETED', { more: outcome === 'more', at })
  }
  check()
}

function checkRules({ execution, ...world }: RulesWorld, moment: Parameters<typeof decide>[1]): void {
  expect(STATUSES_OF_STAGE[execution.stage]).toContain(execution.status)
  expect(decide(execution, moment), 'deciding again changes nothing').toBe(execution)
  const open = execution.rows.filter(({ record }) => isTaskOpen(record.status))
  const names = open.map(({ record }) => record.referenceTaskName)
  expect(new Set(names).size, 'no reference has two open attempts').toBe(names.length)
  if (!isWorkflowOpen(execution.status)) expect(names, `ended at ${world.nowMs}`).toEqual([])
  for (const { taskReferenceName, after } of execution.graph.units) {
    const row = latestRow(execution, taskReferenceName)
    if (row === undefined) continue
    const ended = after.map((name) => latestRow(execution, name)?.record.status)
    expect(ended.every((status) => status !== undefined && isTaskWellEnded(status))).toBe(true)
  }
  const tries = execution.rows.map(({ record }) => `${record.referenceTaskName} ${record.retryCount}`)
  expect(new Set(tries).size, 'no attempt is made twice').toBe(tries.length)
}

test('EN-380 every execution ends, in order, without open attempts, and nothing is scheduled twice', () => {
  fc.assert(
    fc.property(graphs, steps, fc.integer({ min: 0, max: 2 }), (what, chosen, kind) => {
      const world = new RulesWorld(what, { input: { kind } })
      play(world, chosen, () => checkRules(world, world.moment()))
      expect(isWorkflowOpen(world.execution.status)).toBe(false)
    }),
  )
})

test('EN-381 an execution that is stored as JSON and read again at every step goes on as one that is not', () => {
  fc.assert(
    fc.property(graphs, steps, (what, chosen) => {
      const [stored, kept] = [true, false].map((isStored) => {
        const world = new RulesWorld(what, { input: { kind: 1 }, isPending: true })
        world.isStored = isStored
        world.decide()
        play(world, chosen, () => undefined)
        return JSON.parse(JSON.stringify(world.execution)) as unknown
      })
      expect(stored).toEqual(kept)
    }),
  )
})
