/** The supervisor's side of worker processes: starts them, and reports how they ended. */

import type { ErrorDescription } from '../../base/error-description.ts'
import { renderError } from '../../base/error-description.ts'
import type { LogLevel } from '../../base/logger.ts'
import type { LogFormat, PeragoConfiguration } from '../configuration/configuration.ts'
import { describeExit } from '../../worker/bodies/describe-exit.ts'
import { prestartWorker, type PrestartedWorker } from './prestarted-worker.ts'
import type { WorkerEnd, WorkerProcess } from './supervisor.ts'
import type { OpenWorkerOptions } from '../worker.ts'

/** What a worker process is told to do. Plain data. */
export interface WorkerOrder {
  readonly configuration: PeragoConfiguration
  readonly modulePath: string
  /** Never shown in logs or errors. */
  readonly secrets: readonly string[]
  readonly log: {
    readonly level: LogLevel
    readonly format: LogFormat
    readonly isTerminal: boolean
    /** Writes one line for each task that has ended, whatever the level is. */
    readonly tellsTasks?: boolean
  }
  readonly options: Omit<
    OpenWorkerOptions,
    'logger' | 'redactor' | 'assertMayAct' | 'observers' | 'signal' | 'logsEnds'
  >
}

export type ToWorkerProcess =
  | { readonly type: 'prepare'; readonly modulePath: string }
  /** Answered with `examined` or `unfit`; nothing is begun. */
  | { readonly type: 'examine'; readonly order: WorkerOrder }
  | ({ readonly type: 'start' } & WorkerOrder)
  | { readonly type: 'stop'; readonly deadlineMs: number }

export type FromWorkerProcess =
  | { readonly type: 'examined' }
  | { readonly type: 'unfit'; readonly error: ErrorDescription }
  | { readonly type: 'opened'; readonly healthUrl: string | undefined }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly error: ErrorDescription }
  /** It ends by an error that nobody caught. */
  | { readonly type: 'dies'; readonly how: string }

/** Kinds of errors that a restart would only repeat. */
const FOR_GOOD: readonly string[] = ['invalid', 'missing', 'refused']

export interface SpawnOptions {
  readonly onOpened?: (healthUrl: string | undefined) => void
  /** Used if it is still free. */
  readonly prestarted?: PrestartedWorker | undefined
}

/** Starts one worker process; give this to `superviseWorkers` as `spawn`. */
export function spawnWorker(order: WorkerOrder, { onOpened, prestarted }: SpawnOptions = {}): WorkerProcess {
  const worker = prestarted?.claim() === true ? prestarted : prestartWorker()
  worker.claim()
  const { child } = worker
  let becomeReady: () => void = () => undefined
  let failure: ErrorDescription | undefined
  let diedBy: string | undefined
  const send = (message: ToWorkerProcess): void => {
    // That a process has ended is reported by `ended`.
    if (child.connected) child.send(message, () => undefined)
  }
  child.on('message', (message) => {
    const report = message as FromWorkerProcess
    if (report.type === 'opened') onOpened?.(report.healthUrl)
    else if (report.type === 'ready') becomeReady()
    else if (report.type === 'dies') diedBy = report.how
    else if (report.type === 'failed') failure = report.error
  })
  send({ type: 'start', ...order })
  return {
    pid: child.pid,
    ready: new Promise((resolve) => (becomeReady = resolve)),
    ended: new Promise<WorkerEnd>((resolve) => {
      child.once('error', (error) =>
        resolve({ how: `it could not be started: ${error.message}`, isForGood: false }),
      )
      child.once('exit', (code, signal) => {
        if (failure !== undefined)
          resolve({ how: renderError(failure), isForGood: FOR_GOOD.includes(failure.kind) })
        else
          resolve({
            how: diedBy ?? describeExit(code, signal),
            isForGood: false,
          })
      })
    }),
    stop: (deadlineMs) => send({ type: 'stop', deadlineMs }),
    kill: () => child.kill('SIGKILL'),
  }
}
