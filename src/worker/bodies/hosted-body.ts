/** The worker's side of a body that runs in a thread or a process: starts it, relays, and ends it for certain. */

import { fork, type ChildProcess } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import { UnavailableError } from '../../base/errors.ts'
import { BODY_ABORT_GRACE_MS, BODY_KILL_WAIT_MS } from '../limits.ts'
import { entryUrl } from '../../base/module-entry.ts'
import { HostedError } from './hosted-error.ts'
import type { CommandOrder, FromHost, FunctionOrder, RunOrder, ToHost } from './protocol.ts'
import { relayLines } from './relay-lines.ts'
import type { RunBodyOptions } from './body-options.ts'

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
        host.send({
          type: 'abort',
          reason: signal.reason instanceof Error ? signal.reason.message : 'aborted',
        })
        // A body that listens ends by itself; any other is ended below, and the attempt is over either way.
        setTimeout(() => reject(reasonOf(signal)), BODY_ABORT_GRACE_MS).unref()
        host.ended.then(() => reject(reasonOf(signal)), reject)
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
            onProgress(message.done, message.total, message.what)
            break
          case 'done':
            resolve(message.result)
            break
          case 'failed':
            reject(signal.aborted ? reasonOf(signal) : new HostedError(message.error))
            break
        }
      })
      host.ended.then((how) => reject(signal.aborted ? reasonOf(signal) : diedSilently(options, how)), reject)
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
  /** Resolves, with how, once the host is gone; never rejects for a host that was started. */
  readonly ended: Promise<string>
  /** Ends it, in the last resort by force. */
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
    // An error that nobody caught in there ends the thread; `exit` follows it.
    let how = ''
    thread.once('error', (error) => (how = `: ${error instanceof Error ? error.message : String(error)}`))
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
  // Its own process group, so that whatever the body starts can be ended with it.
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
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `it ended with status ${code ?? '?'}` : `it was killed by ${signal}`),
    )
  })
  return {
    send: (message) => {
      // A host that is gone says so through `ended`.
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
  // The host is gone; what it started and left behind in its group goes too.
  killGroup(pid, 'SIGKILL')
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

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason))
}

function diedSilently({ task, place }: HostedBodyOptions, how: string): UnavailableError {
  return new UnavailableError(
    'worker/body-died',
    `run task "${task.name}" in a ${place}: ${how} before it gave a result`,
    {
      details: { task: task.name, place },
      next: 'Look into the log of the task; a body must return its result rather than exit.',
    },
  )
}
