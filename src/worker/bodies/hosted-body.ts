/** The worker's side of a body that runs in a thread or a process: starts it, relays messages, and always ends it. */

import { fork, type ChildProcess } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import { abortReason } from '../../base/clock.ts'
import { messageOf, UnavailableError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import type { Logger } from '../../base/logger.ts'
import type { AttemptInfo, TaskDefinition } from '../../tasks/task-definition.ts'
import { BODY_ABORT_GRACE_MS, BODY_KILL_WAIT_MS, BODY_OUTPUT_GRACE_MS } from '../limits.ts'
import { entryUrl } from '../../base/module-entry.ts'
import { describeExit } from './describe-exit.ts'
import { HostedError } from './hosted-error.ts'
import type { CommandOrder, FromHost, FunctionOrder, RunOrder, ToHost, WorkspaceFacts } from './protocol.ts'
import { relayLines } from './relay-lines.ts'

export interface RunBodyOptions {
  readonly task: TaskDefinition
  /** The absolute path of the module that declares the task: bodies outside this thread load it again. */
  readonly modulePath: string | undefined
  readonly params: Json
  readonly attempt: AttemptInfo
  readonly workspace: WorkspaceFacts | undefined
  /** A directory for files that are not published. */
  readonly scratch: string
  readonly signal: AbortSignal
  readonly shutdown: AbortSignal
  readonly log: Logger
  readonly onProgress: (done: number, total?: number, what?: string) => void
  /** Given what nobody catches of all that a body in this thread began; it may have ended. */
  readonly onStray?: (error: Error) => void
}

export interface HostedBodyOptions extends RunBodyOptions {
  readonly place: 'thread' | 'process'
  readonly what: FunctionOrder | CommandOrder
}

export async function runHosted(options: HostedBodyOptions): Promise<unknown> {
  const { signal, shutdown, log, onProgress, what, params, attempt, workspace } = options
  const order: RunOrder = { type: 'run', what, params, attempt, workspace }
  const host = options.place === 'thread' ? startThread(options) : startProcess(options)
  const onShutdown = (): void => host.send({ type: 'shutdown' })
  try {
    return await new Promise((resolve, reject) => {
      const onAbort = (): void => {
        host.send({ type: 'abort', reason: messageOf(signal.reason) })
        // A body that handles its signal ends now; any other is ended below. The attempt is over in either case.
        setTimeout(() => reject(abortReason(signal)), BODY_ABORT_GRACE_MS).unref()
        host.ended.then(() => reject(abortReason(signal)), reject)
      }
      host.onMessage((message) => {
        switch (message.type) {
          case 'ready':
            host.send(order)
            if (shutdown.aborted) onShutdown()
            break
          case 'log':
            log[message.level](message.message, message.fields)
            break
          case 'progress':
            onProgress(...message.told)
            break
          case 'done':
            resolve(message.result)
            break
          case 'failed':
            reject(signal.aborted ? abortReason(signal) : new HostedError(message.error))
            break
        }
      })
      host.ended.then(
        (how) => reject(signal.aborted ? abortReason(signal) : endedWithoutResult(options, how)),
        reject,
      )
      signal.addEventListener('abort', onAbort, { once: true })
      shutdown.addEventListener('abort', onShutdown, { once: true })
      if (signal.aborted) onAbort()
    })
  } finally {
    shutdown.removeEventListener('abort', onShutdown)
    await host.end()
  }
}

interface Host {
  send(message: ToHost): void
  onMessage(listener: (message: FromHost) => void): void
  /** Resolves with how the host ended; rejects only if it was not started. */
  readonly ended: Promise<string>
  /** Ends it, if necessary by force. */
  end(): Promise<void>
}

function startThread({ log }: HostedBodyOptions): Host {
  const thread = new Worker(entryUrl(import.meta.url, './body-host-thread.ts'), {
    stdout: true,
    stderr: true,
  })
  relayLines(thread.stdout, (line) => log.info(line, { stream: 'stdout' }))
  relayLines(thread.stderr, (line) => log.info(line, { stream: 'stderr' }))
  const ended = new Promise<string>((resolve) => {
    // An uncaught error ends the thread; `exit` follows it.
    let how = ''
    thread.once('error', (error) => (how = `: ${messageOf(error)}`))
    thread.once('exit', (code) => resolve(`the thread ended with code ${code}${how}`))
  })
  return {
    send: (message) => thread.postMessage(message),
    onMessage: (listener) => thread.on('message', listener),
    ended,
    end: async () => {
      await thread.terminate()
    },
  }
}

function startProcess({ log }: HostedBodyOptions): Host {
  // Its own process group, so that everything the body starts can be ended with it.
  const child = fork(entryUrl(import.meta.url, './body-host-process.ts'), [], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    execArgv: [],
  })
  if (child.stdout !== null) relayLines(child.stdout, (line) => log.info(line, { stream: 'stdout' }))
  if (child.stderr !== null) relayLines(child.stderr, (line) => log.info(line, { stream: 'stderr' }))
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(describeExit(code, signal)))
  })
  return {
    send: (message) => {
      // That the host has ended is reported by `ended`.
      if (child.connected) child.send(message, () => undefined)
    },
    onMessage: (listener) => child.on('message', (message) => listener(message as FromHost)),
    ended,
    end: () => endGroup(child, ended),
  }
}

async function endGroup(child: ChildProcess, ended: Promise<string>): Promise<void> {
  const pid = child.pid
  if (pid === undefined) return
  const isGone = ended.then(
    () => true,
    () => true,
  )
  killGroup(pid, 'SIGTERM')
  if (!(await within(isGone, BODY_KILL_WAIT_MS))) killGroup(pid, 'SIGKILL')
  await isGone
  // Ends what the host started and left running.
  killGroup(pid, 'SIGKILL')
  // What left the group may hold the pipes for as long as it runs.
  const cut = setTimeout(() => {
    child.stdout?.destroy()
    child.stderr?.destroy()
  }, BODY_OUTPUT_GRACE_MS)
  child.once('close', () => clearTimeout(cut))
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function within(done: Promise<boolean>, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), waitMs)
    const settle = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    done.then(settle, settle)
  })
}

function endedWithoutResult({ task, place }: HostedBodyOptions, how: string): UnavailableError {
  return new UnavailableError(
    'worker/body-died',
    `run task "${task.name}" in a ${place}: ${how} before it gave a result`,
    {
      details: { task: task.name, place },
      next: 'Read the log of the task; a body must return its result and not end its process.',
    },
  )
}
