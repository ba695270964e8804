/** What a worker's status tells of the past: how its attempts ended, and where their files came from. */

import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/errors.ts'
import { oneLine, shortened } from '../../base/one-line.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { WorkerEvent } from '../../worker/events.ts'
import { STATUS_ENDS_MAX, STATUS_REASON_MAX_CHARS } from '../limits.ts'
import { shownName, type StatusFile } from './status-file.ts'

type Ended = StatusFile['ended'][number]
type AttemptEnded = Extract<WorkerEvent, { kind: 'attempt-ended' }>

export class StatusHistory {
  readonly #redactor: Redactor
  readonly #clock: Clock
  #ended: readonly Ended[] = []
  readonly #files = { fetched: 0, fetchedBytes: 0, cached: 0, cachedBytes: 0, warmDirectories: 0 }

  constructor(redactor: Redactor, clock: Clock) {
    this.#redactor = redactor
    this.#clock = clock
  }

  get ended(): readonly Ended[] {
    return this.#ended
  }

  get files(): StatusFile['files'] {
    return { ...this.#files }
  }

  note(event: WorkerEvent): void {
    if (event.kind === 'attempt-ended') this.#noteEnd(event)
    if (event.kind !== 'step') return
    const { step, outcome, details } = event.event
    if (step === 'lay-out' && outcome === 'done') this.#countFiles(details)
  }

  /** Reasons for humans, as the log has them. */
  reason(text: string): string {
    return shortened(oneLine(this.#redactor.text(text)), STATUS_REASON_MAX_CHARS)
  }

  #noteEnd({ attempt, summary, error }: AttemptEnded): void {
    const outcome = outcomeOf(summary, error)
    if (outcome === undefined) return
    const { taskId, workflowId, taskName, retryCount } = attempt
    const ended: Ended = {
      at: this.#clock.now().toISOString(),
      taskId: shownName(taskId),
      workflowId: shownName(workflowId),
      taskType: shownName(taskName),
      retryCount,
      outcome,
      ...defined({ code: summary.errorCode }),
      why: this.reason(error === undefined ? WITHOUT_ERROR[outcome] : messageOf(error)),
    }
    this.#ended = [ended, ...this.#ended].slice(0, STATUS_ENDS_MAX)
  }

  #countFiles(details: Readonly<Record<string, unknown>>): void {
    if (details['isWarm'] === true) {
      this.#files.warmDirectories += 1
      return
    }
    const of = (name: string): number => Number(details[name] ?? 0)
    this.#files.cached += of('cachedFiles')
    this.#files.cachedBytes += of('cachedBytes')
    this.#files.fetched += of('files') - of('cachedFiles')
    this.#files.fetchedBytes += of('bytes') - of('cachedBytes')
  }
}

const WITHOUT_ERROR: Readonly<Record<Ended['outcome'], string>> = {
  failed: 'the task failed',
  'handed-back': 'the task was handed back',
  superseded: 'the task was decided without this result',
  refused: 'the queue did not take the result',
}

/** `undefined`: it succeeded, or goes on by its own wish. */
function outcomeOf(
  { status, delivery }: AttemptEnded['summary'],
  error: unknown,
): Ended['outcome'] | undefined {
  if (delivery === 'superseded' || delivery === 'refused') return delivery
  if (status === 'IN_PROGRESS') return error === undefined ? undefined : 'handed-back'
  return status === 'COMPLETED' ? undefined : 'failed'
}
