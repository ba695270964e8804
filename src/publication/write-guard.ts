/**
 * What every branch write of this room passes in its last moment: its attempt is current, the branch stands where it was
 * judged to stand, and both were answered no longer ago than the limit when the first byte leaves. Neither a queue nor a
 * slow connection, nor anything else between the reading and the sending, can stretch that.
 */

import { UnavailableError } from '../base/errors.ts'
import type { BranchName } from '../base/ids.ts'
import { PUBLICATION_CONFIRMATION_AGE_MAX_MS, PUBLICATION_READING_ROUNDS_MAX } from './limits.ts'
import {
  ageOf,
  planReadings,
  type PlannedReading,
  type Reading,
  type ReadingSubject,
} from './planned-readings.ts'
import type { CallOptions, CommitRecord, WriteGuard } from './ports.ts'
import { checkAuthority, readHead, type Session } from './session.ts'

/** Of the moment in which the first byte was sent. */
export interface WriteFigures {
  /** How long ago the older of the two was answered. */
  readonly ageMs: number
  readonly attemptAgeMs?: number
  readonly headAgeMs: number
}

export interface PublicationGuard extends WriteGuard {
  /** `undefined`: nothing was sent. */
  readonly figures: WriteFigures | undefined
  /** What `confirm` said or threw keeps the write from being sent. */
  readonly isStopped: boolean
}

export function openWriteGuard(
  session: Session,
  of: {
    readonly branch: BranchName
    /** Whether the write is still the right one on this head; throws when nothing may be written at all. */
    readonly judge: (head: CommitRecord | undefined) => boolean
  },
): PublicationGuard {
  return new Guard(session, of)
}

class Guard implements PublicationGuard {
  figures: WriteFigures | undefined
  isStopped = false
  readonly #session: Session
  readonly #of: Parameters<typeof openWriteGuard>[1]
  readonly #subjects: readonly ReadingSubject[]
  readonly #readings: Partial<Record<ReadingSubject, Reading>> = {}

  constructor(session: Session, of: Parameters<typeof openWriteGuard>[1]) {
    this.#session = session
    this.#of = of
    // An actor has no attempt.
    this.#subjects = session.authority.kind === 'actor' ? ['head'] : ['attempt', 'head']
  }

  async confirm(options: CallOptions): Promise<boolean> {
    this.isStopped = true
    const isWanted = await this.#readUntilYoung(options)
    this.isStopped = !isWanted
    return isWanted
  }

  mayBegin(): boolean {
    const nowMs = this.#session.clock.monotonicMs()
    const ageMs = ageOf(this.#subjects, this.#readings, nowMs)
    if (ageMs > PUBLICATION_CONFIRMATION_AGE_MAX_MS) return false
    const { attempt, head } = this.#readings
    this.figures = {
      ageMs,
      ...(attempt !== undefined && { attemptAgeMs: nowMs - attempt.answeredAtMs }),
      headAgeMs: nowMs - (head?.answeredAtMs ?? nowMs),
    }
    return true
  }

  async #readUntilYoung(options: CallOptions): Promise<boolean> {
    const { clock } = this.#session
    for (let round = 0; round < PUBLICATION_READING_ROUNDS_MAX; round++) {
      const due = planReadings(this.#subjects, this.#readings, clock.monotonicMs())
      if (due.length === 0) return true
      const [ofAttempt, ofHead] = (['attempt', 'head'] as const).map((subject) => {
        const planned = due.find((one) => one.subject === subject)
        return planned === undefined ? Promise.resolve(true) : this.#read(planned, options)
      })
      await Promise.allSettled([ofAttempt, ofHead])
      // Of two failures the attempt's comes first: a stale attempt learns nothing of the branch.
      await ofAttempt
      if ((await ofHead) === false) return false
    }
    throw new UnavailableError(
      'publication/not-confirmed',
      `write branch "${this.#of.branch}": attempt and branch could not be read quickly enough, so nothing was sent`,
      {
        details: { branch: this.#of.branch },
        next: 'See that Conductor and lakeFS answer within two seconds; the task is tried again under its own retry settings.',
      },
    )
  }

  async #read({ subject, inMs }: PlannedReading, options: CallOptions): Promise<boolean> {
    const { clock } = this.#session
    if (inMs > 0) await clock.sleep(inMs, options.signal)
    const askedAtMs = clock.monotonicMs()
    if (subject === 'attempt') {
      await checkAuthority(this.#session, 'before-publishing')
      this.#readings.attempt = { askedAtMs, answeredAtMs: clock.monotonicMs() }
      return true
    }
    const head = await readHead(this.#session, this.#of.branch, options)
    this.#readings.head = { askedAtMs, answeredAtMs: clock.monotonicMs() }
    return this.#of.judge(head)
  }
}
