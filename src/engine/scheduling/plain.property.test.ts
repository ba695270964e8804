// Goal: where nothing is configured, tasks are handed out exactly as Conductor's plain rule says.
// Method: random executions, claims, results and operator's commands; before each poll the index is compared with a search over
// all executions.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { decide } from '../protocol/decide.ts'
import { wholeTaskDef } from '../protocol/definitions.ts'
import { findRow, PLAIN_MOMENT, startExecution, type Execution, type Moment } from '../protocol/execution.ts'
import { requeueTasks } from '../protocol/operator.ts'
import { findClaimable } from '../protocol/queue.ts'
import { applyResult, claimTask } from '../protocol/updates.ts'
import { Schedule } from './schedule.ts'

const step = fc.oneof(
  fc.record({ is: fc.constant('start' as const), priority: fc.nat(3), delay: fc.nat(3) }),
  fc.record({ is: fc.constant('wait' as const), ms: fc.nat(3000) }),
  fc.record({
    is: fc.constant('claim' as const),
    type: fc.constantFrom('t', 'one'),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({
    is: fc.constant('post' as const),
    place: fc.nat(),
    status: fc.constantFrom('COMPLETED' as const, 'FAILED' as const, 'IN_PROGRESS' as const),
  }),
  fc.record({ is: fc.constant('requeue' as const), place: fc.nat() }),
  fc.record({ is: fc.constant('remove' as const), place: fc.nat() }),
  fc.record({ is: fc.constant('lost' as const), type: fc.constantFrom('t', 'one') }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

class World {
  readonly executions = new Map<WorkflowId, Execution>()
  readonly schedule = new Schedule()
  readonly claimed: TaskId[] = []
  nowMs = 0
  #ids = 0

  play(what: Step): void {
    switch (what.is) {
      case 'start':
        this.#start(what.priority, what.delay)
        return
      case 'wait':
        this.nowMs += what.ms
        return
      case 'claim':
        for (const taskId of this.#poll(what.type, what.count)) this.#claim(taskId)
        return
      case 'lost':
        for (const taskId of this.#poll(what.type, 2)) this.schedule.giveBack(taskId, this.nowMs)
        return
      case 'post':
        this.#post(what.place, what.status)
        return
      case 'requeue':
        this.#change(what.place, (execution) => requeueTasks(execution, 't', this.nowMs))
        return
      case 'remove': {
        const [workflowId] = [...this.executions.keys()].slice(what.place % (this.executions.size + 1))
        if (workflowId === undefined) return
        this.executions.delete(workflowId)
        this.schedule.forget(workflowId, this.nowMs)
      }
    }
  }

  /** What the plain rule hands out, one after the other, and what the index does. */
  #poll(taskType: string, count: number): readonly TaskId[] {
    const chosen = this.schedule.choose({ taskType, executor: 'a', count, nowMs: this.nowMs })
    const executions = new Map(this.executions)
    const expected: TaskId[] = []
    while (expected.length < count) {
      const [first] = findClaimable(executions.values(), { taskType, domain: undefined }, this.nowMs)
      if (first === undefined) break
      expected.push(first.row.record.taskId)
      const claim = { workerId: 'a-1', nowMs: this.nowMs }
      executions.set(first.execution.workflowId, claimTask(first.execution, first.row, claim))
    }
    expect(chosen.map(({ taskId }) => taskId)).toEqual(expected)
    return expected
  }

  #start(priority: number, startDelay: number): void {
    const workflowId = `w${++this.#ids}` as WorkflowId
    const graph = graphOf([
      task('a'),
      task('b', [], { startDelay }),
      task('c', [], { name: 'one' }),
      task('d', ['a'], { planning: { priority: 9 } }),
    ])
    const taskDefs = [
      wholeTaskDef({ name: 't', retryCount: 2, retryDelaySeconds: 1 }),
      wholeTaskDef({ name: 'one', concurrentExecLimit: 2 }),
    ]
    const request = { name: 'g', priority }
    this.#put(
      decide(
        startExecution(request, { workflowId, graph, input: {}, startTimeMs: this.nowMs, taskDefs }),
        this.#moment(),
      ),
    )
  }

  #claim(taskId: TaskId): void {
    for (const execution of this.executions.values()) {
      const row = findRow(execution, taskId)
      if (row === undefined) continue
      this.#put(claimTask(execution, row, { workerId: `a-${++this.#ids}`, nowMs: this.nowMs }))
      this.claimed.push(taskId)
    }
  }

  #post(place: number, status: 'COMPLETED' | 'FAILED' | 'IN_PROGRESS'): void {
    const taskId = this.claimed[place % (this.claimed.length + 1)]
    if (taskId === undefined) return
    for (const execution of this.executions.values()) {
      if (findRow(execution, taskId) === undefined) continue
      const result = { taskId, workflowId: execution.workflowId, workerId: 'a', status, output: {} }
      this.#put(applyResult(execution, result, { isOwn: true, isOpen: true, moment: this.#moment() }))
    }
  }

  #change(place: number, change: (execution: Execution) => Execution): void {
    const execution = [...this.executions.values()][place % (this.executions.size + 1)]
    if (execution !== undefined) this.#put(change(execution))
  }

  #put(execution: Execution): void {
    this.executions.set(execution.workflowId, execution)
    // A host that reads executions from a store has a new value each time.
    this.schedule.update(structuredClone(execution), this.nowMs)
  }

  #moment(): Moment {
    return {
      ...PLAIN_MOMENT,
      nowMs: this.nowMs,
      nextTaskId: () => `t${++this.#ids}` as TaskId,
      chooseDomain: () => undefined,
    }
  }
}

test('EN-110 with plain scheduling the index hands out what the plain rule finds', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World()
      for (const each of steps) world.play(each)
      world.play({ is: 'claim', type: 't', count: 4 })
      world.play({ is: 'claim', type: 'one', count: 4 })
    }),
    { numRuns: 300 },
  )
})
