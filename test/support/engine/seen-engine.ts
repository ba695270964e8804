// An engine over a memory store whose clock stands still, with everything that it tells of itself.
import { onTestFinished } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import { executionId } from '../../../src/core/keys.ts'
import type { ExecutionEvent } from '../../../src/core/events/event.ts'
import { openCore } from '../../../src/core/life-cycle/core.ts'
import type { Store } from '../../../src/core/ports.ts'
import type { Graph, TaskUnit, Unit } from '../../../src/engine/graph/graph.ts'
import { openEngine, type Engine, type EngineOptions } from '../../../src/engine/host/open-engine.ts'
import type { EngineEvent } from '../../../src/engine/telemetry/engine-events.ts'
import { createMemorySpace, openMemoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import type { ResultStatus, TaskRecord, WorkflowId } from '../../../src/worker/ports.ts'
import { StillClock } from '../core-world.ts'

export function unitOf(taskReferenceName: string, more: Partial<TaskUnit> = {}): TaskUnit {
  return { type: 'SIMPLE', name: 't', taskReferenceName, inputParameters: {}, after: [], ...more }
}

export function graphOf(units: readonly Unit[], more: Partial<Graph> = {}): Graph {
  return {
    ...{ name: 'daily', version: 1, units, inputTemplate: {}, outputParameters: undefined },
    ...{ restartable: true, timeoutSeconds: 0, timeoutPolicy: 'ALERT_ONLY' },
    ...more,
  }
}

export class SeenEngine {
  readonly clock = new StillClock()
  readonly store: Store
  readonly events: EngineEvent[] = []
  readonly #options: Partial<EngineOptions>
  engine!: Engine

  constructor(options: Partial<EngineOptions> & { readonly wrap?: (store: Store) => Store } = {}) {
    const { wrap = (store: Store) => store, ...engine } = options
    this.store = wrap(openMemoryStore({ space: createMemorySpace({ clock: this.clock }) }))
    this.#options = engine
  }

  async open(): Promise<this> {
    const { store, clock } = this
    const { observers = [], ...options } = this.#options
    const keep = (event: EngineEvent): void => void this.events.push(event)
    this.engine = await openEngine({
      ...{ store, clock, random: seededRandom(1) },
      ...options,
      observers: [keep, ...observers],
    })
    const { engine } = this
    onTestFinished(() => engine.close())
    await engine.control.registerTask({ name: 't', retryCount: 1, retryDelaySeconds: 0 })
    return this
  }

  poll(count = 10): Promise<readonly TaskRecord[]> {
    return this.engine.queue.poll({ taskType: 't', workerId: 'w', count, waitMs: 0 })
  }

  async post(
    { taskId, workflowId, workerId }: TaskRecord,
    status: ResultStatus = 'COMPLETED',
    more: { readonly output?: JsonObject; readonly reasonForIncompletion?: string } = {},
  ): Promise<void> {
    await this.engine.queue.postResult({ taskId, workflowId, workerId, status, output: {}, ...more })
  }

  /** Works until nothing is left; the result of each task is what `resultOf` says. */
  async workOff(resultOf: (task: TaskRecord) => ResultStatus = () => 'COMPLETED', taskMs = 0): Promise<void> {
    for (let turns = 0; turns < 200; turns += 1) {
      const tasks = await this.poll()
      if (tasks.length === 0) return
      this.clock.move(taskMs)
      for (const task of tasks) await this.post(task, resultOf(task))
    }
    throw new Error('there is work after 200 turns')
  }

  logOf(workflowId: WorkflowId): Promise<readonly ExecutionEvent[]> {
    return openCore({ store: this.store }).events.queryEvents(executionId(workflowId))
  }
}

export function openSeenEngine(options?: ConstructorParameters<typeof SeenEngine>[0]): Promise<SeenEngine> {
  return new SeenEngine(options).open()
}
