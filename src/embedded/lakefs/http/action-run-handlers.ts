/** What the action hooks did. */

import { empty, failure, json, type Answer } from './answer.ts'
import type { ActionRun, HookRun } from '../actions/action-runs.ts'
import type { Exchange } from './exchange.ts'
import { renderPage } from './renderings.ts'

export function listRepositoryRuns({ engine, parts, query, repository }: Exchange): Answer {
  const page = query.page()
  const [branch, commit] = [query.text('branch') ?? '', query.text('commit') ?? '']
  engine.getRepository(repository)
  if (branch !== '' && commit !== '') return failure(400, 'parameters conflict: branch and commit')
  return renderPage(parts.runs.list(repository, { ...page, branch, commit }), (run) => run.id, renderRun)
}

export function getRun(exchange: Exchange): Answer {
  const run = findRun(exchange)
  return run === undefined ? failure(404, 'not found: not found') : json(200, renderRun(run))
}

export function listRunHooks(exchange: Exchange): Answer {
  const { amount, after } = exchange.query.page()
  const rest = (findRun(exchange)?.hooks ?? []).filter((hook) => hook.id > after)
  const page = { items: rest.slice(0, amount), hasMore: rest.length > amount }
  return renderPage(page, (hook) => hook.id, renderHook)
}

export function getRunHookOutput(exchange: Exchange): Answer {
  const hook = findRun(exchange)?.hooks.find((candidate) => candidate.id === exchange.segment('hookRun'))
  if (hook === undefined) return failure(404, 'not found: not found')
  if (hook.status === 'skipped') return empty(200)
  return { status: 200, headers: { 'Content-Type': 'application/octet-stream' }, body: hook.output }
}

function findRun(exchange: Exchange): ActionRun | undefined {
  exchange.engine.getRepository(exchange.repository)
  return exchange.parts.runs.get(exchange.repository, exchange.segment('run'))
}

function renderRun(run: ActionRun): object {
  return {
    branch: run.branch,
    commit_id: run.commitId,
    end_time: isoTime(run.endedAtMs),
    event_type: run.eventType,
    run_id: run.id,
    start_time: isoTime(run.startedAtMs),
    status: run.passed ? 'completed' : 'failed',
  }
}

function renderHook(hook: HookRun): object {
  return {
    action: hook.actionName,
    end_time: isoTime(hook.endedAtMs),
    hook_id: hook.hookId,
    hook_run_id: hook.id,
    start_time: isoTime(hook.startedAtMs),
    status: hook.status,
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
