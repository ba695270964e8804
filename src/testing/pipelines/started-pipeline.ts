/** A pipeline that a test has started: what the world outside does, and how the pipeline goes on. */

import { MissingError, RefusedError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { latestRow, type AttemptRow, type Execution } from '../../engine/protocol/execution.ts'
import { isTaskOpen, isWorkflowOpen } from '../../engine/protocol/state.ts'
import { indexOf } from '../../engine/protocol/graph-index.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { describeRun, type PipelineRun } from './pipeline-run.ts'
import { durationMs, type TestDuration } from './behaviours.ts'
import type { TestWorld } from './test-world.ts'

export class StartedPipeline<Output = JsonObject> {
  readonly id: WorkflowId
  readonly #parts: TestWorld

  constructor(parts: TestWorld, id: WorkflowId) {
    this.#parts = parts
    this.id = id
  }

  /** Lets time pass until the pipeline has ended. Throws if it waits for something that the test does not give. */
  async result(): Promise<PipelineRun<Output>> {
    const advance = await this.#parts.time.advance(async () => !(await this.isOpen()))
    if (advance === 'nothing-left') throw stuck(await this.#read())
    return this.now()
  }

  /** How it stands at this moment. */
  async now(): Promise<PipelineRun<Output>> {
    const { host, driver, repository, clock } = this.#parts
    return describeRun({
      execution: await this.#read(),
      beginnings: driver.beginnings,
      events: await host.events(this.id),
      published: repository.published(),
      nowMs: clock.now().getTime(),
      writes: host.writes,
    })
  }

  async isOpen(): Promise<boolean> {
    return isWorkflowOpen((await this.#read()).status)
  }

  /** Lets this much time pass, with everything that happens in it. */
  skip(duration: TestDuration): Promise<void> {
    return this.#parts.time.skip(durationMs(duration))
  }

  /** Lets time pass until a worker has begun with this unit, or, for a unit without a worker, until it waits. */
  async untilBegun(unit: string): Promise<void> {
    const hasBegun = async (): Promise<boolean> => {
      const execution = await this.#read()
      requireUnit(execution, unit)
      const row = latestRow(execution, unit)
      return row !== undefined && row.record.status !== 'SCHEDULED'
    }
    const advance = await this.#parts.time.advance(async () => (await hasBegun()) || !(await this.isOpen()))
    if (advance === 'reached' && (await hasBegun())) return
    const execution = await this.#read()
    if (isWorkflowOpen(execution.status)) throw stuck(execution)
    throw new RefusedError(
      'testing/not-begun',
      `wait for unit "${unit}": the pipeline is ${execution.status}, and it has not begun`,
    )
  }

  /** Something happens outside: `external.approved`. */
  async publish(type: string, payload: JsonObject = {}): Promise<void> {
    const { driver, host } = this.#parts
    await driver.insist(() => host.engine.control.publishEvent(this.id, { type, source: 'test', payload }))
  }

  /** Sets `shared.NAME`. */
  async setVariable(name: string, value: Json): Promise<void> {
    const { driver, host } = this.#parts
    await driver.insist(() => host.engine.control.setVariable(this.id, name, value))
  }

  /** Somebody completes a human unit. Lets time pass until it waits for that. */
  async answer(unit: string, output: JsonObject = {}): Promise<void> {
    await this.untilBegun(unit)
    const row = latestRow(await this.#read(), unit)
    if (row?.record.taskType !== 'HUMAN' || !isTaskOpen(row.record.status)) {
      throw new RefusedError('testing/not-human', `answer for unit "${unit}": it waits for nobody`, {
        next: 'Name a human unit that has not ended; other units get their answers with "units".',
      })
    }
    await this.#parts.driver.complete(row, () => output)
  }

  async #read(): Promise<Execution> {
    const { driver, host } = this.#parts
    const execution = await driver.insist(() => host.engine.control.readExecution(this.id))
    if (execution !== undefined) return execution
    throw new MissingError('testing/no-such-run', `read the run ${this.id}: it was removed`)
  }
}

function requireUnit({ graph }: Execution, unit: string): void {
  if (indexOf(graph).units.has(unit.replace(/(__\d+)+$/, ''))) return
  throw new MissingError(
    'testing/no-such-unit',
    `wait for unit "${unit}": the pipeline "${graph.name}" has none of that name`,
  )
}

function stuck({ graph, rows, status }: Execution): RefusedError {
  const open = rows.filter(({ record }) => isTaskOpen(record.status)).map(describeWaiting)
  const why = status === 'PAUSED' ? 'it is paused' : open.join(', ') || 'nothing of it is open'
  return new RefusedError(
    'testing/nothing-left',
    `run the pipeline "${graph.name}" to its end: nothing happens any more; ${why}`,
    {
      next: 'Publish the event, answer for the person, or give the unit an answer or a time limit.',
    },
  )
}

function describeWaiting({ record: { referenceTaskName: name, taskType } }: AttemptRow): string {
  if (taskType === 'HUMAN') return `"${name}" waits for a person`
  if (taskType === 'WAIT') return `"${name}" waits for events`
  return `"${name}" is open`
}
