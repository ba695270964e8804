/** The worker processes of `perago dev`, which are replaced when their module has changed. */

import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import type { PrestartedWorker } from '../../runtime/processes/prestarted-worker.ts'
import { startProcesses } from '../../runtime/processes/start-processes.ts'
import type { Supervisor } from '../../runtime/processes/supervisor.ts'
import { CACHE_MAX_BYTES } from '../../runtime/limits.ts'
import { workRootOf } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import type { DevServers } from './dev-servers.ts'

export interface DevWorkersOptions {
  readonly servers: DevServers
  /** Absolute. */
  readonly modulePath: string
  readonly slots: number | undefined
  readonly logger: Logger
  readonly terminal: Terminal
}

export class DevWorkers {
  readonly #options: DevWorkersOptions
  #supervisor: Supervisor | undefined

  constructor(options: DevWorkersOptions) {
    this.#options = options
  }

  /** Resolves when they take work. Rejects with what keeps them from it. */
  async start(prestarted?: PrestartedWorker): Promise<void> {
    const { servers, modulePath, slots, logger, terminal } = this.#options
    const { configuration, secrets } = servers
    this.#supervisor = await startProcesses({
      order: {
        ...{ configuration, modulePath, secrets },
        log: { ...configuration.log, isTerminal: process.stderr.isTTY },
        options: {
          root: workRootOf({}, terminal),
          cacheBytes: CACHE_MAX_BYTES,
          warm: true,
          branchHead: true,
          ...(slots === undefined ? {} : { slots }),
        },
      },
      count: 1,
      isRegistered: true,
      ...defined({ prestarted }),
      logger,
    })
    const { ready, ended } = this.#supervisor
    const why = await Promise.race([ready.then(() => undefined), ended])
    if (why === undefined) return
    throw new InvalidError('cli/workers-ended', `run the worker: it ended and is not restarted: ${why}`, {
      next: 'Fix the reason, and start again.',
    })
  }

  /** A task that runs too long for it is handed back, and starts again on the new code. */
  async stop(): Promise<void> {
    await this.#supervisor?.stop()
    this.#supervisor = undefined
  }

  /** At once. */
  kill(): void {
    this.#supervisor?.kill()
  }
}
