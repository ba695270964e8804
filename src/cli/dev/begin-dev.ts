/**
 * Begins `perago dev`: the processes that read the module and run its tasks load their code while this one loads its own. Imports
 * almost nothing, so that they start first.
 */

import { resolve } from 'node:path'
import { followSignals } from '../../base/abort-signals.ts'
import { InvalidError } from '../../base/errors.ts'
import { prestartWorker } from '../../runtime/processes/prestarted-worker.ts'
import type { DevOptions } from '../commands/dev.ts'
import type { Terminal } from '../terminal.ts'
import { extractModule } from './extract-module.ts'
import type { DevFiles } from './read-declared.ts'

export async function beginDev(
  files: readonly string[],
  options: DevOptions,
  terminal: Terminal,
): Promise<void> {
  const given = sortFiles(files, terminal)
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  const reading = followSignals(stop)
  const prestarted = prestartWorker(given.modulePath)
  const extracted = extractModule(given.modulePath, reading.signal)
  // Whoever awaits it sees the error; before that, another one may end the start.
  extracted.catch(() => undefined)
  try {
    const { develop } = await import('../commands/dev.ts')
    await develop({ given, extracted, prestarted, stop }, options, terminal)
  } finally {
    reading.abort(new Error('perago dev has ended'))
    reading.release()
    prestarted.discard()
  }
}

/** One module of tasks; everything else is a pipeline. */
function sortFiles(files: readonly string[], terminal: Terminal): DevFiles {
  const paths = files.map((path) => resolve(terminal.directory, path))
  const isPipeline = (path: string): boolean => /\.(ya?ml|json)$/.test(path)
  const [modulePath, ...more] = paths.filter((path) => !isPipeline(path))
  if (modulePath === undefined || more.length > 0) {
    throw new InvalidError(
      'cli/bad-usage',
      'read the command line: one module of tasks is needed, and only one',
      {
        next: 'Name the .ts or .js file that exports the tasks, and any YAML or JSON files with pipelines.',
      },
    )
  }
  return { modulePath, pipelinePaths: paths.filter(isPipeline) }
}
