import { expect, test } from 'vitest'
import { evaluateInExecution, type ExecutionReads } from './evaluate-in-execution.ts'
import { parseExpression } from './parse-expression.ts'

function readsOf(events: readonly string[], variables: Readonly<Record<string, unknown>>) {
  const asked: string[] = []
  const reads: ExecutionReads = {
    events: { has: (type) => Promise.resolve((asked.push(`has ${type}`), events.includes(type))) },
    variables: { get: (name) => Promise.resolve((asked.push(`read ${name}`), variables[name])) },
  }
  return { reads, asked }
}

test('E-03 E-61 evaluation asks once for each event of the expression, and for nothing else', async () => {
  const { reads, asked } = readsOf(['a.done'], {})
  const expression = parseExpression('event:a.done && (event:b.done || event:a.done)')
  await expect(evaluateInExecution(expression, reads)).resolves.toBe(true)
  expect(asked).toEqual(['has a.done', 'has b.done'])
})

test('XP-11 events are asked for before variables, so that what an event tells of is found', async () => {
  const variables: Record<string, unknown> = {}
  const { reads, asked } = readsOf(['a.done'], variables)
  const expression = parseExpression('a.rows > 0 && event:a.done')
  const late: ExecutionReads = {
    ...reads,
    events: {
      has: async (type) => {
        const answer = await reads.events.has(type)
        // The outputs were there before the event; whoever sees the event must see them too.
        variables['a.rows'] = 7
        return answer
      },
    },
  }
  await expect(evaluateInExecution(expression, late)).resolves.toBe(true)
  expect(asked).toEqual(['has a.done', 'read a.rows'])
})

test('XP-11 a read that fails fails the evaluation', async () => {
  const { reads } = readsOf([], {})
  const failing: ExecutionReads = {
    ...reads,
    variables: { get: () => Promise.reject(new Error('store is away')) },
  }
  await expect(evaluateInExecution(parseExpression('a.x == 1'), failing)).rejects.toThrow('store is away')
})
