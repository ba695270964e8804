// What the types of `definePipeline` refuse, each case with the compiler's own code for why; and the nearest thing that compiles.
import { expect, test } from 'vitest'
import { compileSnippets } from '../support/type-check.ts'

const PRELUDE = `import { z } from 'zod'
import { condition, definePipeline, text, workspaceInput } from './src/perago-engine.ts'
import { defineTask, defineWorkspaceTask } from './src/perago.ts'
const owner = 'data@example.org'
const count = defineTask({
  name: 'count', owner,
  params: z.object({ day: z.string(), limit: z.int().optional() }),
  result: z.object({ rows: z.int(), isLarge: z.boolean(), names: z.array(z.string()), size: z.enum(['s', 'l']), note: z.string().nullable() }),
  body: () => ({ rows: 1, isLarge: false, names: [], size: 's' as const, note: null }),
})
const clean = defineWorkspaceTask({
  name: 'clean', owner, params: z.object({}), result: z.object({ rows: z.int() }), workspace: {}, body: () => ({ rows: 1 }),
})
const child = definePipeline({ name: 'child', input: z.object({ rows: z.int() }) }, (p) => ({ twice: p.input.rows }))
const input = z.object({ workspace: workspaceInput, day: z.string() })
void text; void condition; void clean; void child`

const inside = (line: string): string => `${PRELUDE}
definePipeline({ name: 'p', input }, (p) => {
  const counted = p.task('count', count, { params: { day: p.input.day } })
  void counted
  ${line}
  return undefined
})`

const NOT_ASSIGNABLE = 2322
const BAD_ARGUMENT = 2345
const NOT_THERE = 2339
const MISSPELLED = 2551
const UNKNOWN_PROPERTY = 2353

const CASES: readonly [what: string, refused: string, code: number, accepted: string][] = [
  ['an output that the task has not', 'void counted.result.row', MISSPELLED, 'void counted.result.rows'],
  ['an input that the pipeline has not', 'void p.input.dya', NOT_THERE, 'void p.input.day'],
  [
    'a number in the place of a text',
    `p.task('b', count, { params: { day: counted.result.rows } })`,
    NOT_ASSIGNABLE,
    `p.task('b', count, { params: { day: text\`\${counted.result.rows}\` } })`,
  ],
  [
    'a text that may be missing',
    `p.task('b', count, { params: { day: counted.result.note } })`,
    NOT_ASSIGNABLE,
    `p.task('b', count, { params: { day: p.input.day } })`,
  ],
  [
    'a parameter that the task has not',
    `p.task('b', count, { params: { day: 'x', limits: 1 } })`,
    NOT_ASSIGNABLE,
    `p.task('b', count, { params: { day: 'x', limit: 1 } })`,
  ],
  [
    'a parameter left out',
    `p.task('b', count, { params: { limit: counted.result.rows } })`,
    NOT_ASSIGNABLE,
    `p.task('b', count, { params: { limit: counted.result.rows, day: '' } })`,
  ],
  [
    'a workspace for a task that has none',
    `p.task('b', count, { params: { day: '' }, workspace: p.input.workspace })`,
    NOT_ASSIGNABLE,
    `p.task('b', clean, { workspace: p.input.workspace })`,
  ],
  [
    'no workspace for a task that has one',
    `p.task('b', clean, {})`,
    BAD_ARGUMENT,
    `p.task('b', clean, { workspace: p.input.workspace })`,
  ],
  [
    'the workspace of a task that has none',
    'void counted.workspace',
    NOT_THERE,
    `void p.task('b', clean, { workspace: p.input.workspace }).workspace`,
  ],
  [
    'a case that the value never has',
    `p.switch('b', counted.result.size, { cases: { m: () => undefined } })`,
    UNKNOWN_PROPERTY,
    `p.switch('b', counted.result.size, { cases: { l: () => undefined } })`,
  ],
  [
    'a decision over a number',
    `p.if('b', counted.result.rows, { then: () => undefined })`,
    BAD_ARGUMENT,
    `p.if('b', counted.result.isLarge, { then: () => undefined })`,
  ],
  [
    'items of another type',
    `p.each('b', counted.result.names, { max: 1 }, (item) => { p.each('c', item, { max: 1 }, () => undefined) })`,
    BAD_ARGUMENT,
    `p.each('b', counted.result.names, { max: 1 }, (item) => { p.task('c', count, { params: { day: item } }) })`,
  ],
  [
    'the input of another pipeline of the wrong type',
    `p.pipeline('b', child, { input: { rows: p.input.day } })`,
    NOT_ASSIGNABLE,
    `p.pipeline('b', child, { input: { rows: counted.result.rows } })`,
  ],
  [
    'an output that the other pipeline has not',
    `void p.pipeline('b', child, { input: { rows: 1 } }).output.once`,
    NOT_THERE,
    `p.task('c', count, { params: { day: '', limit: p.pipeline('b', child, { input: { rows: 1 } }).output.twice } })`,
  ],
]

test('EN-534 a wrong output, parameter, workspace or case of a pipeline does not compile', () => {
  const inOrder = (lines: readonly string[]): string =>
    inside(lines.map((line) => `{ ${line} }`).join('\n  '))
  const [refused, accepted] = compileSnippets([
    inOrder(CASES.map(([, line]) => line)),
    inOrder(CASES.map(([, , , line]) => line)),
  ])
  expect(accepted).toEqual([])
  // One error for each line, in order.
  expect(refused).toEqual(CASES.map(([, , code]) => code))
}, 120_000)
