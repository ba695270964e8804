/**
 * The embedded engine: the rules of `engine/protocol` over a store.
 *
 * ```ts
 * const engine = await openEngine({ store: openSqliteStore({ file: 'engine.db' }) })
 * await engine.control.registerTask({ name: 'orders' })
 * await engine.control.registerWorkflow({ name: 'daily', tasks: [{ name: 'orders', taskReferenceName: 'orders' }] })
 * const id = await engine.control.start({ name: 'daily' })
 * await engine.close()
 * ```
 */

import { systemClock, type Clock } from '../../base/clock.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { Progress } from '../../base/progress.ts'
import { systemRandom, type Random } from '../../base/random.ts'
import { executionId, FACT_PREFIXES, taskDigits, tenantId } from '../../core/keys.ts'
import { Leadership } from '../../core/life-cycle/leadership.ts'
import { openStepWriter } from '../../core/life-cycle/steps.ts'
import type { Store } from '../../core/ports.ts'
import type { TaskQueue } from '../../worker/ports.ts'
import type { KnownTasks } from '../definitions/graph-writers.ts'
import { UNLIMITED_POOL } from '../graph/resources.ts'
import {
  ENGINE_LEASE_MS,
  ENGINE_STILL_MS,
  EXECUTION_STATE_MAX_BYTES,
  EXECUTIONS_AT_ONCE,
  TRACE_SHARE,
} from '../limits.ts'
import { ENGINE_SCHEDULING, type SchedulingOptions } from '../scheduling/options.ts'
import type { HandOut } from '../scheduling/schedule.ts'
import { tellObservers, type EngineObserver } from '../telemetry/engine-events.ts'
import { logEngine } from '../telemetry/log-records.ts'
import { DefinitionStore } from './definition-store.ts'
import { openEngineCheckpoints, type EngineCheckpoints } from './engine-checkpoints.ts'
import { EngineControl } from './engine-control.ts'
import { EngineQueue } from './engine-queue.ts'
import { EngineTime } from './engine-time.ts'
import { ExecutionStore } from './execution-store.ts'
import { ExecutionReader } from './execution-list.ts'
import { Executions } from './executions.ts'
import { Facts } from './facts.ts'
import { followStep } from './follow-step.ts'
import { HandOuts } from './hand-outs.ts'
import { Learned } from './learned.ts'
import { hasInstanceEnded, nameThisInstance } from './instance-name.ts'
import { Ownership } from './ownership.ts'
import { Starter } from './starter.ts'
import { TaskLogs } from './task-logs.ts'
import { Schedules } from './schedules.ts'
import { runWakeUps } from './wake-ups.ts'
import type { ChildEnd } from '../protocol/execution.ts'
import type { Stage } from '../protocol/stages.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'

export interface EngineOptions {
  /** Stays open when the engine is closed. */
  readonly store: Store
  /** Default: the default tenant. Each tenant has executions and definitions of its own. */
  readonly tenant?: string
  /** Measures delays and time limits, and dates what happens; the machine's own clock unless given. */
  readonly clock?: Clock
  /** Varies the delays before retries; of the operating system unless given. Tests give one with a seed. */
  readonly random?: Random
  /** Gets a record of whatever happens: see `LOG_EVENTS`. */
  readonly logger?: Logger
  /** Metrics and spans, such as `openEngineMetrics().observe`. */
  readonly observers?: readonly EngineObserver[]
  /** Share of executions whose spans are recorded, unless who starts them says; 0 to 1. Default: `TRACE_SHARE`. */
  readonly traceShare?: number
  /** Also puts each event into the outbox, for webhooks. Something must then empty the outbox. */
  readonly outbox?: boolean
  /** How many executions execute at the same time; more wait for a place. Default: `EXECUTIONS_AT_ONCE`. */
  readonly atOnceMax?: number
  /** Largest state of one execution, as stored; one that would become larger fails. Default: `EXECUTION_STATE_MAX_BYTES`. */
  readonly stateMaxBytes?: number
  /** In which order, how many at once and to which worker tasks are handed out. Default: `ENGINE_SCHEDULING`. */
  readonly scheduling?: Partial<SchedulingOptions>
  /** Default: none are taken; what does not need one can be rolled back all the same. */
  readonly checkpoints?: EngineCheckpoints
  /**
   * What is known of tasks, by name: those that only read may share a branch. Of any other task, whoever gives it a workspace is
   * taken to write.
   */
  readonly tasks?: () => KnownTasks
  /** How long another instance waits after this one has died. */
  readonly leaseMs?: number
}

export interface Engine {
  /** For workers. */
  readonly queue: TaskQueue
  readonly control: EngineControl
  /** When pipelines are started by themselves. */
  readonly schedules: Schedules
  /** Reads executions; in every instance, whichever runs them. */
  readonly reader: ExecutionReader
  /** Whether this instance runs the executions; otherwise another one does, and this one takes over when that is gone. */
  readonly isRunning: () => boolean
  /** Critical units that are due and not handed out, each with how late it is: for a metric. */
  readonly waitingCritical: () => readonly HandOut[]
  /** One sentence, if it does not get on with what is due; for the health. */
  readonly problem: () => string | undefined
  /** Of each execution that this instance runs, for a metric. */
  readonly stages: () => readonly Stage[]
  /** Ends waiting polls, lets steps end, and gives the lease back. May be called twice. */
  close(): Promise<void>
}

