/** The supervisor's side of worker processes: starts them, and tells how they ended. */

import type { ErrorDescription } from '../../base/error-description.ts'
import { renderError } from '../../base/error-description.ts'
import type { LogLevel } from '../../base/logger.ts'
import type { LogFormat, PeragoConfiguration } from '../configuration/configuration.ts'
import { hireProcess, type HiredProcess } from './prestarted-process.ts'
import type { WorkerEnd, WorkerProcess } from './supervisor.ts'
import type { OpenWorkerOptions } from '../worker.ts'

/** What a worker process is told to do. Plain data. */
export interface WorkerOrder {
  readonly configuration: PeragoConfiguration
  readonly modulePath: string
  /** Kept out of whatever is shown. */
  readonly secrets: readonly string[]
  readonly log: { readonly level: LogLevel; readonly format: LogFormat; readonly isTerminal: boolean }
  readonly options: Omit<OpenWorkerOptions, 'logger' | 'redactor' | 'assertMayAct' | 'observers'>
}

export type ToWorkerProcess =
  | { readonly type: 'prepare'; readonly modulePath: string }
  | ({ readonly type: 'start' } & WorkerOrder)
  | { readonly type: 'stop'; readonly deadlineMs: number }

export type FromWorkerProcess =
  | { readonly type: 'opened'; readonly healthUrl: string | undefined }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly error: ErrorDescription }

/** Whose errors another start would only repeat. */
const FOR_GOOD: readonly string[] = ['invalid', 'missing', 'refused']

export interface SpawnOptions {
  readonly onOpened?: (healthUrl: string | undefined) => void
  /** Takes this process, if it still can be had. */
  readonly hired?: HiredProcess | undefined
}

/** Starts one worker process; give this to `superviseWorkers` as `spawn`. */
export function spawnWorker(order: WorkerOrder, { onOpened, hired }: SpawnOptions = {}): WorkerProcess {
  const found = hired?.employ() === true ? hired : hireProcess()
  found.employ()
  const { child } = found
  let becomeReady: () => void = () => undefined
  let failure: ErrorDescription | undefined
  const send = (message: ToWorkerProcess): void => {
    // A process that is gone says so through `ended`.
    if (child.connected) child.send(message, () => undefined)
  }
  child.on('message', (message) => {
    const said = message as FromWorkerProcess
    if (said.type === 'opened') onOpened?.(said.healthUrl)
    else if (said.type === 'ready') becomeReady()
    else failure = said.error
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
            how: signal === null ? `it ended with status ${code ?? '?'}` : `it was killed by ${signal}`,
            isForGood: false,
          })
      })
    }),
    stop: (deadlineMs) => send({ type: 'stop', deadlineMs }),
    kill: () => child.kill('SIGKILL'),
  }
}
