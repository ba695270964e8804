/** Lets a body say how far it is as often as it likes: some times in a second at most are told, the last one always. */

import { PROGRESS_INTERVAL_MS } from '../limits.ts'

type Tell = (done: number, total?: number, what?: string) => void

export function limitProgress(tell: Tell): { readonly progress: Tell; readonly flush: () => void } {
  let toldAtMs = -Infinity
  let waiting: Parameters<Tell> | undefined
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (waiting === undefined) return
    const told = waiting
    waiting = undefined
    toldAtMs = performance.now()
    tell(...told)
  }
  return {
    flush,
    progress: (...told) => {
      waiting = told
      const leftMs = toldAtMs + PROGRESS_INTERVAL_MS - performance.now()
      if (leftMs <= 0) flush()
      else timer ??= setTimeout(flush, leftMs).unref()
    },
  }
}
