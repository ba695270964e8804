/**
 * A worker process that loads its code before it is known what it is for: a start then waits for one loading, not for
 * two, one after the other. Imports next to nothing itself, so that it can be had first of all.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { entryUrl } from '../../base/module-entry.ts'

export interface HiredProcess {
  readonly child: ChildProcess
  /** Ends it, unless it was given work. Again: nothing. */
  dismiss(): void
  /** It has work from here. `false`: it is gone, or has some already. */
  employ(): boolean
}

/** `modulePath`: the tasks it may be given, which it loads as well; what is wrong with them it tells when it is given them. */
export function hireProcess(modulePath?: string): HiredProcess {
  const child = fork(entryUrl(import.meta.url, './worker-process.ts'), [], {
    serialization: 'advanced',
    // What the supervisor was started with need not make sense here; NODE_OPTIONS reaches both.
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  if (modulePath !== undefined) child.send({ type: 'prepare', modulePath }, () => undefined)
  let isIdle = true
  const end = (): void => {
    isIdle = false
  }
  child.once('exit', end)
  // Whoever employs it listens as well; until then it only means that there is none.
  child.once('error', end)
  return {
    child,
    dismiss: () => {
      if (!isIdle) return
      isIdle = false
      child.kill('SIGKILL')
    },
    employ: () => {
      const isFree = isIdle
      isIdle = false
      return isFree
    },
  }
}
