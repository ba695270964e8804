// A core for tests: over one store, with a manual clock and sequential ids.
import type { TestContext } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { executionId, type ExecutionId } from '../../src/core/keys.ts'
import { openCore, type Core, type CoreOptions } from '../../src/core/life-cycle/core.ts'
import type { Execution } from '../../src/core/life-cycle/execution.ts'
import type { NewEvent } from '../../src/core/events/event.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { Store } from '../../src/core/ports.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { StoreKind } from './stores.ts'

/** A clock whose wall time is moved by hand, and whose sleeps end at once: retries take no time, and none is asserted. */
export class StillClock implements Clock {
  #nowMs = Date.parse('2025-01-01T00:00:00.000Z')

  now(): Date {
    return new Date(this.#nowMs)
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  async sleep(_durationMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    await new Promise((resolve) => setImmediate(resolve))
  }

  move(durationMs: number): void {
    this.#nowMs += durationMs
  }
}

export interface CoreWorld {
  readonly core: Core
  readonly store: Store
  readonly clock: StillClock
  /** As another engine instance over the same data would see it. */
  readonly openOther: (options?: Partial<CoreOptions>) => Promise<Core>
}

export async function openWorld(
  { open }: Pick<StoreKind, 'open'>,
  context: TestContext,
  options: Partial<CoreOptions> = {},
): Promise<CoreWorld> {
  const { store, openAnother } = await open(context)
  const clock = new StillClock()
  const shared = { clock, random: seededRandom(7), ...options }
  return {
    store,
    clock,
    core: openCore({ store, ...shared }),
    openOther: async (more = {}) => openCore({ ...shared, store: await openAnother(), ...more }),
  }
}

export function id(text: string): ExecutionId {
  return executionId(text)
}

export function start(core: Core, own?: string): Promise<Execution> {
  return core.startExecution({ name: 'etl_pipeline', ...(own === undefined ? {} : { id: own }) })
}

/** An event of a node, its type spelled out. */
export function nodeEvent(type: string, payload: JsonObject = {}): NewEvent {
  const [node = ''] = type.split('.')
  const entityType = type.split('.')[1] === 'task' ? 'task' : 'node'
  return { type, source: { entityType, entityId: node }, payload }
}

export function externalEvent(type: string, payload: JsonObject = {}): NewEvent {
  return { type, source: { entityType: 'external', entityId: 'outside' }, payload }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
