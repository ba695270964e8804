/** Pipelines and workflows from the command line: on the engine of `perago dev`, or on a real Conductor. */

import { setTimeout as wait } from 'node:timers/promises'
import { isAborted } from '../../base/abort-signals.ts'
import { InvalidError, MissingError, RefusedError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { oneLine, printableJson } from '../../base/one-line.ts'
import { readHead, type BranchPlace } from '../../runtime/read-head.ts'
import type { Workflow, Workflows } from '../../runtime/workflows.ts'
import { answer, renderTable } from '../answers.ts'
import { WORKFLOW_LOOK_MS, WORKFLOWS_LISTED_MAX } from '../limits.ts'
import type { ConfiguredOptions } from '../options.ts'
import { describeTask, latestAttempts, renderProgress } from '../progress.ts'
import type { EngineOptions } from '../engine-server.ts'
import { listSchedules } from './schedules.ts'
import { readJsonObjectArgument } from '../json-argument.ts'
import { withRunner } from '../runner.ts'
import type { Terminal } from '../terminal.ts'
import { openUnpolled, type FindUnpolled } from '../unpolled.ts'

export interface RunPipelineOptions extends ConfiguredOptions {
  readonly input: string
  readonly repo?: string
  readonly branch?: string
  /** False for `--no-wait`. */
  readonly wait?: boolean
}

/** Starts it and shows its progress until it has ended. An end without success is an error. */
export async function runPipeline(
  name: string,
  options: RunPipelineOptions,
  terminal: Terminal,
): Promise<void> {
  const given = await readJsonObjectArgument('--input', options.input, terminal)
  const place = branchOf(options, given)
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  await withRunner(options, terminal, async (workflows, { configuration, logger, isDev }) => {
    const workspace = place && {
      ...{ ...place, refType: 'commit' },
      ref: await readHead(configuration, place, { logger, signal: stop }),
    }
    const input = { ...given, ...(workspace && { workspace }) }
    const id = await workflows.start({ name, input }, { signal: stop })
    if (options.wait === false) {
      answer(terminal, options, { workflow_id: id }, () => `${id}\n`)
      return
    }
    const findUnpolled = openUnpolled({
      readLastPolls: (taskType) => workflows.readLastPolls(taskType, { signal: stop }),
      next: isDev ? START_ON_DEV : START_WORKER,
    })
    const ended = await follow(workflows, id, { findUnpolled, terminal, stop })
    const { status, output, reasonForIncompletion: reason } = ended
    if (status !== 'COMPLETED') throw notCompleted(name, ended)
    answer(
      terminal,
      options,
      { workflow_id: id, status, output, ...(reason === undefined ? {} : { reason }) },
      () => `${printableJson(output, 2)}\n`,
    )
  })
}

const START_ON_DEV =
  'Export the task from the module of "perago dev", which is read again when it changes; or cancel the run.'
const START_WORKER = 'Start a worker: "perago start MODULE", with the module that exports the task.'

/** Lists what has not ended, or the schedules. */
export async function listRunning(
  options: EngineOptions & { readonly schedules?: boolean },
  terminal: Terminal,
): Promise<void> {
  if (options.schedules === true) return listSchedules(options, terminal)
  if (options.server === undefined) return listWorkflows(options, terminal)
  throw new InvalidError('cli/bad-usage', 'read the command line: --server belongs to --schedules', {
    next: 'For workflows, set conductor.serverUrl to its address with "/api".',
  })
}

async function listWorkflows(options: ConfiguredOptions, terminal: Terminal): Promise<void> {
  const signal = terminal.stopSignal()
  const { workflows, isWhole } = await withRunner(options, terminal, (runner) =>
    runner.listOpen(WORKFLOWS_LISTED_MAX, { signal }),
  )
  const rows = workflows.map(({ workflowId, name, startTimeMs }) => ({
    workflow_id: workflowId,
    name,
    started_at: new Date(startTimeMs).toISOString(),
  }))
  answer(terminal, options, { workflows: rows, is_whole: isWhole }, () =>
    rows.length === 0
      ? 'nothing runs\n'
      : renderTable(rows.map((row) => [row.workflow_id, row.name, row.started_at])),
  )
}

/** Shows one, also after its end. */
export async function showWorkflow(
  id: string,
  options: ConfiguredOptions,
  terminal: Terminal,
): Promise<void> {
  const workflow = await withRunner(options, terminal, (workflows) => read(workflows, id))
  answer(terminal, options, describeWorkflow(workflow), () => {
    const { name, status, reasonForIncompletion: reason } = workflow
    const why = reason === undefined ? '' : `: ${oneLine(reason)}`
    return `${name} ${status.toLowerCase()}${why}\n${renderProgress(workflow, Date.now())}`
  })
}

/** Prints what the tasks have logged, the latest attempt of each. */
export async function showLogs(id: string, options: ConfiguredOptions, terminal: Terminal): Promise<void> {
  const logs = await withRunner(options, terminal, async (workflows) => {
    const tasks = latestAttempts(await read(workflows, id))
    return Promise.all(
      tasks.map(async (task) => ({
        task: task.referenceTaskName,
        lines: await workflows.readLog(task.taskId),
      })),
    )
  })
  answer(terminal, options, { logs }, () =>
    logs.flatMap(({ task, lines }) => lines.map((line) => `${task}  ${oneLine(line)}\n`)).join(''),
  )
}

type Act = 'pause' | 'resume' | 'retry'

/** Does one of them, and shows what became of it. */
export async function actOnWorkflow(
  act: Act,
  id: string,
  options: ConfiguredOptions,
  terminal: Terminal,
): Promise<void> {
  await change(id, options, terminal, (workflows) => workflows[act](id))
}

export async function cancelWorkflow(
  id: string,
  options: ConfiguredOptions & { readonly reason?: string },
  terminal: Terminal,
): Promise<void> {
  const { reason = 'cancelled from the command line' } = options
  await change(id, options, terminal, async (workflows) => workflows.terminate(id, reason))
}

async function change(
  id: string,
  options: ConfiguredOptions,
  terminal: Terminal,
  act: (workflows: Workflows) => Promise<boolean>,
): Promise<void> {
  const workflow = await withRunner(options, terminal, async (workflows) => {
    // An unknown id and a state that does not allow it are answered alike.
    await read(workflows, id)
    if (!(await act(workflows)))
      throw new RefusedError('cli/not-now', `change workflow ${id}: its state does not allow it`, {
        next: `Look at "perago show ${id}".`,
      })
    return read(workflows, id)
  })
  answer(
    terminal,
    options,
    describeWorkflow(workflow),
    () => `${workflow.name} ${workflow.status.toLowerCase()}\n`,
  )
}

interface Following {
  readonly findUnpolled: FindUnpolled
  readonly terminal: Terminal
  readonly stop: AbortSignal
}

/** Until it has ended. A person sees all tasks, redrawn; a program gets one line for each change. */
async function follow(
  workflows: Workflows,
  id: string,
  { findUnpolled, terminal, stop }: Following,
): Promise<Workflow> {
  const view = process.stderr.isTTY ? redraw(terminal) : appendChanges(terminal)
  for (;;) {
    const workflow = await read(workflows, id)
    view.show(workflow)
    if (workflow.status !== 'RUNNING' && workflow.status !== 'PAUSED') return workflow
    if (workflow.status === 'RUNNING') for (const warning of await findUnpolled(workflow)) view.warn(warning)
    // A signal ends the wait as well.
    await wait(WORKFLOW_LOOK_MS, undefined, { signal: stop }).catch(() => undefined)
    if (isAborted(stop)) throw stillRuns(id)
  }
}

interface View {
  show(workflow: Workflow): void
  warn(warning: string): void
}

function redraw({ say, style }: Terminal): View {
  let lines = 0
  return {
    show: (workflow) => {
      const text = renderProgress(workflow, Date.now())
      const up = lines === 0 ? '' : `\u001b[${lines}A\u001b[J`
      say(`${up}${text}`)
      lines = text.split('\n').length - 1
    },
    warn: (warning) => {
      say(`${style.bad(warning)}\n`)
      // It stays: what follows is drawn below it.
      lines = 0
    },
  }
}

function appendChanges({ say }: Terminal): View {
  const told = new Map<string, string>()
  return {
    show: ({ tasks }) => {
      for (const task of tasks) {
        const line = printableJson(describeTask(task))
        if (told.get(task.taskId) === line) continue
        told.set(task.taskId, line)
        say(`${line}\n`)
      }
    },
    warn: (warning) => say(`${printableJson({ warning })}\n`),
  }
}

async function read(workflows: Workflows, id: string): Promise<Workflow> {
  const found = await workflows.read(id)
  if (found !== undefined) return found
  throw new MissingError('cli/no-such-workflow', `read workflow ${JSON.stringify(id)}: it does not exist`, {
    next: 'Correct the id; "perago ps" lists those that run.',
  })
}

function describeWorkflow(workflow: Workflow): JsonObject {
  const { workflowId, name, status, output, reasonForIncompletion: reason } = workflow
  return {
    workflow_id: workflowId,
    ...{ name, status, output },
    ...(reason === undefined ? {} : { reason }),
    tasks: workflow.tasks.map(describeTask),
  }
}

function notCompleted(name: string, { workflowId, status, reasonForIncompletion }: Workflow) {
  return new RefusedError(
    'cli/workflow-not-completed',
    `run ${JSON.stringify(name)}: it is ${status}: ${reasonForIncompletion ?? 'no reason is known'}`,
    {
      details: { workflow_id: workflowId, status },
      next: `Look at "perago show ${workflowId}" and "perago logs ${workflowId}"; "perago retry ${workflowId}" tries again what failed.`,
    },
  )
}

function stillRuns(id: string): RefusedError {
  return new RefusedError('cli/stopped', `follow workflow ${id}: stopped; the workflow goes on`, {
    next: `Look at "perago show ${id}", or end it with "perago cancel ${id}".`,
  })
}

/** The branch that the input names by its head. */
function branchOf({ repo, branch }: RunPipelineOptions, input: JsonObject): BranchPlace | undefined {
  if (repo === undefined && branch === undefined) return undefined
  if (repo !== undefined && branch !== undefined && input['workspace'] === undefined)
    return { repository: repo, branch }
  throw new InvalidError(
    'cli/bad-usage',
    'read the command line: --repo and --branch belong together, and say what "workspace" in --input would say',
    { next: 'Give both, and an input without "workspace".' },
  )
}
