/**
 * Looks now and then for staging branches that were left behind, in each repository that workers of this root have worked on.
 * A file for each repository holds what was seen, so that it is known after a restart, and so that of several processes
 * of the root one looks:
 *
 * ```
 * root/staging/<repository>.json
 * ```
 */

import { existsSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { followSignals, isAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import { repositoryName, type RepositoryName } from '../../base/ids.ts'
import type { Logger } from '../../base/logger.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import type { WorkerObserver } from '../events.ts'
import {
  STAGING_ENDED_AGE_MS,
  STAGING_LOOK_INTERVAL_MS,
  STAGING_LOOK_MAX_MS,
  STAGING_UNKNOWN_AGE_MS,
} from '../limits.ts'
import type { TaskQueue } from '../ports.ts'
import { removeLeftStaging } from './left-staging.ts'

export interface StagingTimes {
  /** Between two looks at one repository. */
  readonly intervalMs: number
  /** How long a branch must have been seen after its attempt has ended. */
  readonly endedAgeMs: number
  /** How old a branch must be where nobody can say whether its publication is over. */
  readonly unknownAgeMs: number
}

export interface StagingCollectorOptions {
  readonly root: { readonly directory: string }
  readonly queue: Pick<TaskQueue, 'readTask' | 'readWorkflowStatus'>
  readonly openRepo: (repository: RepositoryName) => VersionedRepo
  readonly clock: Clock
  readonly logger: Logger
  readonly observe: WorkerObserver
  readonly stagingTimes?: StagingTimes | undefined
  /** Whether something is away that a look needs; then there is none. */
  readonly isAway?: () => boolean
}

const TIMES: StagingTimes = {
  intervalMs: STAGING_LOOK_INTERVAL_MS,
  endedAgeMs: STAGING_ENDED_AGE_MS,
  unknownAgeMs: STAGING_UNKNOWN_AGE_MS,
}

export class StagingCollector {
  readonly #options: StagingCollectorOptions
  readonly #times: StagingTimes
  readonly #directory: string

  constructor(options: StagingCollectorOptions) {
    this.#options = options
    this.#times = options.stagingTimes ?? TIMES
    this.#directory = join(options.root.directory, 'staging')
  }

  /** An attempt works on this repository. Never throws. */
  note(repository: RepositoryName): void {
    try {
      makeDirectory(this.#directory)
      if (!existsSync(this.#pathOf(repository))) writeFileSync(this.#pathOf(repository), '{}', { flag: 'wx' })
    } catch (error) {
      // Another process was faster, or the disk is full; it is tried again when it is noted again.
      this.#options.logger.debug('could not note a repository', { repository, error })
    }
  }

  /** Until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      for (const repository of await this.#repositories()) await this.#lookIfDue(repository, signal)
      await clock.sleep(this.#times.intervalMs / 10, signal).catch(() => undefined)
    }
  }

  async #repositories(): Promise<readonly RepositoryName[]> {
    const names = await readdir(this.#directory).catch(() => [])
    return names.filter((name) => /^[^.]+\.json$/.test(name)).map((name) => repositoryName(name.slice(0, -5)))
  }

  async #lookIfDue(repository: RepositoryName, stopping: AbortSignal): Promise<void> {
    const { clock, logger, isAway } = this.#options
    if (isAway?.() === true) return
    const nowMs = clock.now().getTime()
    const state = await this.#read(repository)
    if (isAborted(stopping) || Math.abs(nowMs - state.lookedAtMs) < this.#times.intervalMs) return
    const followed = followSignals(stopping, AbortSignal.timeout(STAGING_LOOK_MAX_MS))
    try {
      // First, so that no other process looks as well.
      await this.#write(repository, { ...state, lookedAtMs: nowMs })
      await this.#look(repository, { ...state, lookedAtMs: nowMs }, followed.signal)
    } catch (error) {
      if (isPeragoError(error) && error.code === 'lakefs/no-such-repository')
        await rm(this.#pathOf(repository), { force: true })
      // Away, or not allowed.
      if (!isAborted(stopping))
        logger.warn('could not look for staging branches left behind', { repository, error })
    } finally {
      followed.release()
    }
  }

  async #look(repository: RepositoryName, state: State, signal: AbortSignal): Promise<void> {
    const { queue, openRepo, logger, observe } = this.#options
    const { endedAgeMs, unknownAgeMs, intervalMs: turnMs } = this.#times
    const repo = openRepo(repository)
    const look = { repo, queue, notes: state, nowMs: state.lookedAtMs, endedAgeMs, unknownAgeMs, turnMs }
    const { removed, kept, notes } = await removeLeftStaging(look, { signal })
    if (removed.length > 0)
      logger.info('removed staging branches that ended attempts had left behind', { repository, removed })
    observe({ kind: 'staging-looked', repository, removed: removed.length, kept })
    await this.#write(repository, { ...notes, lookedAtMs: state.lookedAtMs })
  }

  async #read(repository: RepositoryName): Promise<State> {
    try {
      return stateSchema.parse(JSON.parse(await readFile(this.#pathOf(repository), 'utf8')))
    } catch {
      // It only says since when something was seen; then everything is seen for the first time.
      return NOTHING_SEEN
    }
  }

  async #write(repository: RepositoryName, state: State): Promise<void> {
    const path = this.#pathOf(repository)
    const temporary = join(this.#directory, `.${repository}.${process.pid}.tmp`)
    await writeFile(temporary, JSON.stringify(state), { mode: 0o600 })
    await rename(temporary, path)
  }

  #pathOf(repository: RepositoryName): string {
    return join(this.#directory, `${repository}.json`)
  }
}

const stateSchema = z.object({
  lookedAtMs: z.number().default(0),
  after: z.string().default(''),
  seen: z.record(z.string(), z.object({ head: z.string(), sinceMs: z.number() })).default({}),
})
type State = z.infer<typeof stateSchema>
const NOTHING_SEEN: State = { lookedAtMs: 0, after: '', seen: {} }
