import { expect, test } from 'vitest'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { moveStage, STAGE_MOVES, STAGES, STATUSES_OF_STAGE, type Stage } from './stages.ts'

const at = (stage: Stage) => ({ workflowId: 'w' as WorkflowId, stage, moves: [{ stage, atMs: 0 }] })

/** Written here once more by hand, from the specification: `from` to what may follow. */
const ALLOWED: Readonly<Record<Stage, readonly Stage[]>> = {
  PENDING: ['SCHEDULING', 'CANCELLED'],
  SCHEDULING: ['EXECUTING', 'FAILED', 'CANCELLED'],
  EXECUTING: ['VERIFYING', 'ROLLBACK', 'FAILED', 'CANCELLED'],
  VERIFYING: ['COMMIT', 'ROLLBACK', 'CANCELLED'],
  ROLLBACK: ['PENDING', 'FAILED', 'CANCELLED'],
  COMMIT: [],
  FAILED: [],
  CANCELLED: [],
}
const PAIRS = STAGES.flatMap((from) => STAGES.map((to) => [from, to] as const))

test('X-90 the stages are the seven of the specification, and CANCELLED', () => {
  expect([...STAGES].sort()).toEqual([
    'CANCELLED',
    'COMMIT',
    'EXECUTING',
    'FAILED',
    'PENDING',
    'ROLLBACK',
    'SCHEDULING',
    'VERIFYING',
  ])
})

test.each(PAIRS.filter(([from, to]) => ALLOWED[from].includes(to)))(
  'X-03 %s may become %s, and the move is noted with its time',
  (from, to) => {
    const moved = moveStage(at(from), to, 7)
    expect(moved.stage).toBe(to)
    expect(moved.moves).toEqual([
      { stage: from, atMs: 0 },
      { stage: to, atMs: 7 },
    ])
  },
)

test.each(PAIRS.filter(([from, to]) => !ALLOWED[from].includes(to)))(
  'X-101 %s does not become %s',
  (from, to) => {
    const refused = { code: 'engine/illegal-move', kind: 'refused', details: { workflowId: 'w', from, to } }
    expect(() => moveStage(at(from), to, 7)).toThrow(expect.objectContaining(refused))
  },
)

test('X-100 nothing follows COMMIT and FAILED', () => {
  expect([STAGE_MOVES.COMMIT, STAGE_MOVES.FAILED, STAGE_MOVES.CANCELLED]).toEqual([{}, {}, {}])
})

test('EN-300 every status of Conductor belongs to a stage, and a status that has ended to one stage only', () => {
  const stagesOf = (status: string) =>
    STAGES.filter((stage) => STATUSES_OF_STAGE[stage].some((one) => one === status))
  expect(stagesOf('COMPLETED')).toEqual(['COMMIT'])
  expect(stagesOf('FAILED')).toEqual(['FAILED'])
  expect(stagesOf('TIMED_OUT')).toEqual(['FAILED'])
  expect(stagesOf('TERMINATED')).toEqual(['CANCELLED'])
  const open = STAGES.filter((stage) => Object.keys(STAGE_MOVES[stage]).length > 0)
  expect(stagesOf('RUNNING')).toEqual(open)
  expect(stagesOf('PAUSED')).toEqual(open)
})
