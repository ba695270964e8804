import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineTask, type TaskDefinition } from './task-definition.ts'
import { defineWorkflow } from './workflow-definition.ts'
import { findNotes } from './workflow-notes.ts'

const OWNER = 'data@example.org'
const params = z.object({
  day: z.string(),
  limit: z.int().default(10),
  note: z.string().optional(),
  maybe: z.string().nullable().optional(),
  filter: z.object({ from: z.string().optional() }).optional(),
})
const taskWith = (unknownParams?: 'refuse' | 'ignore'): TaskDefinition =>
  defineTask({
    ...{ name: 'orders.clean', owner: OWNER, params, result: z.unknown() },
    ...(unknownParams && { controls: { unknownParams } }),
    body: () => null,
  })
const notesOf = (given: string | Readonly<Record<string, string>>, task = taskWith()): readonly string[] => {
  const steps = [{ task, taskReferenceName: 'clean', inputParameters: { params: given } }]
  return findNotes(defineWorkflow({ name: 'daily', owner: OWNER, steps }).document, [task])
}

test('CL-142 an input of the workflow that counts as absent is named with what the task gets then', () => {
  const given = {
    ...{ day: '${workflow.input.day}', limit: '${workflow.input.limit}', note: '${ workflow.input.note }' },
    ...{ maybe: '${workflow.input.maybe}', filter: { from: '${workflow.input.from}' } },
  } as unknown as Readonly<Record<string, string>>
  expect(notesOf(given)).toEqual([
    'clean: params.limit is ${workflow.input.limit}, null if the workflow is started without it: null counts as absent, its default is 10',
    'clean: params.note is ${ workflow.input.note }, null if the workflow is started without it: null counts as absent, the task goes without it',
    'clean: params.filter.from is ${workflow.input.from}, null if the workflow is started without it: null counts as absent, the task goes without it',
  ])
  expect(
    notesOf({
      day: 'x',
      limit: '${other.output.limit}'.replace('other', 'clean'),
      note: 'a ${workflow.input.b}',
    }),
  ).toEqual([])
  expect(notesOf('${workflow.input.params}')).toEqual([])
})

test('CL-143 a param that the task does not know is named, with what the task does about it', () => {
  const given = { day: 'x', limti: '${workflow.input.limit}' }
  const problem = 'clean: params.limti is not known; did you mean "limit"?; '
  expect(notesOf(given)).toEqual([`${problem}the task does not read it`])
  expect(notesOf(given, taskWith('refuse'))).toEqual([`${problem}the task is refused with it`])
  expect(notesOf(given, taskWith('ignore'))).toEqual([])
})
