/**
 * What keeps a worker from its work and passes without the task's doing: a server that is away, a fault of this machine. While
 * it lasts no tasks are taken that need what is missing, and those that met it are handed back without using a retry.
 */

import { isAborted } from '../../base/abort-signals.ts'
import { abortReason } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'

export type OutageOf = 'lakefs' | 'object-store' | 'node'

export interface Outage {
  readonly what: OutageOf
  /** What is wrong, for people. */
  readonly why: string
  /** On the clock's monotonic scale. */
  readonly sinceMs: number
}

/** Knows the outages of one kind. */
export interface OutageWatch {
  /** Those of this moment. */
  outages(): readonly Outage[]
  /** `listener` is called after each change of `outages`. Returns the end of it. */
  onChange(listener: () => void): () => void
  /** The outage that made an error of work that began at `sinceMs`; `undefined` if the error has another reason. */
  explain(error: unknown, sinceMs: number): Promise<Outage | undefined>
}

/** Of all watches together. */
export class Outages implements OutageWatch {
  readonly #watches: readonly OutageWatch[]

  constructor(watches: readonly OutageWatch[]) {
    this.#watches = watches
  }

  outages(): readonly Outage[] {
    return this.#watches.flatMap((watch) => watch.outages())
  }

  onChange(listener: () => void): () => void {
    const ends = this.#watches.map((watch) => watch.onChange(listener))
    return () => ends.forEach((end) => end())
  }

  async explain(error: unknown, sinceMs: number): Promise<Outage | undefined> {
    for (const watch of this.#watches) {
      const outage = await watch.explain(error, sinceMs)
      if (outage !== undefined) return outage
    }
    return undefined
  }

  /** The outage for which a task is not taken. Without a workspace it needs no repository, but a disk like any other. */
  holding({ workspace }: Pick<TaskDefinition, 'workspace'>): Outage | undefined {
    return this.outages().find(({ what }) => what === 'node' || workspace !== undefined)
  }

  /** Resolves when nothing holds the task back. Rejects with the reason of the signal. */
  async untilFree(task: Pick<TaskDefinition, 'workspace'>, signal: AbortSignal): Promise<void> {
    while (this.holding(task) !== undefined) {
      if (isAborted(signal)) throw abortReason(signal)
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          end()
          signal.removeEventListener('abort', wake)
          resolve()
        }
        const end = this.onChange(wake)
        signal.addEventListener('abort', wake, { once: true })
      })
    }
  }

  /** A signal that is aborted when a server is away that a workspace needs. */
  whileServed(): { readonly signal: AbortSignal; release(): void } {
    const controller = new AbortController()
    const look = (): void => {
      const outage = this.outages().find(({ what }) => what !== 'node')
      if (outage !== undefined) controller.abort(new OutageError(outage))
    }
    const release = this.onChange(look)
    look()
    return { signal: controller.signal, release }
  }
}

/** The task did nothing wrong: it is handed back. */
export class OutageError extends UnavailableError {
  readonly outage: Outage

  constructor(outage: Outage, cause?: unknown) {
    super(
      outage.what === 'node' ? 'worker/node-fault' : 'worker/server-away',
      `run the task: ${outage.why}`,
      {
        cause,
        details: { outage: outage.what },
        next: 'No action is needed for the task: it is handed back, and taken again afterwards.',
      },
    )
    this.outage = outage
  }
}

/** It was handed back for too long: the failure counts. */
export class OutageTooLongError extends UnavailableError {
  constructor({ why, what }: Outage, cause: unknown) {
    super(
      'worker/outage-too-long',
      `run the task: ${why}; it was handed back for that too often or too long`,
      {
        cause,
        details: { outage: what },
        next: 'End the outage; outages.giveUpAfter says how long tasks are handed back.',
      },
    )
  }
}
