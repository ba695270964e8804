/**
 * Errors that nobody catches, told to the body in this thread that they come from: of a promise that was not awaited, or thrown in
 * a timer or a listener. `process.exit()` in a body is such an error, too: other attempts share the process.
 *
 * Where nobody has called `catchStrayErrors`, they do what they do in every program of Node.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { isPeragoError } from '../../base/errors.ts'
import { originOf } from '../../base/error-origin.ts'
import { BodyExitedError, BodyFailedError } from '../../tasks/author-errors.ts'

type Tell = (error: Error) => void

/** In everything that a body begins: how its run is told. */
const bodies = new AsyncLocalStorage<Tell>()
let catching = 0

/** Runs the body; `tell` gets what nobody catches of all that it began, also when it has ended. */
export async function withinBody<T>(tell: Tell | undefined, body: () => Promise<T>): Promise<T> {
  if (tell === undefined || catching === 0) return body()
  const result = await bodies.run(tell, body)
  // What is rejected by now and was not awaited is told before the result counts.
  await new Promise((resolve) => setImmediate(resolve))
  return result
}

/**
 * For programs that own their process. `others` gets what comes from no body, where Node would end the process. Returns how to stop
 * it.
 */
export function catchStrayErrors(others: (error: unknown) => void): () => void {
  const onError = (error: unknown): void => {
    const tell = bodies.getStore()
    if (tell === undefined) others(error)
    else tell(strayErrorOf(error))
  }
  const exit = process.exit.bind(process)
  const guarded = (code?: string | number | null): never => {
    const tell = bodies.getStore()
    if (tell === undefined) return exit(code)
    const error = exitedBy(guarded, code)
    tell(error)
    throw error
  }
  catching++
  process.on('uncaughtException', onError)
  // As it would come to the other one, unless the author listens to it.
  process.on('unhandledRejection', onError)
  process.exit = guarded
  return () => {
    catching--
    process.off('uncaughtException', onError)
    process.off('unhandledRejection', onError)
    process.exit = exit
  }
}

/** What an author threw on purpose means the same wherever it was thrown. */
export function strayErrorOf(error: unknown): Error {
  return isPeragoError(error) ? error : new BodyFailedError(error, { isStray: true })
}

/** `exit`: the function that was called; the line is that of its caller. */
export function exitedBy(
  exit: (code?: string | number | null) => never,
  code: string | number | null | undefined,
): BodyExitedError {
  const call = new Error('process.exit')
  Error.captureStackTrace(call, exit)
  return new BodyExitedError(code, originOf(call))
}
