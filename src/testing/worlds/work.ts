/** What the attempts of a simulated world do, and what each of them is given. */

import type { Clock } from '../../base/clock.ts'
import { branchName } from '../../base/ids.ts'
import { silentLogger } from '../../base/logger.ts'
import type { HardFences } from '../../publication/hard-fences.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import type { LeaseKeeper } from '../../worker/leases/lease.ts'
import type { TaskQueue, TaskRecord } from '../../worker/ports.ts'
import { deliverItem } from '../../worker/results/finish-attempt.ts'
import type { Outbox } from '../../worker/results/outbox.ts'
import type { CompletedStep, SimulatedAttempt } from './queue.ts'

/** The branch that everything is about. */
export const TARGET = branchName('main')
/** Who left a publication that nobody knows of any more. */
export const ABANDONED = 'abandoned'

export interface AttemptSite {
  readonly client: string
  readonly record: TaskRecord
  readonly clock: Clock
  readonly repo: VersionedRepo
  readonly queue: TaskQueue
  readonly outbox: Outbox
  /** `undefined`: the attempt has no lease. */
  readonly leases?: LeaseKeeper | undefined
  readonly fences?: HardFences
  readonly pause: (what: string) => Promise<void>
  /** The body begins. */
  readonly onBody: () => void
  /** An earlier publication was found and is going to be reported. */
  readonly onAdoption: () => void
}

export interface Work {
  /** Text by path, what the branch begins with. */
  readonly files: Readonly<Record<string, string>>
  /** Carries out one attempt, to its report. Gives what came of it, such as the error. */
  readonly run: (attempt: SimulatedAttempt, site: AttemptSite) => Promise<unknown>
  /** What a task has besides its identity and its status. */
  readonly describe?: (attempt: SimulatedAttempt) => Partial<TaskRecord>
  /** Whether what an attempt wrote is in the commit, and what is reported is of that attempt. */
  readonly holds: (of: {
    /** `undefined`: whoever made the commit is no attempt of this world. */
    readonly maker: SimulatedAttempt | undefined
    readonly makerName: string
    readonly completed: CompletedStep
    /** The text of a file of the reported commit. */
    readonly read: (path: string) => string | undefined
  }) => { readonly work: boolean; readonly result: boolean }
  /** Resolves when all that follows from a step has happened. `isAwaited` tells whether anybody is still at work. */
  readonly settle: (isAwaited: () => boolean) => Promise<void>
}

export function taskOf(step: number): string {
  return `step-${step}`
}

/** The run that an attempt records with what it publishes. */
export function runOf(client: string): string {
  return `${client}-1`
}

/** What the next process on the same disk does with the results of the one that died. */
export async function sendLeftResults({
  queue,
  outbox,
  clock,
}: Pick<AttemptSite, 'queue' | 'outbox' | 'clock'>): Promise<void> {
  for (const item of await outbox.pending())
    await deliverItem(item, { queue, outbox, clock, logger: silentLogger })
}
