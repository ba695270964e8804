/** A program as a body: JSON from stdin, JSON to a file or stdout, everything else to the log. */

import { spawn } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidError, MissingError } from '../../base/errors.ts'
import {
  COMMAND_ABORT_GRACE_MS,
  COMMAND_ENV_MAX_BYTES,
  COMMAND_RESULT_MAX_BYTES,
  COMMAND_STDERR_TAIL_CHARS,
} from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { BodyAbortedError, RetryableError, TerminalError } from '../../tasks/author-errors.ts'
import type { Json } from '../../base/json.ts'
import type { AttemptInfo } from '../../tasks/task-definition.ts'
import type { CommandOrder, WorkspaceFacts } from './protocol.ts'
import { relayLines } from './relay-lines.ts'

/** The exit status for an error that a retry cannot solve: EX_DATAERR of sysexits.h. */
const TERMINAL_EXIT_STATUS = 65

export interface CommandOptions {
  readonly order: CommandOrder
  readonly params: Json
  readonly attempt: AttemptInfo
  readonly workspace: WorkspaceFacts | undefined
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Returns the program's result, or throws the error that its exit status means. */
export async function runCommand(options: CommandOptions): Promise<Json> {
  const { order, params } = options
  const input = JSON.stringify(params)
  const paramsFile = join(order.scratch, 'params.json')
  const resultFile = join(order.scratch, 'result.json')
  await writeFile(paramsFile, input)
  const end = await runProgram(options, {
    input,
    env: commandEnv(options, { input, paramsFile, resultFile }),
  })
  assertEndedWell(options, end)
  const text = order.resultFrom === 'stdout' ? end.stdout : await readResultFile(order, resultFile)
  return parseResult(order, text)
}

interface ProgramEnd {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderrTail: string
}

function runProgram(
  { order, signal, log }: CommandOptions,
  { input, env }: { readonly input: string; readonly env: NodeJS.ProcessEnv },
): Promise<ProgramEnd> {
  const [program, ...args] = order.command
  if (program === undefined) throw new InvalidError('worker/no-command', 'run a command: it names no program')
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: order.cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let stdoutBytes = 0
    let stderrTail = ''
    let force: NodeJS.Timeout | undefined
    const onAbort = (): void => {
      child.kill('SIGTERM')
      force = setTimeout(() => child.kill('SIGKILL'), COMMAND_ABORT_GRACE_MS)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (order.resultFrom === 'stdout') {
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        stdoutBytes += Buffer.byteLength(chunk)
        if (stdoutBytes <= COMMAND_RESULT_MAX_BYTES) stdout += chunk
        else child.kill('SIGKILL')
      })
    } else relayLines(child.stdout, (line) => log.info(line, { stream: 'stdout' }))
    relayLines(child.stderr, (line) => log.info(line, { stream: 'stderr' }))
    child.stderr.on('data', (chunk: string) => {
      stderrTail = (stderrTail + chunk).slice(-COMMAND_STDERR_TAIL_CHARS)
    })
    // A program that does not read its input closes the pipe; its exit status tells whether that is an error.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.once('error', (error) => {
      signal.removeEventListener('abort', onAbort)
      reject(
        new MissingError('worker/command-not-started', `start ${JSON.stringify(program)}: ${error.message}`, {
          cause: error,
          next: 'Install the program where the worker runs, or correct the command of the task.',
        }),
      )
    })
    child.once('close', (status, killedBy) => {
      clearTimeout(force)
      signal.removeEventListener('abort', onAbort)
      if (stdoutBytes > COMMAND_RESULT_MAX_BYTES) reject(resultTooLarge(order))
      else resolve({ status, signal: killedBy, stdout, stderrTail })
    })
    if (signal.aborted) onAbort()
  })
}

function commandEnv(
  { order, attempt, workspace }: CommandOptions,
  from: { readonly input: string; readonly paramsFile: string; readonly resultFile: string },
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...order.env,
    // The size of a variable is limited; the file and stdin always have everything.
    ...(Buffer.byteLength(from.input) <= COMMAND_ENV_MAX_BYTES ? { PERAGO_PARAMS: from.input } : {}),
    PERAGO_PARAMS_FILE: from.paramsFile,
    PERAGO_RESULT_FILE: from.resultFile,
    PERAGO_TASK_ID: attempt.taskId,
    PERAGO_WORKFLOW_ID: attempt.workflowId,
    PERAGO_TASK_NAME: attempt.taskName,
    PERAGO_RETRY_COUNT: String(attempt.retryCount),
    ...(workspace === undefined
      ? {}
      : {
          PERAGO_WORKSPACE: workspace.dir,
          PERAGO_REPOSITORY: workspace.repository,
          PERAGO_BRANCH: workspace.branch,
          PERAGO_REF: workspace.ref,
        }),
  }
}

function assertEndedWell({ order, signal }: CommandOptions, end: ProgramEnd): void {
  if (end.status === 0) return
  if (signal.aborted)
    throw signal.reason instanceof Error ? signal.reason : new BodyAbortedError('the command was stopped')
  const program = JSON.stringify(order.command[0])
  const how = end.signal === null ? `status ${end.status ?? '?'}` : `signal ${end.signal}`
  const output = lastLine(end.stderrTail)
  const message = `run ${program}: it ended with ${how}${output === '' ? '' : `: ${output}`}`
  if (end.status === TERMINAL_EXIT_STATUS) throw new TerminalError(message)
  throw new RetryableError(message, { next: 'Read the output of the program in the log of the task.' })
}

async function readResultFile(order: CommandOrder, path: string): Promise<string> {
  const facts = await stat(path).catch((error: unknown) => {
    throw new MissingError(
      'worker/no-result',
      `read the result of ${JSON.stringify(order.command[0])}: it wrote no result file`,
      {
        cause: error,
        next: 'Write the result as JSON to the file named by PERAGO_RESULT_FILE, or declare resultFrom: "stdout".',
      },
    )
  })
  if (facts.size > COMMAND_RESULT_MAX_BYTES) throw resultTooLarge(order)
  return readFile(path, 'utf8')
}

function parseResult(order: CommandOrder, text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new InvalidError(
      'worker/invalid-result',
      `read the result of ${JSON.stringify(order.command[0])}: it is not JSON`,
      { cause: error, next: 'Write one JSON document and nothing else.' },
    )
  }
}

function resultTooLarge(order: CommandOrder): InvalidError {
  return new InvalidError(
    'worker/result-too-large',
    `read the result of ${JSON.stringify(order.command[0])}: it is larger than ${COMMAND_RESULT_MAX_BYTES} bytes`,
    { next: 'Write large data into the workspace and return its path.' },
  )
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim().slice(0, 300) ?? ''
}
