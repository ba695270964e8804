// Goal: parameters reach the body as their workflow's author meant them, and what does not reach it is said.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  keepingLogger,
  openAttemptWorld,
  OWNER,
  type AttemptWorld,
} from '../../../test/support/worker/world.ts'
import type { Json } from '../../base/json.ts'
import { UNKNOWN_PARAMS_SHOWN } from '../../tasks/limits.ts'
import { defineCommandTask, defineTask, type TaskDefinition } from '../../tasks/task-definition.ts'
import type { AttemptOutcome } from './run-attempt.ts'

let world: AttemptWorld
let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-input-'))
  world = await openAttemptWorld(directory)
})
afterEach(async () => {
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

const params = z.object({ day: z.string(), limit: z.int().default(10), note: z.string().optional() })
const shared = { name: 'orders.clean', owner: OWNER, params, result: z.unknown() }
const echo = (unknownParams?: 'tell' | 'refuse' | 'ignore'): TaskDefinition =>
  defineTask({
    ...shared,
    ...(unknownParams && { controls: { unknownParams } }),
    body: (given) => given.params,
  })
const program = defineCommandTask({
  ...shared,
  command: ['sh', '-c', 'printf %s "$PERAGO_PARAMS"'],
  resultFrom: 'stdout',
})

const run = (task: TaskDefinition, given: Json, changes = {}): Promise<AttemptOutcome> =>
  world.run(task, { attempt: { input: { params: given } }, ...changes })

describe('parameters that the schema does not know', () => {
  test('WK-285 they are told once, in the log and in the log of the task, with the name that was probably meant', async () => {
    const { logger, lines } = keepingLogger()
    const { result } = await run(echo(), { day: 'x', limti: 3 }, { logger })
    expect(result).toMatchObject({ status: 'COMPLETED', output: { result: { day: 'x', limit: 10 } } })
    const told =
      'the task does not read all of its parameters: params.limti is not known; did you mean "limit"?'
    expect(lines.filter((line) => line.includes('limti'))).toEqual([told])
    expect(result.logs).toEqual([`warn: ${told}`])
  })

  test('WK-286 a task may refuse them, for good and before its body, or ignore them', async () => {
    const refused = await run(echo('refuse'), { day: 'x', limti: 3 })
    expect(refused.result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
    expect(refused.result.reasonForIncompletion).toMatch(
      /params\.limti is not known; did you mean "limit"\? \[worker\/invalid-params\]/,
    )
    expect(world.steps).toEqual(['read-input'])
    const ignored = await run(echo('ignore'), { day: 'x', limti: 3 })
    expect([ignored.result.status, ignored.result.logs]).toEqual(['COMPLETED', []])
  })

  test('WK-285 of many only some are named', async () => {
    const many = Object.fromEntries(
      Array.from({ length: UNKNOWN_PARAMS_SHOWN + 3 }, (_, at) => [`other${at}`, at]),
    )
    const { result } = await run(echo(), { day: 'x', ...many })
    expect(result.logs).toHaveLength(1)
    expect(result.logs?.[0]).toMatch(/other9 is not known; and 3 more$/)
  })
})

test.each([
  ['a function', echo()],
  ['a program', program],
])('WK-287 null for an absent input of the workflow gives %s its default, or nothing', async (_, task) => {
  const { result } = await run(task, { day: 'x', limit: null, note: null })
  expect(result).toMatchObject({ status: 'COMPLETED', logs: [] })
  expect(result.output['result']).toEqual({ day: 'x', limit: 10 })
  const needed = await run(task, { day: null })
  expect(needed.result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
})
