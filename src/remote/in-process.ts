/** Carries requests to a server in this process, as a pool of undici would carry them to another one. */

import type { Dispatcher } from 'undici'

type Carried = Pick<Dispatcher, 'dispatch' | 'destroy'>
type Handler = Dispatcher.DispatchHandler

export function answerInProcess(
  answer: (request: Request) => Response | Promise<Response>,
  origin = 'http://localhost',
): Carried {
  const running = new Set<AbortController>()
  const carry = async (
    { method, path, headers, body }: Dispatcher.DispatchOptions,
    handler: Handler,
  ): Promise<void> => {
    const stop = new AbortController()
    const control = controlOf(stop)
    running.add(stop)
    try {
      handler.onRequestStart?.(control, {})
      const request = new Request(new URL(path, origin), {
        ...{ method, headers: headers as Record<string, string>, signal: stop.signal },
        body: body === null ? null : (body as string | Uint8Array<ArrayBuffer>),
      })
      const response = await Promise.race([answer(request), aborted(stop.signal)])
      handler.onResponseStart?.(
        ...[control, response.status, Object.fromEntries(response.headers)],
        response.statusText,
      )
      // What it answers is in memory already, so that it need not be read on piece by piece.
      const bytes = Buffer.from(await response.arrayBuffer())
      if (bytes.byteLength > 0) handler.onResponseData?.(control, bytes)
      handler.onResponseEnd?.(control, {})
    } catch (error) {
      handler.onResponseError?.(control, error instanceof Error ? error : new Error(String(error)))
    } finally {
      running.delete(stop)
    }
  }
  return {
    dispatch(options, handler) {
      void carry(options, handler)
      return true
    },
    destroy: () => {
      for (const stop of running) stop.abort(new Error('the client is closed'))
      return Promise.resolve()
    },
  } as Carried
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
