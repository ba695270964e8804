import { join, resolve } from 'node:path'
import { InvalidError } from '../../base/errors.ts'
import { CACHE_MAX_BYTES } from '../../runtime/limits.ts'
import type { PrestartedWorker } from '../../runtime/processes/prestarted-worker.ts'
import { startProcesses } from '../../runtime/processes/start-processes.ts'
import { loadForCommand, loggerForCommand } from '../configured.ts'
import { WORK_ROOT, type ConfiguredOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export interface StartOptions extends Omit<ConfiguredOptions, 'json'> {
  readonly jobs: number
  readonly slots?: number
  readonly domain?: string
  readonly allowDrift?: boolean
  readonly root?: string
  readonly cacheSize?: string
  /** False for `--no-warm`. */
  readonly warm?: boolean
  readonly healthPort?: number
  readonly healthHost?: string
}

/** Works until the terminal says to stop. Standard output gets one line, when every process takes work. */
export async function startTasks(
  module: string,
  options: StartOptions,
  { terminal, prestarted }: { readonly terminal: Terminal; readonly prestarted: PrestartedWorker },
): Promise<void> {
  const loaded = await loadForCommand(options, terminal, {
    ...(options.cacheSize === undefined
      ? {}
      : { 'cache.size': { flag: '--cache-size', value: options.cacheSize } }),
    ...(options.warm === false ? { 'cache.warm': { flag: '--no-warm', value: false } } : {}),
  })
  const logger = loggerForCommand(loaded, terminal)
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  const root = resolve(terminal.directory, options.root ?? join(...WORK_ROOT))
  const health =
    options.healthPort === undefined
      ? {}
      : {
          health: {
            port: options.healthPort,
            ...(options.healthHost === undefined ? {} : { host: options.healthHost }),
          },
        }
  const supervisor = await startProcesses({
    order: {
      configuration: loaded.configuration,
      modulePath: resolve(terminal.directory, module),
      secrets: loaded.secrets,
      log: { ...loaded.configuration.log, isTerminal: process.stderr.isTTY },
      options: {
        root,
        ...health,
        cacheBytes: loaded.settings['cache.size'].value ?? CACHE_MAX_BYTES,
        warm: loaded.settings['cache.warm'].value ?? true,
        ...(options.slots === undefined ? {} : { slots: options.slots }),
        ...(options.domain === undefined ? {} : { domain: options.domain }),
        ...(options.allowDrift === undefined ? {} : { allowDrift: options.allowDrift }),
      },
    },
    count: options.jobs,
    prestarted,
    logger,
    signal: stop,
    onHealth: (index, url) => terminal.say(`worker ${index}: health and metrics at ${url}\n`),
  })
  // Whatever keeps it from stopping comes by `ended`, too.
  const onStop = (): void => void supervisor.stop().catch(() => undefined)
  stop.addEventListener('abort', onStop, { once: true })
  if (stop.aborted) onStop()
  await Promise.race([supervisor.ready, supervisor.ended])
  if (supervisor.pids().length > 0 && !stop.aborted)
    terminal.answer(`ready ${options.jobs} worker${options.jobs === 1 ? '' : 's'} in ${root}\n`)
  const why = await supervisor.ended
  if (why === undefined) return
  throw new InvalidError('cli/workers-ended', `keep the workers running: one ended for good: ${why}`, {
    next: 'Mend what it names, and start again.',
  })
}
