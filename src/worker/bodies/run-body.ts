/** Runs the body of a task: in this thread, in another one, or in a process. */

import { unlessAborted } from '../../base/abort-signals.ts'
import { InvalidError } from '../../base/errors.ts'
import { openBodyWorkspace } from './body-workspace.ts'
import { runHosted, type RunBodyOptions } from './hosted-body.ts'
import { limitProgress } from './limit-progress.ts'
import { withinBody } from './stray-errors.ts'

/** Returns what the body returned; the caller checks it by the result schema of the task. */
export async function runBody(options: RunBodyOptions): Promise<unknown> {
  const { task, signal } = options
  signal.throwIfAborted()
  if (task.body.kind === 'command') {
    const { scratch, workspace } = options
    const what = { kind: 'command', ...task.body.command, cwd: workspace?.dir ?? scratch, scratch } as const
    return runHosted({ ...options, place: 'process', what })
  }
  if (task.body.runIn === 'inline') {
    const { shutdown, log, attempt, onProgress, params } = options
    const { progress, flush } = limitProgress(onProgress)
    const workspace = options.workspace && openBodyWorkspace(options.workspace)
    const inline = task.body
    const body = withinBody(options.onStray, () =>
      inline.invoke(params, { workspace, signal, shutdown, log, attempt, progress }),
    )
    // The attempt of a body that ignores its signal ends now, and nothing is published.
    return unlessAborted(body, signal).finally(flush)
  }
  if (options.modulePath === undefined) {
    throw new InvalidError(
      'worker/no-module',
      `run task "${task.name}" in a ${task.body.runIn}: the module that declares it is not known`,
      { next: 'Start the task from its module (perago start MODULE), or declare it with runIn: "inline".' },
    )
  }
  const what = { kind: 'function', modulePath: options.modulePath, taskName: task.name } as const
  return runHosted({ ...options, place: task.body.runIn, what })
}
