/**
 * The executors that are attached to a task queue, such as that of an engine. The pool is a client of the queue like any worker: what it
 * is handed it runs, and what it was answered it posts. It never changes the state of an execution by itself.
 */

import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError, RefusedError } from '../../base/errors.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { systemRandom, type Random } from '../../base/random.ts'
import { plainRedactor, type Redactor } from '../../base/redaction.ts'
import { openLocalLeases } from '../leases/lease.ts'
import { EXECUTOR_CAPACITY_MAX, EXECUTOR_STOP_DEADLINE_MS, EXECUTORS_MAX } from '../limits.ts'
import type { TaskQueue } from '../ports.ts'
import { openOutbox } from '../results/outbox.ts'
import { sendOutbox } from '../results/send-outbox.ts'
import type { Executor, ExecutorStatus } from './executor-port.ts'
import { openMemoryOutbox } from './memory-outbox.ts'
import { PooledExecutor } from './pooled-executor.ts'

export interface ExecutorPoolOptions {
  /** Where units are taken from, and where their results are sent. */
  readonly queue: TaskQueue
  /** Gets a line for each unit that ended, and warnings. Default: nothing is logged. */
  readonly logger?: Logger
  /** Removes secrets from the reasons of failures and from logs of tasks; an output with a secret that it knows is refused. */
  readonly redactor?: Redactor
  /** Times polls, lease renewals and deadlines. Default: the machine's clock. */
  readonly clock?: Clock
  /** For the waits between polls. Default: the operating system's randomness. */
  readonly random?: Random
  /**
   * A directory for results that the queue has not taken yet; the next pool that has it sends them. Default: they are kept in
   * memory, and if the process ends, their units run again. No two live pools may share a directory.
   */
  readonly results?: string
}

export interface RegisteredExecutor {
  status(): ExecutorStatus
  /** As `close` of the pool, for this one. */
  unregister(options?: ClosePoolOptions): Promise<void>
}

export interface ClosePoolOptions {
  /** How long units that run may go on, before they are aborted and given back. Default: `EXECUTOR_STOP_DEADLINE_MS`. */
  readonly deadlineMs?: number
}

export interface ExecutorPool {
  /** It gets units at once. Throws for one that is malformed, and for a name that another one has. */
  register(executor: Executor): RegisteredExecutor
  /** By name. */
  list(): readonly ExecutorStatus[]
  /** Takes no more units, lets those that run end, and gives back what does not end in time. May be called twice. */
  close(options?: ClosePoolOptions): Promise<void>
}

/**
 * ```ts
 * const pool = await openExecutorPool({ queue: engine.queue })
 * pool.register({ name: 'north', types: ['train'], capacity: 4, labels: { cloud: 'north' }, run: trainInTheNorth })
 * ```
 */
export async function openExecutorPool(options: ExecutorPoolOptions): Promise<ExecutorPool> {
  const { queue, logger = silentLogger, clock = systemClock, random = systemRandom } = options
  const now = (): Date => clock.now()
  const outbox =
    options.results === undefined
      ? openMemoryOutbox({ now, logger })
      : await openOutbox({ directory: options.results, logger, now })
  let isClosing = false
  const closed = new AbortController()
  // Each unit follows it while its result is posted.
  setMaxListeners(0, closed.signal)
  const leases = openLocalLeases({ queue, clock, logger })
  const surroundings = { queue, outbox, clock, logger, signal: closed.signal }
  const sender = sendOutbox({ ...surroundings, observe: () => undefined })
  const executors = new Map<string, PooledExecutor>()
  const stop = async (pooled: PooledExecutor, { deadlineMs }: ClosePoolOptions): Promise<void> => {
    await pooled.stop(deadlineMs ?? EXECUTOR_STOP_DEADLINE_MS)
    if (executors.get(pooled.executor.name) === pooled) executors.delete(pooled.executor.name)
  }
  return {
    register(executor) {
      requireExecutor(executor)
      if (isClosing) throw refused(executor, 'the pool is closed')
      if (executors.has(executor.name)) throw refused(executor, 'another one has its name')
      if (executors.size >= EXECUTORS_MAX) throw refused(executor, `there are ${EXECUTORS_MAX} already`)
      const pooled = new PooledExecutor(executor, {
        ...{ ...surroundings, leases, random, redactor: options.redactor ?? plainRedactor },
        instance: randomBytes(4).toString('hex'),
        onKept: () => sender.wake(),
      })
      executors.set(executor.name, pooled)
      return {
        status: () => pooled.status(),
        unregister: once((close: ClosePoolOptions = {}) => stop(pooled, close)),
      }
    },
    list: () =>
      [...executors.values()]
        .map((pooled) => pooled.status())
        .sort((one, other) => (one.name < other.name ? -1 : 1)),
    close: once(async (close: ClosePoolOptions = {}) => {
      isClosing = true
      await Promise.all([...executors.values()].map((pooled) => stop(pooled, close)))
      closed.abort()
      await sender.ended
      await leases.close()
    }),
  }
}

const NAME = /^[A-Za-z0-9_.-]{1,100}$/

function requireExecutor({ name, types, capacity, labels = {} }: Executor): void {
  const problems = [
    ...(NAME.test(name) ? [] : ['its name must have 1 to 100 letters, digits, "_", "." or "-"']),
    ...(types.length > 0 && types.every((type) => type !== '')
      ? []
      : ['it must name the task types it takes']),
    ...(new Set(types).size === types.length ? [] : ['it names a task type twice']),
    ...(Number.isInteger(capacity) && capacity >= 1 && capacity <= EXECUTOR_CAPACITY_MAX
      ? []
      : [`its capacity must be a whole number from 1 to ${EXECUTOR_CAPACITY_MAX}`]),
    ...(Object.values(labels).every((value) => typeof value === 'string')
      ? []
      : ['its labels must be strings']),
  ]
  if (problems.length === 0) return
  throw new InvalidError(
    'worker/bad-executor',
    `register executor ${JSON.stringify(name)}: ${problems.join('; ')}`,
    { next: 'Correct it, and register it again.' },
  )
}

function refused({ name }: Executor, why: string): RefusedError {
  return new RefusedError('worker/executor-not-registered', `register executor "${name}": ${why}`, {
    next: 'Unregister the other one first, or choose another name.',
  })
}
