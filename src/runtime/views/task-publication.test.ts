import { expect, test } from 'vitest'
import type { TaskStatus } from '../../worker/ports.ts'
import { readTaskStory } from './task-publication.ts'

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)]
const at = (ref: string) => ({ workspace: { repository: 'lake', branch: 'main', refType: 'commit', ref } })
const task = (status: TaskStatus, more: object = {}) => ({
  ...{ status, input: at(A), output: status === 'COMPLETED' ? at(B) : {} },
  ...{ reasonForIncompletion: undefined, ...more },
})
const publicationOf = (...of: Parameters<typeof readTaskStory>) => readTaskStory(...of).publication
const place = { repository: 'lake', branch: 'main', inputRef: A }
const merged = (ref: string, strength: string): string => `published: merged at ${ref}, ${strength} fence`

test('DO-144 a publication is told with its commits, its strength and the fences that let it pass', () => {
  expect(publicationOf(task('COMPLETED'), ['hello', merged(B, 'hard')])).toEqual({
    ...{ ...place, commit: B, outcome: 'merged', strength: 'hard' },
    fences: [
      { fence: 'attempt', passed: true },
      { fence: 'publish', passed: true },
      { fence: 'hard', passed: true },
    ],
  })
  expect(publicationOf(task('COMPLETED'), [merged(B, 'soft')])?.fences).toHaveLength(2)
  const replaced = [
    `published: replaced at ${B}, soft fence`,
    `warn: superseded ${A}, which stays reachable as tag "t"`,
  ]
  expect(publicationOf(task('COMPLETED'), replaced)).toMatchObject({
    outcome: 'replaced',
    replaced: A,
    evidence: 't',
  })
})

test('DO-144 only what the result of a task says as well is believed of its log', () => {
  expect(publicationOf(task('COMPLETED'), [])).toEqual({ ...place, commit: B, fences: [] })
  expect(publicationOf(task('COMPLETED'), [merged(A, 'hard')])).toEqual({ ...place, commit: B, fences: [] })
  expect(publicationOf(task('FAILED'), [merged(B, 'hard')])).toEqual({ ...place, fences: [] })
  expect(publicationOf({ ...task('COMPLETED'), input: { params: 1 } }, [merged(B, 'soft')])).toBeUndefined()
})

test('DO-144 a refusal names the fence that refused, in its own words, and what was kept', () => {
  const said = 'publish on branch "main": its head is elsewhere'
  const failed = task('FAILED_WITH_TERMINAL_ERROR', {
    reasonForIncompletion: `${said} [fences/publish-refused]. Start a new workflow.`,
  })
  expect(publicationOf(failed, [`kept: staging branch "s" at ${B}`])).toEqual({
    ...{ ...place, outcome: 'refused', evidence: 's' },
    fences: [{ fence: 'publish', passed: false, why: said }],
  })
  const hard = task('FAILED', { reasonForIncompletion: 'write branch "main": off [publication/fence-off]' })
  expect(publicationOf(hard, [])?.fences).toEqual([
    { fence: 'hard', passed: false, why: 'write branch "main": off' },
  ])
  const body = task('FAILED', { reasonForIncompletion: 'it broke [task/failed]' })
  expect(publicationOf(body, [])).toEqual({ ...place, fences: [] })
})

const steps = (step: string): string => `steps: [{"step":"${step}","at":"2026-01-31T10:00:00.000Z","ms":7}]`
const told = (step: string) => [{ step, at: '2026-01-31T10:00:00.000Z', ms: 7 }]

test('DO-153 the steps of a task are told with its publication, and with its failure', () => {
  const published = readTaskStory(task('COMPLETED'), ['hello', merged(B, 'soft'), steps('body')])
  expect(published).toMatchObject({ publication: { outcome: 'merged' }, steps: told('body') })
  const failed = { ...task('FAILED', { reasonForIncompletion: 'it broke [task/failed]' }), input: {} }
  expect(readTaskStory(failed, ['failed: it broke [task/failed]', steps('body')])).toEqual({
    steps: told('body'),
  })
})

test.each([
  ['before the line of its worker', task('COMPLETED'), [steps('body'), merged(B, 'soft')]],
  ['without such a line', task('COMPLETED'), ['hello', steps('body')]],
  ['with a line that the result denies', task('COMPLETED'), [merged(A, 'soft'), steps('body')]],
  ['while it runs', task('IN_PROGRESS'), [merged(B, 'soft'), steps('body')]],
  [
    'and fails without a worker that says why',
    task('TIMED_OUT', { reasonForIncompletion: 'it took too long' }),
    ['failed: x', steps('body')],
  ],
])('DO-153 steps that a body logs %s are not believed', (_, of, lines) => {
  expect(readTaskStory(of, lines)).not.toHaveProperty('steps')
})
