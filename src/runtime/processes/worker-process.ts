/**
 * Entry of one worker process. It is told by its supervisor what to do, over the channel between them, so that no secret
 * stands on a command line; and it lives no longer than that channel.
 */

import { Worker } from 'node:worker_threads'
import { EXIT_CODE, errorKindOf, invariant } from '../../base/errors.ts'
import { describeError } from '../../base/error-description.ts'
import { ORPHAN_GRACE_MS } from '../limits.ts'
import { entryUrl } from '../../base/module-entry.ts'
import { createRedactor } from '../../base/redaction.ts'
import { WorkerAbandonedError } from '../../tasks/author-errors.ts'
import { loadModule } from '../../worker/bodies/load-tasks.ts'
import type { OrphanWatchData } from '../../worker/bodies/orphan-watch.ts'
import { openLogger } from '../telemetry/logging.ts'
import { openWorker, type OpenedWorker } from '../worker.ts'
import type { FromWorkerProcess, ToWorkerProcess } from './worker-processes.ts'

invariant(process.send !== undefined, 'a worker process is started by its supervisor')
const supervisorPid = process.ppid
const watched: OrphanWatchData = { parentPid: supervisorPid, graceMs: ORPHAN_GRACE_MS, group: false }
new Worker(entryUrl(import.meta.url, '../../worker/bodies/orphan-watch.ts'), { workerData: watched }).unref()
const opening: { worker?: Promise<OpenedWorker> } = {}

/** Asked before every fence. The parent's pid changes in the same instant in which the parent is gone. */
function assertSupervised(): void {
  if (process.connected && process.ppid === supervisorPid) return
  throw new WorkerAbandonedError('the supervisor of this worker is gone')
}

function tell(message: FromWorkerProcess): void {
  // A supervisor that is gone hears nothing, and `disconnect` says so.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

process.on('message', (message: ToWorkerProcess) => {
  switch (message.type) {
    case 'prepare':
      // What is wrong with it is told when it is opened.
      loadModule(message.modulePath).catch(() => undefined)
      break
    case 'start':
      start(message).catch(leave)
      break
    case 'stop':
      end((worker) => worker.close({ deadlineMs: message.deadlineMs })).catch(leave)
      break
  }
})
process.on('disconnect', () => {
  end((worker) => worker.abandon('the supervisor of this worker is gone')).catch(leave)
})
// A terminal sends these to everybody; the supervisor decides when its workers stop.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)

async function start({
  configuration,
  modulePath,
  log,
  options,
  secrets,
}: Extract<ToWorkerProcess, { type: 'start' }>): Promise<void> {
  const redactor = createRedactor(secrets)
  try {
    const logger = openLogger({ ...log, redactor })
    opening.worker = openWorker(configuration, modulePath, {
      ...options,
      logger: logger.child({ worker: options.index ?? 0 }),
      redactor,
      assertMayAct: assertSupervised,
    })
    const opened = await opening.worker
    tell({ type: 'opened', healthUrl: opened.healthUrl })
    await opened.worker.ready
    tell({ type: 'ready' })
  } catch (error) {
    tell({ type: 'failed', error: describeError(error, redactor) })
    process.exitCode = EXIT_CODE[errorKindOf(error)]
    process.disconnect()
  }
}

let ending: Promise<void> | undefined

function end(how: (worker: OpenedWorker) => Promise<unknown>): Promise<void> {
  const opened = opening.worker
  const ended = (opened ?? Promise.resolve(undefined)).then(
    async (worker) => {
      if (worker !== undefined) await how(worker)
    },
    // It failed to open, and has said so.
    () => undefined,
  )
  ending ??= ended.then(leave, leave)
  return ending
}

/** What a body left running must not keep the process, nor may it go on without a worker. */
function leave(): void {
  process.exit()
}
