/** The embedded engine over a store in memory, in the time of the test. It can be killed, and another one then goes on. */

import type { Clock } from '../../base/clock.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { seededRandom } from '../../base/random.ts'
import { executionId, leaseKey } from '../../core/keys.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import type { Store } from '../../core/ports.ts'
import type { CheckpointFrequency } from '../../engine/checkpoints/due-checkpoint.ts'
import { openEngine, type Engine } from '../../engine/host/open-engine.ts'
import { ENGINE_LEASE_MS } from '../../engine/limits.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import type { DataRollback } from '../../publication/rollback-port.ts'
import type { ManualClock } from '../manual-clock.ts'
import { openStoreAccess, WriteCounter, type StoreAccess, type StoreFaults } from './failing-store.ts'

export interface EngineHostOptions {
  readonly clock: ManualClock
  readonly seed: number
  readonly faults: StoreFaults
  readonly logger?: Logger | undefined
  /** Moves branches back. */
  readonly data: DataRollback
  readonly checkpoints: CheckpointFrequency
}

interface Running {
  readonly engine: Engine
  readonly access: StoreAccess
}

export class EngineHost {
  readonly #options: EngineHostOptions
  readonly #store: Store
  readonly #counter: WriteCounter
  #running: Running

  private constructor(parts: Parts, running: Running) {
    this.#options = parts.options
    this.#store = parts.store
    this.#counter = parts.counter
    this.#running = running
  }

  static async open(options: EngineHostOptions): Promise<EngineHost> {
    const { clock } = options
    // With the time of the test, the lease of the engine would end at every leap.
    const still = { now: () => clock.now(), monotonicMs: () => 0, sleep: () => Promise.resolve() }
    const parts = { options, store: openMemoryStore({ clock: still }), counter: new WriteCounter() }
    return new EngineHost(parts, await openRunning(parts))
  }

  get engine(): Engine {
    return this.#running.engine
  }

  /** Writes to the store until now, those of leases not counted. */
  get writes(): number {
    return this.#counter.count
  }

  /** Whether the engine was killed and no other has taken its place yet. */
  get isDead(): boolean {
    return this.#running.access.isDead()
  }

  /** Ends the engine as `kill -9` does: nothing that it has not written is known to anybody. */
  kill(): void {
    this.#running.access.kill()
  }

  /** Another engine takes over once the lease of the killed one is over. */
  async replace(): Promise<void> {
    const { clock } = this.#options
    // It cannot end in order: its store answers it no more.
    await this.#running.engine.close().catch(() => undefined)
    await this.#store.clear(leaseKey('engine'))
    await clock.leap(ENGINE_LEASE_MS)
    this.#running = await openRunning({
      options: this.#options,
      store: this.#store,
      counter: this.#counter,
    })
  }

  events(workflowId: WorkflowId): Promise<readonly ExecutionEvent[]> {
    const { clock } = this.#options
    return openCore({ store: this.#store, clock }).events.queryEvents(executionId(workflowId))
  }

  async close(): Promise<void> {
    await this.#running.engine.close()
    await this.#store.close()
  }
}

/** A year: a leap of the time is no stall of the engine. */
const LEASE_MS = 31_536_000_000

interface Parts {
  readonly options: EngineHostOptions
  readonly store: Store
  readonly counter: WriteCounter
}

async function openRunning({ options, store, counter }: Parts): Promise<Running> {
  const { clock, seed, faults, data, logger = silentLogger } = options
  const access = openStoreAccess(store, faults, counter)
  const random = seededRandom(seed)
  const engine = await openEngine({
    ...{ store: access.store, clock: insistent(clock), random, logger },
    checkpoints: { data, frequency: options.checkpoints },
    leaseMs: LEASE_MS,
    // The ids of a trace differ from run to run.
    traceShare: 0,
  })
  return { engine, access }
}

/**
 * Only a pause between two tries of one write has no signal. Whoever asked for that write waits for it, so that nobody is left
 * to let the time pass.
 */
function insistent(clock: ManualClock): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => (signal === undefined ? clock.leap(Math.ceil(ms)) : clock.sleep(ms, signal)),
  }
}
