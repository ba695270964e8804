/**
 * Action hooks: reads the action files of the tree, runs those that apply, and stops the update when one refuses it.
 * What cannot be run as lakeFS would run it stops the update too; nothing is skipped silently.
 */

import type { Clock } from '../../../base/clock.ts'
import { shortened } from '../../../base/one-line.ts'
import { EMBEDDED_HOOKS_MAX, EMBEDDED_REFUSAL_MAX_CHARS } from '../../limits.ts'
import { EngineError, type HookEvent, type HookRunner } from '../engine/engine.ts'
import { appliesTo, unenforcedEvents, type Action, type ActionHook } from './action-file.ts'
import { createActionLoader } from './action-loader.ts'
import { newRunId, type ActionRuns, type HookRun } from './action-runs.ts'
import type { LuaPool } from './lua-pool.ts'

interface HookRunnerParts {
  readonly lua: LuaPool
  readonly runs: ActionRuns
  readonly clock: Clock
  readonly userId: string
}

export function createHookRunner(parts: HookRunnerParts): HookRunner {
  const loadActions = createActionLoader(parts.lua)
  return async (event, read) => {
    const files = event.listActionFiles()
    // Most trees have none.
    if (files.length === 0) return
    const runId = newRunId(parts.clock.now().getTime())
    await runActions(parts, event, runId, await loadActions(files, read))
  }
}

async function runActions(
  parts: HookRunnerParts,
  event: HookEvent,
  runId: string,
  actions: readonly Action[],
): Promise<void> {
  for (const action of actions) {
    const [unenforced] = unenforcedEvents(action)
    if (unenforced !== undefined) {
      throw refusal(event, runId, [
        `action '${action.name}': this server does not run event '${unenforced}', so it refuses updates with this action file`,
      ])
    }
  }
  const applying = actions.filter(
    (action) => action.hooks.length > 0 && appliesTo(action, event.type, event.branch),
  )
  if (applying.length === 0) return
  const hookCount = applying.reduce((count, action) => count + action.hooks.length, 0)
  if (hookCount > EMBEDDED_HOOKS_MAX) {
    throw refusal(event, runId, [`${hookCount} hooks apply, and only ${EMBEDDED_HOOKS_MAX} are run`])
  }

  const hooks: HookRun[] = []
  const errors: string[] = []
  for (const [actionIndex, action] of applying.entries()) {
    let firstError: string | undefined
    for (const [hookIndex, hook] of action.hooks.entries()) {
      const id = `${fourDigits(actionIndex)}_${fourDigits(hookIndex)}`
      const hasFailed = firstError !== undefined
      const ran = await runHook(parts, { event, runId, action, hook, id, hasFailed })
      hooks.push(ran.record)
      firstError ??= ran.error
    }
    if (firstError !== undefined) errors.push(firstError)
  }
  const isPreCommit = event.type === 'pre-commit'
  parts.runs.add(event.repository, {
    id: runId,
    branch: event.branch,
    // A commit that was refused does not exist.
    commitId: isPreCommit && errors.length > 0 ? '' : event.commit.id,
    eventType: event.type,
    passed: errors.length === 0,
    startedAtMs: Math.min(...hooks.map((hook) => hook.startedAtMs)),
    endedAtMs: Math.max(...hooks.map((hook) => hook.endedAtMs)),
    hooks,
  })
  if (errors.length > 0) throw refusal(event, runId, errors)
}

interface HookTask {
  readonly event: HookEvent
  readonly runId: string
  readonly action: Action
  readonly hook: ActionHook
  readonly id: string
  readonly hasFailed: boolean
}

