/** A program as a body: JSON from stdin, JSON to a file or stdout, everything else to the log. */

import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidError, MissingError } from '../../base/errors.ts'
import { COMMAND_ENV_MAX_BYTES, COMMAND_RESULT_MAX_BYTES } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { BodyAbortedError, RetryableError, TerminalError } from '../../tasks/author-errors.ts'
import type { Json } from '../../base/json.ts'
import type { AttemptInfo } from '../../tasks/task-definition.ts'
import type { CommandOrder, WorkspaceFacts } from './protocol.ts'
import { runProgram, type ProgramEnd } from './run-program.ts'

/** The exit status for an error that a retry cannot solve: EX_DATAERR of sysexits.h. */
const TERMINAL_EXIT_STATUS = 65

export interface CommandOptions {
  readonly order: CommandOrder
  readonly params: Json
  readonly attempt: AttemptInfo
  readonly workspace: WorkspaceFacts | undefined
  readonly signal: AbortSignal
  readonly log: Logger
  /** Asks everything in the process group to end, except this process. */
  readonly endOthers: () => void
}

/** Returns the program's result, or throws the error that its exit status means. */
export async function runCommand(options: CommandOptions): Promise<Json> {
  const { order, params, signal, log, endOthers } = options
  const input = JSON.stringify(params)
  const paramsFile = join(order.scratch, 'params.json')
  const resultFile = join(order.scratch, 'result.json')
  await writeFile(paramsFile, input)
  const env = commandEnv(options, { input, paramsFile, resultFile })
  const end = await runProgram({ order, input, env, signal, log, endOthers })
  if (end.isTooLarge) throw resultTooLarge(order)
  assertEndedWell(options, end)
  const text = order.resultFrom === 'stdout' ? end.stdout : await readResultFile(order, resultFile)
  return parseResult(order, text)
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
