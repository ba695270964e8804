/** The host's side: runs one body and reports to the worker. The same in a thread and in a process. */

import type { Logger } from '../../base/logger.ts'
import { MissingError } from '../../base/errors.ts'
import { loadTasks } from './load-tasks.ts'
import type { Json } from '../../base/json.ts'
import { BodyAbortedError } from '../../tasks/author-errors.ts'
import { runCommand } from './command-body.ts'
import { limitProgress } from './limit-progress.ts'
import { describeForParent } from './hosted-error.ts'
import type { FromHost, FunctionOrder, RunOrder, ToHost } from './protocol.ts'
import { relayedLogger } from './relayed-logger.ts'
import { openBodyWorkspace } from './body-workspace.ts'
import { exitedBy, strayErrorOf } from './stray-errors.ts'

export interface HostPort {
  send(message: FromHost): void
  onMessage(listener: (message: ToHost) => void): void
  /** Asks everything that the body has started to end; only in a process of its own. */
  endOthers?(): void
}

/** Reports that it is ready, runs one order, and answers once. */
export function serveBody(port: HostPort, end: () => void): void {
  const abort = new AbortController()
  const shutdown = new AbortController()
  port.onMessage((message) => {
    switch (message.type) {
      case 'run':
        if (message.what.kind === 'function') tellStrayErrors(port)
        run(message, { port, signal: abort.signal, shutdown: shutdown.signal }).then(end, end)
        break
      case 'abort':
        abort.abort(new BodyAbortedError(message.reason))
        break
      case 'shutdown':
        shutdown.abort(new BodyAbortedError('the worker is stopping'))
        break
    }
  })
  port.send({ type: 'ready' })
}

/** Nobody else runs here, so all that nobody catches comes from the body. What comes after the answer counts no more. */
function tellStrayErrors(port: HostPort): void {
  const fail = (error: Error): void => port.send({ type: 'failed', error: describeForParent(error) })
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => fail(strayErrorOf(error)))
  const exit = process.exit.bind(process)
  const guarded = (code?: string | number | null): never => {
    fail(exitedBy(guarded, code))
    return exit(code)
  }
  process.exit = guarded
}

interface RunContext {
  readonly port: HostPort
  readonly signal: AbortSignal
  readonly shutdown: AbortSignal
}

async function run(order: RunOrder, context: RunContext): Promise<void> {
  const { port, signal } = context
  try {
    const log = relayedLogger((line) => port.send({ type: 'log', ...line }))
    const result =
      order.what.kind === 'command'
        ? await runCommand({ ...order, order: order.what, signal, log, endOthers: () => port.endOthers?.() })
        : await runFunction(order, order.what, context, log)
    // What is rejected by now and was not awaited is told before the result.
    await new Promise((resolve) => setImmediate(resolve))
    port.send({ type: 'done', result: asJson(result) })
  } catch (error) {
    port.send({ type: 'failed', error: describeForParent(error) })
  }
}

async function runFunction(
  order: RunOrder,
  what: FunctionOrder,
  context: RunContext,
  log: Logger,
): Promise<unknown> {
  const task = (await loadTasks(what.modulePath)).find(({ name }) => name === what.taskName)
  if (task?.body.kind !== 'function') {
    throw new MissingError(
      'worker/no-such-task',
      `find task "${what.taskName}" in its module: it is not declared there`,
    )
  }
  const { progress, flush } = limitProgress((...told) => context.port.send({ type: 'progress', told }))
  const body = task.body.invoke(order.params, {
    workspace: order.workspace && openBodyWorkspace(order.workspace),
    signal: context.signal,
    shutdown: context.shutdown,
    log,
    attempt: order.attempt,
    progress,
  })
  return body.finally(flush)
}

/** A result is JSON; `undefined` where a schema allows it becomes null. */
function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json
}
