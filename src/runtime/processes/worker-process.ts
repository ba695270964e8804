/**
 * Entry of one worker process. Its supervisor sends it an order over the channel between them, so no secret is on a
 * command line. When the channel closes, the process ends.
 */

import { Worker } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { EXIT_CODE, errorKindOf, invariant, messageOf } from '../../base/errors.ts'
import { originOf } from '../../base/error-origin.ts'
import { oneLine } from '../../base/one-line.ts'
import { describeError } from '../../base/error-description.ts'
import { ORPHAN_GRACE_MS, WORKER_START_CUT_WAIT_MS } from '../limits.ts'
import { entryUrl } from '../../base/module-entry.ts'
import { createRedactor, plainRedactor } from '../../base/redaction.ts'
import { WorkerAbandonedError } from '../../tasks/author-errors.ts'
import { loadModule } from '../../worker/bodies/load-tasks.ts'
import type { OrphanWatchData } from '../../worker/bodies/orphan-watch.ts'
import { catchStrayErrors } from '../../worker/bodies/stray-errors.ts'
import { openLogger } from '../telemetry/logging.ts'
import { tellTasks } from '../telemetry/task-lines.ts'
import { openWorker, type OpenedWorker } from '../worker.ts'
import { assertStartable } from './assert-startable.ts'
import type { FromWorkerProcess, ToWorkerProcess, WorkerOrder } from './worker-processes.ts'

invariant(process.send !== undefined, 'a worker process is started by its supervisor')
const supervisorPid = process.ppid
const watched: OrphanWatchData = { parentPid: supervisorPid, graceMs: ORPHAN_GRACE_MS, group: false }
new Worker(entryUrl(import.meta.url, '../../worker/bodies/orphan-watch.ts'), { workerData: watched }).unref()
const opening: { worker?: Promise<OpenedWorker> } = {}
const known = { redactor: plainRedactor }
catchStrayErrors(die)
/** Aborted when the process is asked to stop. */
const stopping = new AbortController()

/** Called before every fence. The parent's pid changes at the moment when the parent ends. */
function assertSupervised(): void {
  if (process.connected && process.ppid === supervisorPid) return
  throw new WorkerAbandonedError('the supervisor of this worker is gone')
}

function report(message: FromWorkerProcess): void {
  // If the supervisor has ended, `disconnect` is emitted.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

process.on('message', (message: ToWorkerProcess) => {
  switch (message.type) {
    case 'prepare':
      // An error is reported when the order comes.
      loadModule(message.modulePath).catch(() => undefined)
      break
    case 'examine':
      examine(message.order).catch(leave)
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
// A terminal sends these to every process of a group; the supervisor decides when its workers stop.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)

async function start({
  configuration,
  modulePath,
  log,
  options,
  secrets,
}: Extract<ToWorkerProcess, { type: 'start' }>): Promise<void> {
  const redactor = (known.redactor = createRedactor(secrets))
  try {
    const logger = openLogger({ ...log, redactor })
    const lines =
      log.tellsTasks === true ? tellTasks({ ...log, redactor }, { worker: options.index ?? 0 }) : undefined
    opening.worker = openWorker(configuration, modulePath, {
      ...options,
      logger: logger.child({ worker: options.index ?? 0 }),
      redactor,
      ...(lines && { observers: [lines], logsEnds: false }),
      assertMayAct: assertSupervised,
      signal: stopping.signal,
    })
    const opened = await opening.worker
    report({ type: 'opened', healthUrl: opened.healthUrl })
    await opened.worker.ready
    report({ type: 'ready' })
  } catch (error) {
    report({ type: 'failed', error: describeError(error, redactor) })
    process.exitCode = EXIT_CODE[errorKindOf(error)]
    process.disconnect()
  }
}

async function examine(order: WorkerOrder): Promise<void> {
  const redactor = createRedactor(order.secrets)
  try {
    await assertStartable(order, { logger: openLogger({ ...order.log, redactor }), signal: stopping.signal })
    report({ type: 'examined' })
  } catch (error) {
    report({ type: 'unfit', error: describeError(error, redactor) })
  }
}

let ending: Promise<void> | undefined

function end(stop: (worker: OpenedWorker) => Promise<unknown>): Promise<void> {
  stopping.abort(new Error('the worker process is asked to stop'))
  const tooLate = systemClock.sleep(WORKER_START_CUT_WAIT_MS).then(() => undefined)
  const ended = Promise.race([opening.worker, tooLate]).then(
    async (worker) => {
      if (worker !== undefined) await stop(worker)
    },
    // It could not be opened, which was reported.
    () => undefined,
  )
  ending ??= ended.then(leave, leave)
  return ending
}

/** The state of the process is unknown: it ends at once, and its supervisor says why. */
function die(error: unknown): void {
  const origin = originOf(error)
  const where = origin === undefined ? '' : ` (${origin})`
  const what = oneLine(known.redactor.text(messageOf(error)))
  report({ type: 'dies', how: `it ended by an error that nobody caught: ${what}${where}` })
  process.exit(1)
}

/** Ends the process also if a body left something running. */
function leave(): void {
  process.exit()
}
