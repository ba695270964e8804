import { join, resolve } from 'node:path'
import { aborted } from '../../base/abort-signals.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError, RefusedError } from '../../base/errors.ts'
import type { Logger, LogLevel } from '../../base/logger.ts'
import { oneLine, printableJson } from '../../base/one-line.ts'
import { formatSize } from '../../base/quantities.ts'
import { runTask, type RunTaskRequest } from '../../runtime/run-task.ts'
import { loadForCommand } from '../configured.ts'
import { readJsonArgument } from '../json-argument.ts'
import { RUN_ROOT, type ConfiguredOptions } from '../options.ts'
import { renderTable } from '../answers.ts'
import { revisionOf } from '../revision.ts'
import { showProgress, type ProgressShow } from '../show-progress.ts'
import type { Terminal } from '../terminal.ts'

export interface RunOptions extends ConfiguredOptions {
  readonly repo?: string
  readonly branch?: string
  readonly ref?: string
  readonly params: string
  readonly root?: string
  readonly revision?: string
  readonly dryRun?: boolean
  readonly watch?: boolean
}

/** Runs one task here, with every fence except the attempt fence, and prints what it published. */
export async function runTaskHere(
  task: string,
  module: string,
  options: RunOptions,
  terminal: Terminal,
): Promise<void> {
  const params = await readJsonArgument('--params', options.params, terminal)
  const given = { task, params, isDryRun: options.dryRun === true, ...targetOf(options) }
  const { configuration, logger: plain, settings } = await loadForCommand(options, terminal)
  const isQuiet = options.json === true
  const mode = isQuiet ? 'json' : process.stderr.isTTY ? 'bar' : 'lines'
  const progress = showProgress(terminal, { mode })
  const logger = loggerBeside(progress, plain)
  const signal = stopSignalOf(terminal)
  const outcome = await runTask(configuration, resolve(terminal.directory, module), given, {
    root: resolve(terminal.directory, options.root ?? join(...RUN_ROOT)),
    logger,
    redactor: terminal.redactor,
    signal,
    onResolved: (name, ref) => {
      if (!isQuiet) terminal.say(`${name} is commit ${ref}\n`)
    },
    ...defined({
      cacheBytes: settings['cache.size'].value,
      codeVersion: await revisionOf(module, options, terminal),
    }),
    onTransferred: (step, { files, filesTotal, bytes, bytesTotal }) => {
      const more = `${files} of ${filesTotal} files, ${formatSize(bytes)} of ${formatSize(bytesTotal)}`
      const fields = { files, filesTotal, bytes, bytesTotal }
      // Many small files take their time, too; a file has at least one byte here.
      progress.tell({ what: step, done: bytes + files, total: bytesTotal + filesTotal, more, fields })
    },
    onProgress: (done, total, what) => {
      const fields = { done, total, said: what }
      const more = `${done}${total === undefined ? '' : ` of ${total}`} ${what ?? ''}`.trim()
      progress.tell({ what: 'body', done, total, more, fields })
    },
    observe: ({ step, outcome: how, durationMs, details }) => {
      progress.clear()
      if (isQuiet) return
      if (step === 'lay-out' && Number(details['cachedFiles']) > 0)
        terminal.say(describeCached(terminal, details))
      terminal.say(terminal.style.faint(`${step.padEnd(26)} ${how.padEnd(8)} ${Math.round(durationMs)} ms\n`))
    },
  })
  if (outcome.error !== undefined) {
    // There is no task log where it could be looked up.
    if (!isQuiet) for (const line of outcome.logs) terminal.say(`${line}\n`)
    const { error } = outcome
    throw error instanceof Error ? error : new Error('run the task: it failed', { cause: error })
  }
  terminal.answer(isQuiet ? `${printableJson(asDocument(task, outcome), 2)}\n` : render(task, outcome))
}

/** A line of the log is not written into what is drawn. */
function loggerBeside(show: ProgressShow, logger: Logger): Logger {
  const beside =
    (level: Exclude<LogLevel, 'silent'>): Logger['info'] =>
    (message, fields) => {
      show.clear()
      logger[level](message, fields)
    }
  return {
    ...{ trace: beside('trace'), debug: beside('debug'), info: beside('info') },
    ...{ warn: beside('warn'), error: beside('error') },
    child: (fields) => loggerBeside(show, logger.child(fields)),
  }
}

function describeCached({ style }: Terminal, details: Readonly<Record<string, unknown>>): string {
  const { files, cachedFiles, cachedBytes } = details
  const what = `${Number(cachedFiles)} of ${Number(files)} files from the cache, ${formatSize(Number(cachedBytes))} not fetched again`
  return style.faint(`${what}\n`)
}

/** Its reason says why the task ended. */
function stopSignalOf(terminal: Terminal): AbortSignal {
  const stop = new AbortController()
  const why = 'run the task: it was stopped before it was done'
  const abort = (): void => stop.abort(new RefusedError('cli/stopped', why, { next: 'Run it again.' }))
  aborted(terminal.stopSignal()).then(abort, abort)
  return stop.signal
}

function targetOf({ repo, branch, ref }: RunOptions): Pick<RunTaskRequest, 'workspace'> {
  if (repo === undefined && branch === undefined && ref === undefined) return {}
  if (repo === undefined || branch === undefined) {
    throw new InvalidError('cli/bad-usage', 'read the command line: --repo and --branch belong together', {
      next: 'Name both, the repository and the branch to publish to.',
    })
  }
  return { workspace: { repository: repo, branch, ...defined({ ref }) } }
}

type Outcome = Awaited<ReturnType<typeof runTask>>

function asDocument(task: string, { output, logs, publication, planned }: Outcome): unknown {
  // What was stored is for the process itself.
  const published = publication && { ...publication, stored: undefined }
  return { task, ...output, publication: published ?? null, ...(planned && { planned }), log: logs }
}

const DONE = {
  merged: 'published',
  completed: 'nothing changed, nothing to publish',
  replaced: 'published in place of an earlier commit of its own',
  relocated: 'nothing changed, the branch is back at the input',
  adopted: 'published before, and adopted',
} as const

function render(task: string, { output, logs, publication, planned }: Outcome): string {
  const done = planned === undefined ? 'done' : judge(planned)
  const rows = [[task, publication === undefined ? done : DONE[publication.action]]]
  if (publication !== undefined) rows.push(['commit', publication.outputRef])
  for (const { path, sizeBytes, isNew } of planned?.uploads ?? [])
    rows.push([isNew ? 'add' : 'change', `${oneLine(path)}  ${formatSize(sizeBytes)}`])
  for (const path of planned?.deletes ?? []) rows.push(['delete', oneLine(path)])
  rows.push(['result', JSON.stringify(output?.['result'])], ...logs.map((line) => ['log', line]))
  return renderTable(rows)
}

/** What a run that publishes would do, as far as can be seen before. */
function judge({ uploads, deletes, branch, isHead }: NonNullable<Outcome['planned']>): string {
  if (uploads.length + deletes.length === 0) return 'dry run: nothing changed, nothing to publish'
  if (isHead) return `dry run: nothing was published; it would be, to ${branch}`
  return `dry run: nothing was published; it would be refused, because ${branch} is not at this commit`
}
