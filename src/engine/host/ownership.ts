/** One instance at a time runs the executions of a tenant: it holds the lease, takes open executions over, and looks at what is due. */

import { followSignals, isAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { errorKindOf } from '../../base/errors.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import type { Logger } from '../../base/logger.ts'
import type { Progress } from '../../base/progress.ts'
import type { Leadership } from '../../core/life-cycle/leadership.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { ENGINE_STANDBY_INTERVAL_MS, HOST_LOOK_INTERVAL_MS, HOST_READS_IN_FLIGHT } from '../limits.ts'
import { decide } from '../protocol/decide.ts'
import type { ExecutionStore } from './execution-store.ts'
import type { Executions } from './executions.ts'

export interface OwnershipParts {
  readonly leadership: Leadership
  readonly leaseMs: number
  readonly executions: Executions
  readonly store: ExecutionStore
  /** What else has to be known before executions are held. */
  readonly prepare: () => Promise<void>
  readonly clock: Clock
  /** Noted whenever it has asked for the lease and done what is due. */
  readonly progress: Progress
  readonly logger: Logger
}

export class Ownership {
  readonly #parts: OwnershipParts
  readonly #stop = new AbortController()
  #isOwner = false
  #wake: () => void = () => undefined
  #loop: Promise<void> | undefined
  #running: Promise<void> | undefined

  constructor(parts: OwnershipParts) {
    this.#parts = parts
    parts.executions.onDue = () => this.#wake()
  }

  /** Never true when another instance may have the lease: also not while this one waits for the store, or was stalled. */
  get isOwner(): boolean {
    return this.#isOwner && this.#parts.leadership.isHeld()
  }

  /** Resolves when this instance runs the executions, or another one does. */
  async start(): Promise<void> {
    await this.#look()
    this.#loop = this.#run()
  }

  /** Does everything that is due, in the order in which it was due. */
  async runDue(): Promise<void> {
    // One at a time, so that two requests do not decide the same deadline.
    while (this.#running !== undefined) await this.#running
    const next = this.#parts.executions.due.next()
    if (next === undefined || next.atMs > this.#parts.executions.nowMs()) return
    this.#running = this.#runAllDue().finally(() => (this.#running = undefined))
    await this.#running
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#loop
    await this.#parts.executions.idle()
    // Also when its term is over: nobody else may have taken it yet, and would have to wait.
    await this.#parts.leadership.release().catch(() => undefined)
    this.#isOwner = false
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#sleep()
      if (isAborted(this.#stop.signal)) return
      const hasLooked = await this.#look()
      if (this.isOwner) await this.runDue()
      if (hasLooked) this.#parts.progress.note()
    }
  }

  /** Asks for the lease, or renews it. `false`: the store did not answer. */
  async #look(): Promise<boolean> {
    const { leadership, executions, logger } = this.#parts
    try {
      const held = await leadership.hold()
      if (held === false) this.#lose()
      if (held === 'taken' || (held === 'held' && !this.#isOwner)) {
        executions.clear()
        this.#isOwner = await this.#renewWhile(this.#parts.prepare().then(() => this.#takeOver()))
      }
      return true
    } catch (error) {
      // The store does not answer, and the lease is over. It is asked for again.
      logger.warn('the engine could not ask for its lease', { error })
      this.#lose()
      return false
    }
  }

  /** Whether the lease was held all the time: there may be much to read. */
  async #renewWhile(work: Promise<void>): Promise<boolean> {
    const { leadership, clock } = this.#parts
    const over = new AbortController()
    const ended = work.finally(() => over.abort())
    // What it rejects with is thrown below.
    ended.catch(() => undefined)
    let isHeld = true
    while (isHeld && !over.signal.aborted) {
      const renewInMs = Math.max(1, leadership.renewInMs() ?? 0)
      await clock.sleep(renewInMs, over.signal).catch(() => undefined)
      if (!isAborted(over.signal)) isHeld = (await leadership.hold()) === 'held'
    }
    await ended
    return isHeld
  }

  #lose(): void {
    if (!this.#isOwner) return
    this.#isOwner = false
    this.#parts.executions.clear()
    this.#parts.logger.warn('this instance runs no executions any more: another one may have the lease')
  }

  async #takeOver(): Promise<void> {
    const { store, executions, logger } = this.#parts
    const open: WorkflowId[] = []
    for await (const workflowId of store.listOpen()) open.push(workflowId)
    const failed: WorkflowId[] = []
    await forEachBounded(open, { limit: HOST_READS_IN_FLIGHT }, async (workflowId) => {
      try {
        await executions.takeOver(workflowId)
        await executions.change(workflowId, (execution, moment) => ({
          execution: decide(execution, moment),
          answer: undefined,
        }))
        // The former instance may have died before it did this.
        await executions.followAgain(workflowId)
      } catch (error) {
        // One that cannot be read must not stop the others. What the store did not answer is tried again.
        logger.error('an execution could not be continued', { workflowId, error })
        if (errorKindOf(error) !== 'defect') failed.push(workflowId)
      }
    })
    await this.#endLeftChildren()
    for (const workflowId of failed) executions.due.set(workflowId, executions.nowMs() + RETRY_INTERVAL_MS)
    if (open.length > 0) logger.info('executions are continued', { count: open.length })
  }

  /** Children of executions that ended without waiting for them, just before the former instance did. */
  async #endLeftChildren(): Promise<void> {
    const { executions } = this.#parts
    for (const { parentId } of [...executions.held()])
      if (parentId !== undefined && !executions.isHeld(parentId)) await executions.followAgain(parentId)
  }

  async #runAllDue(): Promise<void> {
    const { executions, logger } = this.#parts
    for (;;) {
      const due = executions.due.next()
      if (due === undefined || due.atMs > executions.nowMs()) return
      const workflowId = due.id as WorkflowId
      // Set again by the step where it has another one.
      executions.due.set(workflowId, undefined)
      try {
        await executions.change(
          workflowId,
          (execution, moment) => ({ execution: decide(execution, moment), answer: undefined }),
          due.atMs,
        )
        executions.setDue(workflowId)
      } catch (error) {
        logger.warn('an execution could not be decided', { workflowId, error })
        executions.due.set(workflowId, executions.nowMs() + RETRY_INTERVAL_MS)
      }
    }
  }

  async #sleep(): Promise<void> {
    const { clock, executions, leadership } = this.#parts
    const dueInMs = (executions.due.next()?.atMs ?? Infinity) - executions.nowMs()
    const renewInMs = leadership.renewInMs()
    const sleepMs = this.#isOwner
      ? Math.min(dueInMs, renewInMs ?? 0, HOST_LOOK_INTERVAL_MS)
      : Math.min(ENGINE_STANDBY_INTERVAL_MS, this.#parts.leaseMs / 3)
    const stop = followSignals(this.#stop.signal)
    const woken = new Promise<void>((resolve) => (this.#wake = resolve))
    try {
      const slept = clock.sleep(Math.max(1, sleepMs), stop.signal)
      // The loser of the race is stopped below; its rejection is expected.
      slept.catch(() => undefined)
      await Promise.race([slept, woken]).catch(() => undefined)
    } finally {
      stop.release()
      stop.abort()
    }
  }
}

const RETRY_INTERVAL_MS = 1_000
