/**
 * A worker process that loads its code before its order is known, so that loading and checking overlap. Imports almost
 * nothing itself, so that it can be started first.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { entryUrl } from '../../base/module-entry.ts'
import { WORKER_SEMI_SPACE_MIB, WORKER_V8_THREADS } from '../limits.ts'

export interface PrestartedWorker {
  readonly child: ChildProcess
  /** Reserves it for one order. `false`: it has ended, or is reserved already. */
  claim(): boolean
  /** Ends it unless it was claimed. May be called again. */
  discard(): void
}

/**
 * A worker waits more than it computes: V8 would let what lives shortly grow to 48 MiB before it looks, and keep memory for
 * four threads of its own.
 */
function nodeOptions(): string[] {
  const chosen = process.env['NODE_OPTIONS'] ?? ''
  return [
    ...(/semi[-_]space/.test(chosen) ? [] : [`--max-semi-space-size=${WORKER_SEMI_SPACE_MIB}`]),
    ...(/v8[-_]pool/.test(chosen) ? [] : [`--v8-pool-size=${WORKER_V8_THREADS}`]),
  ]
}

/** `modulePath`: a module to load in advance. Its errors are reported when the process gets its order. */
export function prestartWorker(modulePath?: string): PrestartedWorker {
  const child = fork(entryUrl(import.meta.url, './worker-process.ts'), [], {
    serialization: 'advanced',
    // The options of this process need not fit there; NODE_OPTIONS reaches both.
    execArgv: nodeOptions(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  if (modulePath !== undefined) child.send({ type: 'prepare', modulePath }, () => undefined)
  let isFree = true
  const claim = (): boolean => {
    const wasFree = isFree
    isFree = false
    return wasFree
  }
  child.once('exit', claim)
  // Who claims it listens as well; before that an error only means that there is no such process.
  child.once('error', claim)
  return {
    child,
    claim,
    discard: () => {
      if (claim()) child.kill('SIGKILL')
    },
  }
}
