/** Runs the body of a task: in this thread, in another one, or in a process. */

import { unlessAborted } from '../../base/abort-signals.ts'
import { InvalidError } from '../../base/errors.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { openBodyWorkspace } from './body-workspace.ts'
import { runHosted, type RunBodyOptions } from './hosted-body.ts'

/** Returns what the body returned; the caller checks it by the result schema of the task. */
export async function runBody(options: RunBodyOptions): Promise<unknown> {
  const { task, signal } = options
  signal.throwIfAborted()
  if (task.body.kind === 'command') {
    const { command, env, resultFrom } = task.body.command
    const what = {
      kind: 'command',
      command,
      env,
      resultFrom,
      cwd: options.workspace?.dir ?? options.scratch,
      scratch: options.scratch,
    } as const
    return runHosted({ ...options, place: 'process', what })
  }
  if (task.body.runIn === 'inline') return runInline(options, task.body)
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

type FunctionBody = Extract<TaskDefinition['body'], { kind: 'function' }>

async function runInline(options: RunBodyOptions, own: FunctionBody): Promise<unknown> {
  const { signal, shutdown, log, attempt, onProgress, workspace, params } = options
  const body = own.invoke(params, {
    workspace: workspace === undefined ? undefined : openBodyWorkspace(workspace),
    signal,
    shutdown,
    log,
    attempt,
    progress: onProgress,
  })
  // The attempt of a body that ignores its signal ends now, and nothing is published.
  return unlessAborted(body, signal)
}
