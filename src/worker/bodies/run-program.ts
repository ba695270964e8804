/**
 * Runs one program until it has ended and its output was read. Something that it left running may hold the pipes of its
 * output for as long as it runs: after a short wait that is asked to end, and after another one its output is not awaited.
 */

import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { InvalidError, MissingError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import {
  COMMAND_ABORT_GRACE_MS,
  COMMAND_LEFT_RUNNING_WAIT_MS,
  COMMAND_OUTPUT_GRACE_MS,
  COMMAND_RESULT_MAX_BYTES,
  COMMAND_STDERR_TAIL_CHARS,
} from '../limits.ts'
import type { CommandOrder } from './protocol.ts'
import { relayLines } from './relay-lines.ts'

export interface ProgramRun {
  readonly order: CommandOrder
  readonly input: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly log: Logger
  /** Asks everything that the program has started to end. */
  readonly endOthers: () => void
}

export interface ProgramEnd {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  /** Only if the result is read from there. */
  readonly stdout: string
  readonly stderrTail: string
  /** More came on stdout than a result may have. */
  readonly isTooLarge: boolean
}

type Program = ChildProcessByStdio<Writable, Readable, Readable>

export async function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const [name, ...args] = run.order.command
  if (name === undefined) throw new InvalidError('worker/no-command', 'run a command: it names no program')
  const program = spawn(name, args, { cwd: run.order.cwd, env: run.env, stdio: ['pipe', 'pipe', 'pipe'] })
  const output = collectOutput(program, run)
  const release = followAbort(program, run.signal)
  // A program that does not read its input closes the pipe; its exit status tells whether that is an error.
  program.stdin.on('error', () => undefined)
  program.stdin.end(run.input)
  program.once('exit', () => awaitOutput(program, run))
  try {
    return await new Promise((resolve, reject) => {
      program.once('error', (error) => reject(notStarted(name, error)))
      program.once('close', (status, signal) => resolve({ status, signal, ...output() }))
    })
  } finally {
    release()
  }
}

/** Returns what has come so far. */
function collectOutput(
  program: Program,
  { order, log }: ProgramRun,
): () => Omit<ProgramEnd, 'status' | 'signal'> {
  let stdout = ''
  let stdoutBytes = 0
  let stderrTail = ''
  if (order.resultFrom === 'stdout') {
    program.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdoutBytes += Buffer.byteLength(chunk)
      if (stdoutBytes <= COMMAND_RESULT_MAX_BYTES) stdout += chunk
      else program.kill('SIGKILL')
    })
  } else relayLines(program.stdout, (line) => log.info(line, { stream: 'stdout' }))
  relayLines(program.stderr, (line) => log.info(line, { stream: 'stderr' }))
  program.stderr.on('data', (chunk: string) => {
    stderrTail = (stderrTail + chunk).slice(-COMMAND_STDERR_TAIL_CHARS)
  })
  return () => ({ stdout, stderrTail, isTooLarge: stdoutBytes > COMMAND_RESULT_MAX_BYTES })
}

/** Asks the program to end when the signal is aborted, and kills it if it does not. Returns how to follow it no more. */
function followAbort(program: Program, signal: AbortSignal): () => void {
  let force: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    program.kill('SIGTERM')
    force = setTimeout(() => program.kill('SIGKILL'), COMMAND_ABORT_GRACE_MS)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return () => {
    clearTimeout(force)
    signal.removeEventListener('abort', onAbort)
  }
}

/** The program has ended; its `close` comes when nobody holds its pipes any more. */
function awaitOutput(program: Program, { log, endOthers }: ProgramRun): void {
  let timer = setTimeout(() => {
    log.warn('the program has ended, but something it started still runs: it is ended, too')
    endOthers()
    timer = setTimeout(() => {
      // Killed with the process group, unless it has left that.
      for (const pipe of [program.stdin, program.stdout, program.stderr]) pipe.destroy()
    }, COMMAND_LEFT_RUNNING_WAIT_MS)
  }, COMMAND_OUTPUT_GRACE_MS)
  program.once('close', () => clearTimeout(timer))
}

function notStarted(name: string, error: Error): MissingError {
  return new MissingError('worker/command-not-started', `start ${JSON.stringify(name)}: ${error.message}`, {
    cause: error,
    next: 'Install the program where the worker runs, or correct the command of the task.',
  })
}