/** Resolves when open executions are continued, or another instance is found that runs them. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { store, clock = systemClock, logger = silentLogger, outbox = false } = options
  const tenant = options.tenant === undefined ? undefined : tenantId(options.tenant)
  const pace = { clock, random: options.random ?? systemRandom }
  const steps = openStepWriter({ store, tenant, pace, logger, outbox })
  const definitions = new DefinitionStore(store, tenant, pace)
  const { stateMaxBytes = EXECUTION_STATE_MAX_BYTES } = options
  const executionStore = new ExecutionStore({ steps, definitions, pace, stateMaxBytes })
  const observe = tellObservers([
    ...(logger === silentLogger ? [] : [logEngine(logger)]),
    ...(options.observers ?? []),
  ])
  const refused = new Map<WorkflowId, ChildEnd>()
  const facts = new Facts({
    steps,
    readChildEnd: async (workflowId) => refused.get(workflowId) ?? executions.readEnd(workflowId),
  })
  const scheduling = { ...ENGINE_SCHEDULING, ...options.scheduling }
  const { pool } = scheduling
  const graphLimits = pool === undefined ? { pool: UNLIMITED_POOL } : { pool }
  const learned = new Learned({ store, tenant, pace, clock, logger, pool })
  const time = new EngineTime({ store, tenant, clock, logger })
  const nowMs = (): number => time.nowMs()
  const queue = new HandOuts({ scheduling, learned, logger, nowMs, observe })
  const saved = openEngineCheckpoints({
    ...{ steps, executionStore, pace, logger, observe, options: options.checkpoints },
    executions: () => executions,
    whileFree: (execution, work) => starter.whileFree(execution, work),
  })
  const executions: Executions = new Executions({
    mayHandOut: saved.mayHandOut,
    ...{
      store: executionStore,
      clock,
      time,
      random: pace.random,
      logger,
      facts,
      queue,
      graphLimits,
      observe,
    },
    atOnceMax: options.atOnceMax ?? EXECUTIONS_AT_ONCE,
    follow: async (execution) => {
      saved.rollbacks().followPolicy(execution)
      await followStep({ executions, definitions, logger, refused, starter }, execution)
    },
    digitsOf: (workflowId) => {
      const execution = executionId(workflowId)
      return taskDigits(tenant === undefined ? { execution } : { tenant, execution })
    },
  })
  const { tasks = () => new Map() } = options
  const starter: Starter = new Starter({
    ...{ executions, definitions, graphLimits, tasks, observe, clock },
    traceShare: options.traceShare ?? TRACE_SHARE,
    reopening: () => saved.rollbacks().reopening(),
  })
  const { leaseMs = ENGINE_LEASE_MS } = options
  const leadership = new Leadership({
    ...{ store, clock, owner: await nameThisInstance(), leaseMs, hasEnded: hasInstanceEnded },
    name: tenant === undefined ? 'engine' : `engine-${tenant}`,
  })
  const progress = new Progress({ what: 'the engine', stillMs: ENGINE_STILL_MS, clock })
  const ownership = new Ownership({
    ...{ leadership, leaseMs, executions, store: executionStore, clock, progress, logger },
    prepare: async () => {
      await time.load()
      await learned.load()
      // The schedule begins with the circuit breakers that were read.
      queue.clear()
      await saved.prepare()
    },
  })
  const closing = new AbortController()
  const logs = new TaskLogs(steps, pace)
  const parts = {
    ...{ executions, ownership, logs, clock, definitions, steps, observe },
    ...{ store: executionStore, graphLimits, starter, closed: closing.signal },
    ...{ checkpoints: saved.checkpoints, checkpointing: saved.checkpointing },
    rollbacks: saved.rollbacks(),
  }
  await ownership.start()
  const wakeUps = runWakeUps(
    {
      ...{ store, facts, clock, logger },
      wake: (workflowId) => executions.wake(workflowId),
      prefixes: FACT_PREFIXES,
    },
    closing.signal,
  )
  const source = { isOwner: () => ownership.isOwner, breakers: () => queue.breakers() }
  const learning = learned.run(source, closing.signal)
  const saving = saved.run(source.isOwner, closing.signal)
  const control = new EngineControl(parts)
  const schedules = new Schedules({
    ...{ store, tenant, clock, time, logger, isOwner: source.isOwner },
    startOnce: (key, request) => control.startOnce(key, request),
  })
  const scheduled = schedules.run(closing.signal)
  const timed = time.run(source.isOwner, closing.signal)
  return {
    queue: new EngineQueue(parts),
    control,
    schedules,
    reader: new ExecutionReader({
      ...{ steps, executions, definitions, closed: closing.signal, checkpoints: saved.checkpoints },
      scopeOf: (workflowId) => saved.checkpointing.scopeOf(workflowId),
    }),
    isRunning: () => ownership.isOwner,
    waitingCritical: () => queue.waitingCritical(),
    problem: () => progress.problem(),
    stages: () => [...executions.held()].map(({ stage }) => stage),
    close: once(async () => {
      closing.abort()
      await Promise.all([wakeUps, learning, saving, scheduled, timed])
      if (source.isOwner()) await time.save()
      await learned.save(source)
      await ownership.stop()
    }),
  }
}
