/**
 * `perago run --watch`: one process for each run, because a module that was loaded once is never read again. Each run begins at
 * the head of the branch, so that what the run before has published is its input: without a change nothing is published.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../base/clock.ts'
import { InvalidError } from '../../base/errors.ts'
import { entryUrl } from '../../base/module-entry.ts'
import { watchSources } from '../dev/watch-sources.ts'
import { parameterFileOf, readInput } from '../json-argument.ts'
import { WATCHED_RUN_END_MS } from '../limits.ts'
import type { Terminal } from '../terminal.ts'
import type { RunOptions } from './run.ts'

/** Until the terminal says to stop. A run that fails is told, and the next change starts another. */
export async function watchTask(module: string, options: RunOptions, terminal: Terminal): Promise<void> {
  if (options.ref !== undefined) {
    throw badUsage('--watch begins each run at the head of the branch, and --ref names one commit', {
      next: 'Leave one of them out.',
    })
  }
  const stop = terminal.stopSignal()
  const input = options.params === '-' ? await readInput('--params', terminal) : undefined
  const modulePath = resolve(terminal.directory, module)
  const file = parameterFileOf(options.params)
  const changes = watchSources(dirname(modulePath), {
    clock: systemClock,
    signal: stop,
    also: file === undefined ? [] : [resolve(terminal.directory, file)],
  })
  // Looks first and runs then, so that a change during the run is not missed.
  let changed = changes.next()
  for (;;) {
    await runOnce(input, stop)
    if (stop.aborted) break
    terminal.say(terminal.style.faint('waiting for a change of a source file; Ctrl-C ends it\n'))
    const { value: paths, done } = await changed
    if (done === true) break
    changed = changes.next()
    const names = paths.map((path) => relative(terminal.directory, path)).join(', ')
    terminal.say(terminal.style.faint(`running again after a change of ${names}\n`))
  }
  await changed
}

/** What only a run of one task can do. */
export function refuseForPipelines({ dryRun, watch }: Pick<RunOptions, 'dryRun' | 'watch'>): void {
  if (dryRun !== true && watch !== true) return
  throw badUsage(`${dryRun === true ? '--dry-run' : '--watch'} is for one task of a module`, {
    next: 'Name the module behind the task, or leave the option out.',
  })
}

/** Resolves when the run has ended, whatever its outcome: it has told that itself. */
async function runOnce(input: string | undefined, stop: AbortSignal): Promise<void> {
  const main = fileURLToPath(entryUrl(import.meta.url, '../main.ts'))
  const args = process.argv.slice(2).filter((arg) => arg !== '--watch')
  const child = spawn(process.execPath, [main, ...args], {
    // Ctrl-C in a terminal reaches every process of the group, and a run that gets it twice ends at once. It gets it from here.
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'inherit', 'inherit'],
  })
  const ended = once(child, 'close')
  // A run that does not read its input has told why.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  const release = endOn(stop, child)
  try {
    await ended
  } finally {
    release()
  }
}

/** As one signal: it may finish what it has begun to publish. A second signal ends this process at once, and the run with it. */
function endOn(stop: AbortSignal, child: ChildProcess): () => void {
  let timer: NodeJS.Timeout | undefined
  const kill = (): void => void child.kill('SIGKILL')
  const end = (): void => {
    child.kill('SIGTERM')
    timer = setTimeout(kill, WATCHED_RUN_END_MS)
  }
  process.once('exit', kill)
  stop.addEventListener('abort', end, { once: true })
  if (stop.aborted) end()
  return () => {
    clearTimeout(timer)
    stop.removeEventListener('abort', end)
    process.off('exit', kill)
  }
}

function badUsage(problem: string, { next }: { readonly next: string }): InvalidError {
  return new InvalidError('cli/bad-usage', `read the command line: ${problem}`, { next })
}
