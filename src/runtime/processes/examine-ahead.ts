/** Lets the process that will be the first worker look for what would keep it from starting: this one need not load the tasks. */

import { abortReason } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { ErrorCause, ErrorDescription } from '../../base/error-description.ts'
import { InvalidError, PeragoError, type ErrorKind } from '../../base/errors.ts'
import { describeExit } from '../../worker/bodies/describe-exit.ts'
import type { PrestartedWorker } from './prestarted-worker.ts'
import type { FromWorkerProcess, ToWorkerProcess, WorkerOrder } from './worker-processes.ts'

/** Throws what it found. `false`: the process cannot be asked. */
export async function examineAhead(
  { child }: PrestartedWorker,
  order: WorkerOrder,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (!child.connected) return false
  const request: ToWorkerProcess = { type: 'examine', order }
  let stopListening = (): void => undefined
  try {
    await new Promise<void>((resolve, reject) => {
      const onMessage = (message: unknown): void => {
        const report = message as FromWorkerProcess
        if (report.type === 'examined') resolve()
        else if (report.type === 'unfit') reject(new ReportedError(report.error))
      }
      const onExit = (code: number | null, by: NodeJS.Signals | null): void => reject(endedEarly(code, by))
      const onAbort = (): void => reject(abortReason(signal))
      child.on('message', onMessage)
      child.once('exit', onExit)
      signal?.addEventListener('abort', onAbort, { once: true })
      stopListening = () => {
        child.off('message', onMessage)
        child.off('exit', onExit)
        signal?.removeEventListener('abort', onAbort)
      }
      if (signal?.aborted === true) onAbort()
      // Without it the process has ended, which is told by `exit`.
      else child.send(request, () => undefined)
    })
    return true
  } finally {
    stopListening()
  }
}

/** An error of another process, as it described it. */
class ReportedError extends PeragoError {
  readonly kind: ErrorKind
  readonly read: string | undefined
  readonly retryAfterMs: number | undefined

  constructor({ kind, code, message, next, read, retryAfterMs, details, causes = [] }: ErrorDescription) {
    super(code, message, { ...defined({ details, next }), cause: chainOf(causes) })
    this.kind = kind
    this.read = read
    this.retryAfterMs = retryAfterMs
  }
}

function chainOf([first, ...others]: readonly ErrorCause[]): Error | undefined {
  if (first === undefined) return undefined
  return Object.assign(new Error(first.message, { cause: chainOf(others) }), defined({ code: first.code }))
}

function endedEarly(code: number | null, signal: NodeJS.Signals | null): Error {
  return new InvalidError(
    'runtime/workers-ended',
    `start the tasks: the process that loads them ended: ${describeExit(code, signal)}`,
    { next: 'Load the module alone, with "perago check", and see what it does while it is loaded.' },
  )
}
