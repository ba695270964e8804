/** Starts pipelines and workflows from the command line: on the engine of `perago dev`, or on a real Conductor. */

import { defined } from '../../base/defined.ts'
import { InvalidError, isPeragoError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { printableJson } from '../../base/one-line.ts'
import { readStartPlace, type StartPlace } from '../../runtime/commit-of.ts'
import type { BranchPlace } from '../../runtime/read-head.ts'
import { answer } from '../answers.ts'
import { findEngine } from '../engine-server.ts'
import { followWorkflow, notCompleted } from '../follow-workflow.ts'
import { readJsonObjectArgument } from '../json-argument.ts'
import type { ConfiguredOptions } from '../options.ts'
import { withRunner, type Runner } from '../runner.ts'
import type { Terminal } from '../terminal.ts'
import { START_ON_DEV, START_WORKER } from '../unpolled-advice.ts'
import { openUnpolled } from '../unpolled.ts'
import { drawWorkflow, listChanges, screenOf } from '../workflow-view.ts'

export interface RunPipelineOptions extends ConfiguredOptions {
  readonly input: string
  readonly repo?: string
  readonly branch?: string
  /** A commit of that branch, or what lakeFS takes for one. */
  readonly ref?: string
  /** False for `--no-wait`. */
  readonly wait?: boolean
}

export interface StartWorkflowOptions extends Omit<RunPipelineOptions, 'repo'> {
  readonly repository?: string
  readonly version?: number
  readonly correlationId?: string
  readonly priority?: number
  readonly idempotencyKey?: string
}

/** Starts it; prints its id, or with `--wait` shows its progress until it has ended. */
export async function startWorkflow(
  name: string,
  { repository, ...options }: StartWorkflowOptions,
  terminal: Terminal,
): Promise<void> {
  await startAndFollow(
    name,
    { ...options, wait: options.wait === true, ...defined({ repo: repository }) },
    terminal,
  )
}

/** Starts it and shows its progress until it has ended. An end without success is an error. */
export async function runPipeline(
  name: string,
  options: RunPipelineOptions,
  terminal: Terminal,
): Promise<void> {
  await startAndFollow(name, options, terminal)
}

type Starting = RunPipelineOptions & Omit<StartWorkflowOptions, 'repository'>

async function startAndFollow(name: string, options: Starting, terminal: Terminal): Promise<void> {
  const given = await readJsonObjectArgument('--input', options.input, terminal)
  const place = branchOf(options, given)
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  await withRunner(options, terminal, async (workflows, runner) => {
    const at = place && (await resolve(place, options, { runner, terminal, stop }))
    const workspace = at && { ...place, refType: 'commit', ref: at.ref }
    const input = { ...given, ...(workspace && { workspace }) }
    const { version, correlationId, priority, idempotencyKey } = options
    const start = { name, input, ...defined({ version, correlationId, priority }) }
    const id =
      idempotencyKey === undefined
        ? await workflows.start(start, { signal: stop })
        : await startOnce(start, idempotencyKey, options, terminal)
    const started = { workflow_id: id, ...(workspace && { workspace }) }
    if (options.wait === false) {
      answer(terminal, options, started, () => `${id}\n`)
      return
    }
    const findUnpolled = openUnpolled({
      readLastPolls: (taskType) => workflows.readLastPolls(taskType, { signal: stop }),
      next: runner.isDev ? START_ON_DEV : START_WORKER,
    })
    const screen = screenOf(process.stderr)
    const view = screen === undefined ? listChanges(terminal.say) : drawWorkflow(screen, terminal.style)
    const ended = await followWorkflow(id, { workflows, view, findUnpolled, stop })
    const { status, output, reasonForIncompletion: reason } = ended
    if (status !== 'COMPLETED') throw notCompleted(ended)
    answer(
      terminal,
      options,
      { ...started, status, output, ...(reason === undefined ? {} : { reason }) },
      () => `${printableJson(output, 2)}\n`,
    )
  })
}

const SHORT = 12

/** What was named becomes a commit here, and is said: the workflow works on this commit, wherever the branch goes meanwhile. */
async function resolve(
  place: BranchPlace,
  { ref, json }: Starting,
  {
    runner,
    terminal,
    stop,
  }: { readonly runner: Runner; readonly terminal: Terminal; readonly stop: AbortSignal },
): Promise<StartPlace> {
  const { configuration, logger } = runner
  const at = await readStartPlace(configuration, { ...place, ref }, { logger, signal: stop })
  if (json === true) return at
  const where = `${place.repository}/${place.branch}`
  if (ref === undefined) terminal.say(terminal.style.faint(`${where} is at ${at.ref}\n`))
  else if (at.ref !== ref) terminal.say(terminal.style.faint(`${ref} is the commit ${at.ref}\n`))
  if (at.ref !== at.head)
    terminal.say(
      `${where} is at ${at.head.slice(0, SHORT)}: a task that writes is refused, unless the branch goes back to ${at.ref.slice(0, SHORT)}\n`,
    )
  return at
}

/** By the API of our own, because Conductor's takes no key. */
async function startOnce(
  {
    name,
    input,
    version,
    correlationId,
    priority,
  }: { name: string; input: JsonObject } & Pick<Starting, 'version' | 'correlationId' | 'priority'>,
  key: string,
  options: ConfiguredOptions,
  terminal: Terminal,
): Promise<string> {
  try {
    const engine = await findEngine({ ...options, json: true }, terminal)
    const body = { pipeline: name, input, ...defined({ version, priority, correlation_id: correlationId }) }
    const { execution_id: id } = await engine.ask<{ execution_id: string }>('/executions', body, {
      'idempotency-key': key,
    })
    return id
  } catch (error) {
    if (!isPeragoError(error) || error.code !== 'cli/no-engine') throw error
    throw new InvalidError(
      'cli/no-idempotency-keys',
      `start ${JSON.stringify(name)} once: a Conductor takes no idempotency keys`,
      {
        next: 'Give it a --correlation-id, and look for it with "perago workflow ls --correlation-id" before you start it again.',
        cause: error,
      },
    )
  }
}

/** The branch that the input names by its head. */
function branchOf({ repo, branch, ref }: Starting, input: JsonObject): BranchPlace | undefined {
  if (repo === undefined && branch === undefined && ref === undefined) return undefined
  if (repo !== undefined && branch !== undefined && input['workspace'] === undefined)
    return { repository: repo, branch }
  throw new InvalidError(
    'cli/bad-usage',
    'read the command line: the repository and --branch belong together, and say what "workspace" in --input would say',
    { next: 'Give both, and an input without "workspace".' },
  )
}
