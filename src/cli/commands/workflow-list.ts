import { InvalidError } from '../../base/errors.ts'
import { oneLine, shortened } from '../../base/one-line.ts'
import { parseDuration } from '../../base/quantities.ts'
import type { FoundWorkflow, WorkflowStatus } from '../../runtime/workflows.ts'
import { answer, renderTable } from '../answers.ts'
import type { EngineOptions } from '../engine-server.ts'
import { WORKFLOWS_FOUND, WORKFLOWS_LISTED_MAX } from '../limits.ts'
import type { ConfiguredOptions } from '../options.ts'
import { renderSeconds, timeAs } from '../progress.ts'
import { withRunner } from '../runner.ts'
import type { Terminal } from '../terminal.ts'
import { isOpen } from '../workflow-tree.ts'
import { listSchedules } from './schedules.ts'

/** Lists what has not ended, or the schedules. */
export async function listRunning(
  options: EngineOptions & { readonly schedules?: boolean },
  terminal: Terminal,
): Promise<void> {
  if (options.schedules === true) return listSchedules(options, terminal)
  if (options.server === undefined) return listOpen(options, terminal)
  throw new InvalidError('cli/bad-usage', 'read the command line: --server belongs to --schedules', {
    next: 'For workflows, set conductor.serverUrl to its address with "/api".',
  })
}

async function listOpen(options: ConfiguredOptions, terminal: Terminal): Promise<void> {
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

export interface ListWorkflowsOptions extends ConfiguredOptions {
  readonly name?: string
  readonly status?: readonly WorkflowStatus[]
  readonly failed?: boolean
  readonly since?: string
  readonly until?: string
  readonly correlationId?: string
  readonly limit?: number
}

const UNSUCCESSFUL = ['FAILED', 'TIMED_OUT', 'TERMINATED'] as const satisfies readonly WorkflowStatus[]

/** Lists workflows, ended ones too, the newest first. */
export async function listWorkflows(options: ListWorkflowsOptions, terminal: Terminal): Promise<void> {
  const { name, status, failed, since, until, correlationId, limit = WORKFLOWS_FOUND } = options
  const nowMs = Date.now()
  const query = {
    ...{ name, correlationId },
    statuses: failed === true ? [...UNSUCCESSFUL, ...(status ?? [])] : status,
    afterMs: since === undefined ? undefined : parseTime('--since', since, nowMs),
    beforeMs: until === undefined ? undefined : parseTime('--until', until, nowMs),
  }
  const signal = terminal.stopSignal()
  const { workflows, isWhole } = await withRunner(options, terminal, (runner) =>
    runner.search(query, limit, { signal }),
  )
  answer(terminal, options, { workflows: workflows.map(describeFound), is_whole: isWhole }, () =>
    workflows.length === 0
      ? 'no such workflow\n'
      : renderTable(workflows.map((each) => renderFound(each, nowMs))),
  )
  const last = workflows.at(-1)
  if (!isWhole && options.json !== true && last !== undefined)
    terminal.say(
      terminal.style.faint(
        `there are more: --limit, or --until ${new Date(last.startTimeMs).toISOString()}\n`,
      ),
    )
}

function describeFound(found: FoundWorkflow): object {
  const { workflowId, name, version, status, startTimeMs, endTimeMs, correlationId } = found
  return {
    ...{ workflow_id: workflowId, name, version, status },
    ...timeAs('started_at', startTimeMs),
    ...timeAs('ended_at', endTimeMs),
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
    ...(found.reasonForIncompletion === undefined ? {} : { reason: found.reasonForIncompletion }),
  }
}

const REASON_SHOWN_CHARS = 80

function renderFound(found: FoundWorkflow, nowMs: number): readonly string[] {
  const { workflowId, name, status, startTimeMs, endTimeMs, reasonForIncompletion: reason } = found
  return [
    ...[workflowId, name, status.toLowerCase().replaceAll('_', ' ')],
    new Date(startTimeMs).toISOString(),
    renderSeconds((isOpen(status) || endTimeMs === 0 ? nowMs : endTimeMs) - startTimeMs),
    found.correlationId ?? '',
    shortened(oneLine(reason ?? ''), REASON_SHOWN_CHARS),
  ]
}

/** So long ago, or a date. */
function parseTime(flag: string, text: string, nowMs: number): number {
  const agoMs = parseDuration(text)
  if (agoMs !== undefined) return nowMs - agoMs
  const atMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN
  if (!Number.isNaN(atMs)) return atMs
  throw new InvalidError('cli/bad-usage', `read ${flag}: ${JSON.stringify(text)} is no time`, {
    next: 'Give how long ago, such as 2h or 7d, or a date such as 2026-01-15 or 2026-01-15T12:00:00Z.',
  })
}
