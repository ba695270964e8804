/** Rollbacks, checkpoints and the graph of an execution over HTTP. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import type { RollbackPreview } from '../../engine/checkpoints/preview-rollback.ts'
import type { RollbackReport } from '../../engine/checkpoints/roll-back-execution.ts'
import { statesOf } from '../../engine/graph-drawing/live-states.ts'
import type { Engine } from '../../engine/host/open-engine.ts'
import type { EngineRollback } from '../../engine/host/rollbacks.ts'
import { noSuchExecution } from '../../engine/host/execution-list.ts'
import type { Execution } from '../../engine/protocol/execution.ts'
import type { WorkflowId } from '../../worker/ports.ts'
import type { Right } from '../access/callers.ts'
import { API_ROLLBACK_MAX_BYTES, API_ROLLBACK_PATHS_MAX } from '../limits.ts'
import type { EngineRoutesParts } from './engine-routes.ts'
import type { Asked, HttpEnvironment } from './environment.ts'
import { openCallerEngine } from './open-caller-engine.ts'
import { readJsonBody } from './read-body.ts'
import { readFields, readIdempotencyKey, readQuery } from './read-request.ts'
import { showSummary } from './show-execution.ts'

const text = z.string().min(1).max(1_024)
const LEVELS = ['execution', 'phase', 'unit', 'checkpoint', 'last-good', 'artifact'] as const
const WHAT = {
  level: z.enum(LEVELS).default('last-good'),
  phase: text.optional(),
  unit: text.optional(),
  checkpoint_id: text.optional(),
  paths: z.array(text).max(API_ROLLBACK_PATHS_MAX).optional(),
}
const PREVIEW = z.strictObject(WHAT)
const ROLLBACK = z.strictObject({
  ...WHAT,
  then: z.enum(['continue', 'pause', 'end']).optional(),
  reason: text.optional(),
})
const ABANDON = z.strictObject({ reason: text })

export function addRollbackRoutes(
  app: Hono<HttpEnvironment>,
  { engines }: Pick<EngineRoutesParts, 'engines'>,
): void {
  const open = (asked: Asked, right: Right): Promise<Engine> => openCallerEngine(engines, asked, right)
  const bodyOf = (asked: Asked): Promise<unknown> => {
    readQuery(asked.req.url, {})
    return readJsonBody(asked.req.raw, API_ROLLBACK_MAX_BYTES)
  }
  app.post('/executions/:execution/rollback', async (asked) => {
    const { control } = await open(asked, 'roll executions back')
    const key = readIdempotencyKey(asked.req.header('idempotency-key'))
    const body = readFields('the rollback', ROLLBACK, await bodyOf(asked))
    const { then, reason } = body
    const wanted: EngineRollback = { of: scopeOf(body), ...defined({ then }), reason, key }
    return asked.json(showReport(await control.rollBack(idOf(asked), wanted)))
  })
  app.post('/executions/:execution/rollback/preview', async (asked) => {
    const { control } = await open(asked, READ)
    const body = readFields('the rollback', PREVIEW, await bodyOf(asked))
    return asked.json(showPreview(await control.previewRollBack(idOf(asked), scopeOf(body))))
  })
  app.post('/executions/:execution/rollback/abandon', async (asked) => {
    const { control, reader } = await open(asked, 'roll executions back')
    await control.abandonRollBack(idOf(asked), readFields('the request', ABANDON, await bodyOf(asked)))
    return asked.json(showSummary(await readExecution(reader, idOf(asked))))
  })
}

/** What can be gone back to, and how far an execution is. */
export function addPictureRoutes(
  app: Hono<HttpEnvironment>,
  { engines }: Pick<EngineRoutesParts, 'engines'>,
): void {
  app.get('/executions/:execution/checkpoints', async (asked) => {
    readQuery(asked.req.url, {})
    const { reader } = await openCallerEngine(engines, asked, READ)
    await readExecution(reader, idOf(asked))
    return asked.json({ checkpoints: await reader.listCheckpoints(idOf(asked)) })
  })
  app.get('/executions/:execution/graph', async (asked) => {
    readQuery(asked.req.url, {})
    const { reader } = await openCallerEngine(engines, asked, READ)
    const execution = await readExecution(reader, idOf(asked))
    return asked.json({ status: execution.stage, graph: execution.graph, states: statesOf(execution) })
  })
}

const READ: Right = 'read executions and pipelines'

async function readExecution(reader: Engine['reader'], id: WorkflowId): Promise<Execution> {
  const execution = await reader.read(id)
  if (execution === undefined) throw noSuchExecution('read', id)
  return execution
}

function scopeOf(body: z.output<typeof PREVIEW>): EngineRollback['of'] {
  const { level, phase, unit, checkpoint_id: checkpointId, paths } = body
  if (level === 'execution' || level === 'last-good') return { level }
  if (level === 'phase' && phase !== undefined) return { level, phaseId: phase }
  if (level === 'unit' && unit !== undefined) return { level, unit }
  if (level === 'checkpoint' && checkpointId !== undefined) return { level, checkpointId }
  if (level === 'artifact' && unit !== undefined) return { level, unit, ...defined({ paths }) }
  const missing = { phase: 'phase', unit: 'unit', artifact: 'unit', checkpoint: 'checkpoint_id' }[level]
  throw new InvalidError(
    'api/missing-field',
    `read the rollback: the level "${level}" needs the field ${missing}`,
    { details: { problems: [{ path: missing, problem: 'is missing' }] } },
  )
}

function showPreview({ checkpointId, undone, moves, restores, refusals }: RollbackPreview) {
  return {
    ...defined({ checkpoint_id: checkpointId }),
    ...{ undone, moves, refusals },
    restores: restores.map(({ repository, branch, paths }) => ({
      ...{ repository, branch, ...defined({ paths }) },
    })),
  }
}

function showReport({ undone, branches, restored, damaged }: RollbackReport) {
  return {
    undone,
    branches: branches.map((one) => ({
      repository: one.repository,
      branch: one.branch,
      outcome: one.is,
      ...(one.is === 'moved' ? { superseded_ref: one.supersededRef, tag: one.evidenceTag } : {}),
      ...(one.is === 'left' ? defined({ head: one.head }) : {}),
    })),
    restored,
    damaged_checkpoints: damaged,
  }
}

function idOf(asked: Asked): WorkflowId {
  return (asked.req.param('execution') ?? '') as WorkflowId
}
