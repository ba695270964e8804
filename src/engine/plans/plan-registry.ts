/** The plans of one process by namespace and id, and how code that runs inside a task finds its own. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError, RefusedError } from '../../base/errors.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { PLAN_LEAK_WARNING_MS } from '../limits.ts'
import { handlers as handlersOfProcess, type HandlerRegistry } from './handler-registry.ts'
import { PlanCore, type CoreHost, type PlanOptions } from './plan-core.ts'
import type { PlanTask, TaskCall } from './plan-task.ts'

export interface PlanRegistryOptions {
  /** Measures delays and time limits of the plans; the machine's own clock unless given. */
  readonly clock?: Clock
  /** Gets warnings, such as of plans that were not released; silent unless given. */
  readonly logger?: Logger
  /** Default: those of the process. */
  readonly handlers?: HandlerRegistry
  /** A finished plan that is not released within this time causes a warning. Default: 60000. */
  readonly leakWarningMs?: number
  /** Of every plan that does not set its own. */
  readonly defaults?: PlanOptions
  /** Makes the ids of runs and of their tasks, each a new one; random UUIDs unless given. */
  readonly nextId?: () => string
}

export interface PlanPlace {
  /** Equal ids in two namespaces are two plans. Default: that of the calling task, otherwise `default`. */
  readonly namespace?: string
  /** Default: that of the calling task, otherwise the one of the process. */
  readonly registry?: PlanRegistry
}

interface Ambient {
  readonly registry: PlanRegistry
  readonly namespace: string
  /** That of the task that is running. */
  readonly signal: AbortSignal | undefined
}

const ambient = new AsyncLocalStorage<Ambient>()

interface Held {
  readonly namespace: string
  readonly core: PlanCore
}

/**
 * ```ts
 * const registry = new PlanRegistry({ logger })
 * await registry.use(() => program())
 * ```
 *
 * A registry of one's own sets the clock and the logger, and keeps the plans of tests apart.
 */
export class PlanRegistry {
  readonly clock: Clock
  readonly logger: Logger
  readonly handlers: HandlerRegistry
  readonly #leakWarningMs: number
  readonly #defaults: PlanOptions
  readonly #nextId: () => string
  readonly #plans = new Map<string, Held>()
  /** Plans that have ended and are not released, in the order in which they ended, with the time. */
  readonly #unreleased = new Map<PlanCore, number>()

  constructor(options: PlanRegistryOptions = {}) {
    this.clock = options.clock ?? systemClock
    this.logger = options.logger ?? silentLogger
    this.handlers = options.handlers ?? handlersOfProcess
    this.#leakWarningMs = options.leakWarningMs ?? PLAN_LEAK_WARNING_MS
    this.#defaults = options.defaults ?? {}
    this.#nextId = options.nextId ?? randomUUID
  }

  /** The ids of the plans that were not released. */
  ids(namespace: string = DEFAULT_NAMESPACE): readonly string[] {
    return [...this.#plans.values()].filter((held) => held.namespace === namespace).map(({ core }) => core.id)
  }

  /** Inside `work`, and in all that it starts, `new Plan(id)` and `time.Sleep` use this registry. */
  use<T>(work: () => T, namespace: string = DEFAULT_NAMESPACE): T {
    return ambient.run({ registry: this, namespace, signal: undefined }, work)
  }

  /** Opens the plan of this id, or creates it. */
  open(id: string, options: PlanOptions, namespace: string): PlanCore {
    if (id === '') throw new InvalidError('plan/bad-id', 'open a plan: its id must not be empty')
    this.warnOfLeaks()
    const key = JSON.stringify([namespace, id])
    const held = this.#plans.get(key)
    if (held === undefined) {
      const core = new PlanCore(id, { ...this.#defaults, ...options }, this.#hostOf(key, namespace))
      this.#plans.set(key, { namespace, core })
      return core
    }
    if (Object.keys(options).length > 0)
      throw new RefusedError('plan/exists', `create the plan "${id}": it exists, and its options are set`, {
        next: 'Open it without options, or release it before.',
      })
    return held.core
  }

  /** Reports the plans that ended and were not released in time, each once. Every opening of a plan does it, too. */
  warnOfLeaks(): void {
    const nowMs = this.clock.monotonicMs()
    for (const [core, endedMs] of this.#unreleased) {
      // The others ended later.
      if (nowMs - endedMs < this.#leakWarningMs) return
      this.#unreleased.delete(core)
      this.logger.warn('a plan has ended and is not released: its data stays in memory', {
        plan: core.id,
        status: core.status,
        endedBeforeMs: nowMs - endedMs,
        next: 'Call Release() in a finally block.',
      })
    }
  }

  #hostOf(key: string, namespace: string): CoreHost {
    const { clock, logger } = this
    return {
      clock,
      logger,
      nextId: this.#nextId,
      callFunction: (core, task, call) =>
        ambient.run({ registry: this, namespace, signal: call.context.signal }, () =>
          callOf(core, task, call),
        ),
      ended: (core) => {
        if (!core.isReleased) this.#unreleased.set(core, clock.monotonicMs())
      },
      released: (core) => {
        this.#plans.delete(key)
        this.#unreleased.delete(core)
      },
    }
  }
}

const DEFAULT_NAMESPACE = 'default'
const REGISTRY_OF_PROCESS = new PlanRegistry()

/** Where a plan is looked for that is opened here and now. */
export function placeOf({ namespace, registry }: PlanPlace): Required<PlanPlace> {
  const here = ambient.getStore()
  return {
    registry: registry ?? here?.registry ?? REGISTRY_OF_PROCESS,
    namespace: namespace ?? here?.namespace ?? DEFAULT_NAMESPACE,
  }
}

/** The clock of the calling task, and its signal. */
export function timeOf(): { readonly clock: Clock; readonly signal: AbortSignal | undefined } {
  return { clock: placeOf({}).registry.clock, signal: ambient.getStore()?.signal }
}

function callOf(core: PlanCore, task: PlanTask, { context, signals }: TaskCall): unknown {
  return task.function(context, core.space, signals)
}