async function runHook(
  parts: HookRunnerParts,
  task: HookTask,
): Promise<{ record: HookRun; error: string | undefined }> {
  const { action, hook, id } = task
  const startedAtMs = parts.clock.now().getTime()
  const finish = (status: HookRun['status'], output: string): HookRun => ({
    id,
    actionName: action.name,
    hookId: hook.id,
    status,
    startedAtMs,
    endedAtMs: parts.clock.now().getTime(),
    output,
  })

  const runsAfter = CONDITIONS.get(hook.if)
  if (runsAfter?.(task.hasFailed) === false) return { record: finish('skipped', ''), error: undefined }
  const { output, error } =
    runsAfter === undefined
      ? { output: '', error: `this server does not know the condition ${JSON.stringify(hook.if)}` }
      : await runLua(parts, task)
  if (error === undefined) return { record: finish('completed', output), error }
  return {
    record: finish('failed', `${output}Error: action failed: ${error}\n`),
    error: `hook run id '${id}' failed on action '${action.name}' hook '${hook.id}': action failed: ${error}`,
  }
}

async function runLua(
  parts: HookRunnerParts,
  task: HookTask,
): Promise<{ output: string; error: string | undefined }> {
  const { type, properties } = task.hook
  const refuse = (error: string): { output: string; error: string } => ({ output: '', error })
  if (type !== 'lua') return refuse(`hooks of type '${type}' are not run by this server, only 'lua'`)
  const { script, args } = properties
  if (properties['script_path'] !== undefined) {
    return refuse("'script_path' is not offered by this server, put the code into 'script'")
  }
  if (typeof script !== 'string' || script === '') {
    return refuse("'script' must be supplied: wrong value type")
  }
  if (args !== undefined && (typeof args !== 'object' || args === null || Array.isArray(args))) {
    return refuse("'args' should be a map: wrong value type")
  }
  const globals = { action: describeAction(task), args: args ?? {}, username: parts.userId }
  return parts.lua.run({ script, globals })
}

/** What Lua sees as `action`. */
function describeAction({ event, runId, action, hook }: HookTask): object {
  const { commit } = event
  const isMerge = event.type.endsWith('-merge')
  // Before a commit the real server has neither its tree nor its id yet.
  const isPreCommit = event.type === 'pre-commit'
  return {
    action_name: action.name,
    hook_id: hook.id,
    run_id: runId,
    pre_run_id: '',
    event_type: event.type,
    commit_id: isPreCommit ? '' : commit.id,
    branch_id: event.branch,
    source_ref: isMerge ? (commit.parents[1] ?? event.sourceRef) : event.sourceRef,
    merge_source: isMerge ? event.sourceRef : '',
    tag_id: '',
    repository_id: event.repository,
    commit: {
      message: commit.message,
      meta_range_id: isPreCommit ? '' : commit.metaRangeId,
      creation_date: new Date(commit.createdAt * 1000).toISOString().replace('.000Z', 'Z'),
      version: commit.version,
      metadata: commit.metadata,
      parents: commit.parents,
    },
  }
}

/** `if` of a hook, and whether it runs after a hook before it failed, or did not; by default only if none failed. */
const CONDITIONS: ReadonlyMap<string, (hasFailed: boolean) => boolean> = new Map([
  ...['', 'success()', '!failure()'].map((text) => [text, (hasFailed: boolean) => !hasFailed] as const),
  ...['failure()', '!success()'].map((text) => [text, (hasFailed: boolean) => hasFailed] as const),
  ...['true', 'success() || failure()'].map((text) => [text, () => true] as const),
  ['false', () => false],
])

function refusal(event: HookEvent, runId: string, errors: readonly string[]): EngineError {
  const count = errors.length === 1 ? '1 error' : `${String(errors.length)} errors`
  const list = shortened(errors.map((error) => `* ${error}`).join('\n\t'), EMBEDDED_REFUSAL_MAX_CHARS)
  const prefix = event.type.endsWith('-merge') ? `update branch ${event.branch}: ` : ''
  return new EngineError(
    'hook-refused',
    `${prefix}${event.type} hook aborted, run id '${runId}': ${count} occurred:\n\t${list}\n\n`,
  )
}

function fourDigits(index: number): string {
  return String(index).padStart(4, '0')
}
