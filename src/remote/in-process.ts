/** Carries requests to a server in this process, as a pool of undici would carry them to another one. */

import type { Dispatcher } from 'undici'

type Carried = Pick<Dispatcher, 'dispatch' | 'destroy'>

export function answerInProcess(
  answer: (request: Request) => Response | Promise<Response>,
  origin = 'http://localhost',
): Carried {
  const running = new Set<AbortController>()
  const carry = async (
    { method, path, headers, body }: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    stop: AbortController,
  ): Promise<void> => {
    const control = controlOf(stop)
    handler.onRequestStart?.(control, {})
    const request = new Request(new URL(path, origin), {
      ...{ method, headers: headers as Record<string, string>, signal: stop.signal },
      body: body as string | null,
    })
    const response = await Promise.race([answer(request), aborted(stop.signal)])
    const answered = Object.fromEntries(response.headers)
    handler.onResponseStart?.(control, response.status, answered, response.statusText)
    // What it answers is in memory already, so that it need not be read piece by piece.
    const bytes = Buffer.from(await response.arrayBuffer())
    if (bytes.byteLength > 0) handler.onResponseData?.(control, bytes)
    handler.onResponseEnd?.(control, {})
  }
  return {
    dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
      const stop = new AbortController()
      running.add(stop)
      carry(options, handler, stop)
        .catch((error: unknown) => handler.onResponseError?.(controlOf(stop), error as Error))
        .finally(() => running.delete(stop))
        // As with a pool, a handler that fails has nobody to tell.
        .catch(() => undefined)
      return true
    },
    destroy: () => {
      for (const stop of running) stop.abort(new Error('the client is closed'))
      return Promise.resolve()
    },
  }
}

function controlOf(stop: AbortController): Dispatcher.DispatchController {
  return {
    get aborted() {
      return stop.signal.aborted
    },
    get reason() {
      return stop.signal.reason as Error | null
    },
    paused: false,
    abort: (reason) => stop.abort(reason),
    pause: () => undefined,
    resume: () => undefined,
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
