import { resolve } from 'node:path'
import { aborted } from '../../base/abort-signals.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import { CACHE_MAX_BYTES } from '../../runtime/limits.ts'
import type { PrestartedWorker } from '../../runtime/processes/prestarted-worker.ts'
import { startProcesses } from '../../runtime/processes/start-processes.ts'
import { loadForCommand } from '../configured.ts'
import { revisionOf } from '../revision.ts'
import { workRootOf, type ConfiguredOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export interface StartOptions extends Omit<ConfiguredOptions, 'json'> {
  readonly jobs: number
  readonly slots?: number
  readonly domain?: string
  readonly allowDrift?: boolean
  readonly quiet?: boolean
  readonly revision?: string
  readonly root?: string
  readonly cacheSize?: string
  /** False for `--no-warm`. */
  readonly warm?: boolean
  readonly healthPort?: number
  readonly healthHost?: string
  /** In seconds. */
  readonly stopDeadline?: number
}

/** Works until the terminal says to stop. Standard output gets one line, when every process takes work. */
export async function startTasks(
  module: string,
  options: StartOptions,
  { terminal, prestarted }: { readonly terminal: Terminal; readonly prestarted: PrestartedWorker },
): Promise<void> {
  const loaded = await loadForCommand(options, terminal, {
    'cache.size': { flag: '--cache-size', value: options.cacheSize },
    'cache.warm': { flag: '--no-warm', value: options.warm === false ? false : undefined },
  })
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  const root = workRootOf(options, terminal)
  const { slots, domain, allowDrift, healthPort: port, healthHost: host } = options
  const health = port === undefined ? undefined : { port, ...defined({ host }) }
  const supervisor = await startProcesses({
    order: {
      configuration: loaded.configuration,
      modulePath: resolve(terminal.directory, module),
      secrets: loaded.secrets,
      log: {
        ...loaded.configuration.log,
        isTerminal: process.stderr.isTTY,
        tellsTasks: options.quiet !== true,
      },
      options: {
        root,
        cacheBytes: loaded.settings['cache.size'].value ?? CACHE_MAX_BYTES,
        warm: loaded.settings['cache.warm'].value ?? true,
        ...defined({ health, slots, domain, allowDrift }),
        ...defined({ codeVersion: await revisionOf(module, options, terminal) }),
        ...defined({ outageGiveUpMs: loaded.settings['outages.giveUpAfter'].value }),
      },
    },
    count: options.jobs,
    prestarted,
    logger: loaded.logger,
    signal: stop,
    onHealth: (index, url) => terminal.say(`worker ${index}: health and metrics at ${url}\n`),
  })
  // A second signal ends this process at once, and the others with it.
  const kill = (): void => supervisor.kill()
  process.once('exit', kill)
  const { stopDeadline } = options
  // A failure to stop also shows in `ended`.
  aborted(stop)
    .then(() => supervisor.stop(stopDeadline === undefined ? {} : { deadlineMs: stopDeadline * 1_000 }))
    .catch(() => undefined)
  await Promise.race([supervisor.ready, supervisor.ended])
  if (supervisor.pids().length > 0 && !stop.aborted)
    terminal.answer(`ready ${options.jobs} worker${options.jobs === 1 ? '' : 's'} in ${root}\n`)
  const why = await supervisor.ended
  process.off('exit', kill)
  if (why === undefined) return
  throw new InvalidError('cli/workers-ended', `run the workers: one ended and is not restarted: ${why}`, {
    next: 'Fix the reason, and start again.',
  })
}
