// The tasks of our worker: its own, and one that both sides work on.
import { declare } from './declare.mjs'

export const own = declare('interop_ts')

/** A worker that dies is noticed soon, and one that is killed cannot take its own retry. */
export const shared = declare('interop_shared', {
  retry: { delaySeconds: 2 },
  timeout: { responseSeconds: 6 },
  publishBudget: { publishSeconds: 2, completionSeconds: 1, heartbeatSeconds: 1, shutdownGraceSeconds: 1 },
})
