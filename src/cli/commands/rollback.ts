/** Takes an execution back: shows what that does, then does it. */

import { InvalidError, RefusedError } from '../../base/errors.ts'
import type { RollbackPreview } from '../../engine/checkpoints/preview-rollback.ts'
import { answer, renderTable } from '../answers.ts'
import { findEngine, type EngineOptions } from '../engine-server.ts'
import type { Terminal } from '../terminal.ts'

export interface RollbackOptions extends EngineOptions {
  readonly to?: string
  readonly phase?: string
  readonly unit?: string
  readonly artifact?: string
  readonly path?: readonly string[]
  readonly dryRun?: boolean
  readonly pause?: boolean
  readonly abandon?: boolean
  readonly reason?: string
}

interface Preview extends Omit<RollbackPreview, 'checkpointId'> {
  readonly checkpoint_id?: string
}

interface Report {
  readonly undone: readonly string[]
  readonly branches: readonly {
    readonly repository: string
    readonly branch: string
    readonly outcome: 'moved' | 'there' | 'left'
    readonly tag?: string
  }[]
  readonly restored: readonly { readonly branch: string; readonly paths: readonly string[] }[]
}

export async function rollBack(id: string, options: RollbackOptions, terminal: Terminal): Promise<void> {
  const level = levelOf(options)
  const engine = await findEngine(options, terminal)
  const path = `/executions/${encodeURIComponent(id)}/rollback`
  const { reason = 'asked for from the command line' } = options
  if (options.abandon === true) {
    const document = await engine.ask<object>(`${path}/abandon`, { reason })
    answer(terminal, options, document, () => 'the rollback is abandoned, and the execution ended\n')
    return
  }
  const preview = await engine.ask<Preview>(`${path}/preview`, level)
  if (options.dryRun === true) {
    answer(terminal, options, preview, () => renderPreview(preview))
    return
  }
  if (options.json !== true) terminal.say(renderPreview(preview))
  const [refusal] = preview.refusals
  if (refusal !== undefined) {
    throw new RefusedError('cli/rollback-refused', `roll execution ${id} back: ${refusal.message}`, {
      details: { refusals: preview.refusals },
      next: refusal.next,
    })
  }
  const then = options.pause === true ? { then: 'pause' } : {}
  const report = await engine.ask<Report>(path, { ...level, ...then, reason })
  answer(terminal, options, report, () => renderReport(report, options.pause === true))
}

type Level = { readonly level: string } & Readonly<Record<string, unknown>>

function levelOf({ to, phase, unit, artifact, path, abandon }: RollbackOptions): Level {
  const chosen: readonly Level[] = [
    ...(to === undefined
      ? []
      : [to === 'start' ? { level: 'execution' } : { level: 'checkpoint', checkpoint_id: to }]),
    ...(phase === undefined ? [] : [{ level: 'phase', phase }]),
    ...(unit === undefined ? [] : [{ level: 'unit', unit }]),
    ...(artifact === undefined ? [] : [{ level: 'artifact', unit: artifact, ...(path && { paths: path }) }]),
    ...(abandon === true ? [{ level: 'none' }] : []),
  ]
  const [first = { level: 'last-good' }, second] = chosen
  if (second === undefined && (path === undefined || artifact !== undefined)) return first
  throw new InvalidError(
    'cli/bad-usage',
    second === undefined
      ? 'read the command line: --path belongs to --artifact'
      : 'read the command line: only one of --to, --phase, --unit, --artifact and --abandon can be given',
  )
}

function renderPreview({ checkpoint_id: checkpointId, undone, moves, restores, refusals }: Preview): string {
  const rows = [
    ...(checkpointId === undefined ? [] : [['checkpoint', checkpointId]]),
    ['runs again', undone.length === 0 ? 'nothing' : undone.join(', ')],
    ...moves.map(({ repository, branch, from, to }) => [
      `${repository}/${branch}`,
      from === to
        ? `${short(to)}, without what was published and not recorded`
        : `${short(from)} → ${short(to)}`,
    ]),
    ...restores.map(({ repository, branch, paths }) => [
      `${repository}/${branch}`,
      `a new commit restores ${paths?.join(', ') ?? 'all paths that the unit changed'}`,
    ]),
    ...refusals.map(({ message }) => ['refused', message]),
  ]
  return renderTable(rows)
}

function renderReport({ undone, branches, restored }: Report, isPaused: boolean): string {
  const rows = [
    ...branches.map(({ repository, branch, outcome, tag }) => [
      `${repository}/${branch}`,
      outcome === 'moved' ? `moved; what left it: ${tag ?? ''}` : OUTCOMES[outcome],
    ]),
    ...restored.map(({ branch, paths }) => [branch, `restored ${paths.join(', ')}`]),
    ['rolled back', isPaused ? 'paused' : undone.length === 0 ? '' : `${undone.join(', ')} run again`],
  ]
  return renderTable(rows)
}

const OUTCOMES = {
  moved: 'moved',
  there: 'was there already',
  left: 'left as it is: nothing of this execution is on it',
} as const

function short(ref: string): string {
  return ref.slice(0, 12)
}
