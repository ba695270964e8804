import { dirname, relative } from 'node:path'
import { aborted } from '../../base/abort-signals.ts'
import { systemClock } from '../../base/clock.ts'
import { renderError, describeError } from '../../base/error-description.ts'
import type { ListedSchedule } from '../../engine/host/schedules.ts'
import type { PrestartedWorker } from '../../runtime/processes/prestarted-worker.ts'
import { loadForCommand } from '../configured.ts'
import { openDevServers, type DevServers } from '../dev/dev-servers.ts'
import { DevWorkers } from '../dev/dev-workers.ts'
import { extractModule } from '../dev/extract-module.ts'
import { readDeclared, type Declared, type DevFiles } from '../dev/read-declared.ts'
import { watchSources } from '../dev/watch-sources.ts'
import type { ConfiguredOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export interface DevOptions extends ConfiguredOptions {
  readonly repository?: readonly string[]
  readonly port: number
  readonly lakefsPort: number
  readonly slots?: number
  readonly metricsPort?: number
  /** False for `--no-reload`. */
  readonly reload?: boolean
}

/** What began before this file was loaded; see `begin-dev.ts`. */
export interface DevStart {
  readonly given: DevFiles
  /** What the module declares. */
  readonly extracted: Promise<string>
  readonly prestarted: PrestartedWorker
  readonly stop: AbortSignal
}

/** Runs engine, lakeFS and a worker until the terminal says to stop. Standard output gets one line when all of them work. */
export async function develop(
  { given, extracted, prestarted, stop }: DevStart,
  options: DevOptions,
  terminal: Terminal,
): Promise<void> {
  const { configuration, engine, logger } = await loadForCommand(options, terminal)
  const { port, lakefsPort, metricsPort, repository: repositories = [], slots } = options
  const ports = { port, lakefsPort, metricsPort }
  const [servers, declared] = await openBoth(
    openDevServers({ configuration, engine, repositories, ...ports, logger, terminal }),
    readDeclared(given, extracted),
  )
  const workers = new DevWorkers({ servers, modulePath: given.modulePath, slots, logger, terminal })
  // A second signal ends this process at once, and the workers with it.
  const kill = (): void => workers.kill()
  process.once('exit', kill)
  try {
    await register(servers, declared)
    await takeBack(servers, declared)
    await workers.start(prestarted)
    terminal.answer(introduce(servers, declared, await servers.engine.schedules.list()))
    if (options.reload === false) await aborted(stop)
    else await reloadOnChange({ given, servers, workers, terminal, stop })
  } finally {
    await workers.stop()
    process.off('exit', kill)
    await servers.close()
  }
}

/** If reading fails, what was opened is closed. */
async function openBoth(opening: Promise<DevServers>, reading: Promise<Declared>) {
  const [opened, read] = await Promise.allSettled([opening, reading])
  if (opened.status === 'rejected') throw opened.reason
  if (read.status === 'fulfilled') return [opened.value, read.value] as const
  await opened.value.close()
  throw read.reason
}

async function register(
  { engine, definitions, knowReadOnly }: DevServers,
  declared: Declared,
): Promise<void> {
  knowReadOnly(declared.readOnlyTasks)
  for (const document of declared.taskDefs) await definitions.writeTask(document)
  for (const document of declared.workflowDefs) await definitions.writeWorkflow(document)
  for (const graph of declared.pipelines) await engine.control.registerGraph(graph)
  // Those of pipelines that are not declared any more end.
  const former = (await engine.schedules.list()).map(({ pipeline }) => pipeline)
  const names = declared.pipelines.map(({ name }) => name)
  for (const name of new Set([...former, ...names]))
    await engine.schedules.register(name, names.includes(name) ? (declared.schedules[name] ?? {}) : {})
}

/**
 * No worker of an earlier run is left: what it had in progress is handed out again at once, not when its lease has run out. Should
 * one live on, its attempt is stale to every fence once the task is claimed again.
 */
async function takeBack({ engine }: DevServers, { taskDefs }: Declared): Promise<void> {
  for (const { name } of taskDefs) await engine.control.requeue(name)
}

interface Reloading {
  readonly given: DevFiles
  readonly servers: DevServers
  readonly workers: DevWorkers
  readonly terminal: Terminal
  readonly stop: AbortSignal
}

/** A module that cannot be loaded leaves everything as it is. */
async function reloadOnChange({ given, servers, workers, terminal, stop }: Reloading): Promise<void> {
  const directory = dirname(given.modulePath)
  for await (const changed of watchSources(directory, {
    clock: systemClock,
    signal: stop,
    also: given.pipelinePaths,
  })) {
    const names = changed.map((path) => relative(terminal.directory, path)).join(', ')
    try {
      const declared = await readDeclared(given, extractModule(given.modulePath, stop))
      await register(servers, declared)
      await workers.stop()
      await workers.start()
      terminal.say(`reloaded after a change of ${names}\n`)
    } catch (error) {
      if (stop.aborted) return
      const problem = renderError(describeError(error, terminal.redactor))
      terminal.say(`not reloaded after a change of ${names}: ${problem}\n`)
    }
  }
}

function introduce(
  { configuration, metricsUrl, pageUrl }: DevServers,
  declared: Declared,
  schedules: readonly ListedSchedule[],
): string {
  const runnable = [...declared.workflowDefs, ...declared.pipelines].map(({ name }) => name)
  const tasks = declared.taskDefs.map(({ name }) => name)
  return [
    `ready ${configuration.conductor.serverUrl ?? ''}`,
    `  page       ${pageUrl}`,
    `  lakeFS     ${configuration.lakefs.endpoint ?? ''}`,
    `  tasks      ${tasks.join(', ')}`,
    `  pipelines  ${runnable.join(', ') || 'none'}`,
    `  metrics    ${metricsUrl}`,
    ...schedules.map(
      ({ pipeline, name, nextMs }) =>
        `  schedule   ${pipeline}/${name}: ${nextMs === undefined ? 'paused' : `next at ${new Date(nextMs).toISOString()}`}`,
    ),
    '',
  ].join('\n')
}
