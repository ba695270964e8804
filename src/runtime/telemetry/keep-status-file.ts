/** Writes the status of a worker to its file while it runs. Nothing waits for it, and the worker goes on when it cannot be written. */

import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { Logger } from '../../base/logger.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { once } from '../../base/once.ts'
import type { ProcessIdentity } from '../../base/process-identity.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { WorkerEvent } from '../../worker/events.ts'
import type { WorkerStatus } from '../../worker/worker.ts'
import { STATUS_LOOK_MS, STATUS_WRITE_MS } from '../limits.ts'
import { StatusHistory } from './status-history.ts'
import { describeStatus, encodeStatus } from './describe-status.ts'
import { statusDirectory } from './status-file.ts'

export interface KeepStatusOptions {
  readonly root: string
  /** The number of this worker among those of its root. */
  readonly index: number
  readonly process: ProcessIdentity
  readonly workerId: string
  readonly redactor: Redactor
  readonly logger: Logger
  readonly clock?: Clock
}

export interface KeptStatus {
  /** For the events of the worker. */
  readonly observe: (event: WorkerEvent) => void
  /** Begins to write what `status` returns. */
  start(status: () => WorkerStatus): void
  /** Ends it, and removes the file. May be called twice. */
  close(): Promise<void>
}

export function keepStatusFile(options: KeepStatusOptions): KeptStatus {
  const { root, index, logger, clock = systemClock } = options
  const directory = statusDirectory(root)
  const path = join(directory, `${index}.json`)
  const history = new StatusHistory(options.redactor, clock)
  const closing = new AbortController()
  let keeping: Promise<void> | undefined
  const write = async (text: string): Promise<void> => {
    makeDirectory(directory)
    // Whoever reads it sees one whole status or another.
    await writeFile(`${path}.new`, text, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }
  const keep = async (status: () => WorkerStatus): Promise<void> => {
    const last = { what: '', atMs: -Infinity, failed: false }
    while (!closing.signal.aborted) {
      try {
        const now = describeStatus(status(), { ...options, history, clock })
        const what = changingPartOf(now)
        if (what !== last.what || clock.monotonicMs() - last.atMs >= STATUS_WRITE_MS) {
          await write(encodeStatus(now))
          Object.assign(last, { what, atMs: clock.monotonicMs(), failed: false })
        }
      } catch (error) {
        if (!last.failed) logger.warn('the status of the worker could not be written; it goes on', { error })
        last.failed = true
      }
      await clock.sleep(STATUS_LOOK_MS, closing.signal).catch(() => undefined)
    }
  }
  return {
    observe: (event) => history.note(event),
    start(status) {
      keeping ??= keep(status)
    },
    close: once(async () => {
      closing.abort()
      await keeping
      for (const file of [path, `${path}.new`]) await rm(file, { force: true }).catch(() => undefined)
    }),
  }
}

/** Without the times that go on while it only waits for work. */
function changingPartOf(status: ReturnType<typeof describeStatus>): string {
  const polls = status.polls.map((poll) => ({ ...poll, succeededAt: poll.succeededAt !== undefined }))
  const attempts = status.attempts.map(({ taskId, retryCount, step, renewedAt }) => [
    ...[taskId, retryCount, step, renewedAt],
  ])
  const { state, slots, outages, files, ended, oldestResultAt } = status
  const what = outages.map(({ what: of, why }) => [of, why])
  const ends = ended.map(({ at, taskId }) => [at, taskId])
  return JSON.stringify({
    ...{ state, slots, what, files, ends, polls, attempts },
    ...defined({ oldestResultAt: oldestResultAt === undefined ? undefined : true }),
  })
}
