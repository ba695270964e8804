// Executions, workers and a schedule in simulated time: the real rules decide, and every task takes as long as the test says.
import type { TaskId, WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { decide } from '../../src/engine/protocol/decide.ts'
import { wholeTaskDef } from '../../src/engine/protocol/definitions.ts'
import {
  findRow,
  PLAIN_MOMENT,
  startExecution,
  type Execution,
  type Moment,
} from '../../src/engine/protocol/execution.ts'
import { isTaskOpen } from '../../src/engine/protocol/state.ts'
import { applyResult, claimTask } from '../../src/engine/protocol/updates.ts'
import { isTask, type Graph } from '../../src/engine/graph/graph.ts'
import type { HandOut, Schedule } from '../../src/engine/scheduling/schedule.ts'

export interface SimulatedTask extends HandOut {
  readonly executor: string
  readonly startMs: number
  readonly endMs: number
}

export interface SimulationSettings {
  readonly schedule: Schedule
  /** By name, how many tasks each worker runs at once. */
  readonly executors: Readonly<Record<string, number>>
  readonly durationOf: (unit: string, executor: string) => number
  readonly fails?: (unit: string, startMs: number) => boolean
  readonly retryCount?: number
  readonly taskTypes?: readonly string[]
}

const STEPS_MAX = 5_000
/** How long a worker's poll that gets nothing waits. */
const POLL_AGAIN_MS = 100

export class Simulation {
  nowMs = 0
  readonly executions = new Map<WorkflowId, Execution>()
  /** In the order in which they were handed out. */
  readonly started: SimulatedTask[] = []
  readonly #settings: SimulationSettings
  #running: readonly SimulatedTask[] = []
  #ids = 0

  constructor(settings: SimulationSettings) {
    this.#settings = settings
  }

  get running(): readonly SimulatedTask[] {
    return this.#running
  }

  start(graph: Graph, priority = 0): WorkflowId {
    const workflowId = `w${++this.#ids}` as WorkflowId
    const { retryCount = 0 } = this.#settings
    const taskDefs = graph.units
      .filter(isTask)
      .map(({ name }) => wholeTaskDef({ name, retryCount, retryDelaySeconds: 1 }))
    const execution = startExecution(
      { name: graph.name, priority },
      { workflowId, graph, input: {}, startTimeMs: this.nowMs, taskDefs },
    )
    this.#put(decide(execution, this.#moment()))
    return workflowId
  }

  /** One instant: what has ended is reported, then every worker polls. */
  step(): void {
    const ended = this.#running.filter(({ endMs }) => endMs <= this.nowMs)
    this.#running = this.#running.filter(({ endMs }) => endMs > this.nowMs)
    for (const task of ended) this.#end(task)
    for (const [executor, slots] of Object.entries(this.#settings.executors))
      for (const taskType of this.#settings.taskTypes ?? ['t']) this.poll(executor, taskType, slots)
  }

  poll(executor: string, taskType: string, slots: number): void {
    const count = slots - this.#running.filter((task) => task.executor === executor).length
    if (count <= 0) return
    for (const handOut of this.#settings.schedule.choose({ taskType, executor, count, nowMs: this.nowMs }))
      this.#claim(handOut, executor)
  }

  /** Until every execution has ended. */
  run(until: () => boolean = () => !this.#isOpen()): void {
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      this.step()
      if (until()) return
      const ends = this.#running.map(({ endMs }) => endMs)
      this.nowMs = Math.min(...ends, this.nowMs + POLL_AGAIN_MS)
    }
    throw new Error(`not ended after ${STEPS_MAX} steps, at ${this.nowMs} ms`)
  }

  #isOpen(): boolean {
    return [...this.executions.values()].some(({ status }) => status === 'RUNNING')
  }

  #claim(handOut: HandOut, executor: string): void {
    const execution = this.executions.get(handOut.workflowId)
    const row = execution === undefined ? undefined : findRow(execution, handOut.taskId)
    if (execution === undefined || row === undefined || !isTaskOpen(row.record.status))
      throw new Error(`handed out ${handOut.taskId}, which cannot be claimed`)
    this.#put(claimTask(execution, row, { workerId: `${executor}-${++this.#ids}`, nowMs: this.nowMs }))
    const endMs = this.nowMs + this.#settings.durationOf(handOut.unit, executor)
    const task = { ...handOut, executor, startMs: this.nowMs, endMs }
    this.started.push(task)
    this.#running = [...this.#running, task]
  }

  #end({ workflowId, taskId, unit, executor, startMs }: SimulatedTask): void {
    const execution = this.executions.get(workflowId)
    if (execution === undefined) return
    const status = this.#settings.fails?.(unit, startMs) === true ? 'FAILED' : 'COMPLETED'
    const result = { taskId, workflowId, workerId: executor, status, output: {} } as const
    this.#put(applyResult(execution, result, { isOwn: true, isOpen: true, moment: this.#moment() }))
  }

  #put(execution: Execution): void {
    this.executions.set(execution.workflowId, execution)
    this.#settings.schedule.update(execution, this.nowMs)
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
