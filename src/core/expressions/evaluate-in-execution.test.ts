import { expect, test, vi } from 'vitest'
import { externalEvent } from '../../../test/support/core-world.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openCore } from '../life-cycle/core.ts'
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

test('E-61 evaluation asks once for each event of the expression, and for nothing else', async () => {
  const { reads, asked } = readsOf(['a.done'], {})
  const expression = parseExpression('event:a.done && (event:b.done || event:a.done)')
  await expect(evaluateInExecution(expression, reads)).resolves.toBe(true)
  expect(asked).toEqual(['has a.done', 'has b.done'])
})

test('E-61 in an execution each event is asked for once, with its own id; what others recorded counts for nothing', async () => {
  const core = openCore({ store: openMemoryStore() })
  const [own, other] = [
    await core.startExecution({ name: 'etl' }),
    await core.startExecution({ name: 'etl' }),
  ]
  await other.events.publish(externalEvent('external.a'))
  await other.events.publish(externalEvent('external.b'))
  const asked = vi.spyOn(core.events, 'hasEvent')
  const expression = parseExpression('event:external.a && event:external.b && event:external.a')
  expect(await evaluateInExecution(expression, own)).toBe(false)
  await own.events.publish(externalEvent('external.a'))
  await own.events.publish(externalEvent('external.b'))
  asked.mockClear()
  expect(await evaluateInExecution(expression, own)).toBe(true)
  expect(asked.mock.calls).toEqual([
    [own.id, 'external.a'],
    [own.id, 'external.b'],
  ])
})

test('E-03 a manager that answers has_event and get_event alone is enough to evaluate', async () => {
  const core = openCore({ store: openMemoryStore() })
  const execution = await core.startExecution({ name: 'etl' })
  await execution.variables.set('a.rows', 7)
  await execution.events.publish(externalEvent('external.a', { approved: true }))
  const others = Object.keys(core.events).filter((name) => !['hasEvent', 'getEvent'].includes(name))
  expect(others).toHaveLength(4)
  for (const name of others) {
    vi.spyOn(core.events, name as 'queryEvents').mockRejectedValue(new Error(`${name} was asked`))
  }
  const evaluate = (text: string): ReturnType<typeof evaluateInExecution> =>
    evaluateInExecution(parseExpression(text), execution)
  expect(await evaluate('event:external.a && a.rows > 5')).toBe(true)
  expect(await evaluate('event:external.b || (event:external.a && !event:pipeline.failed)')).toBe(true)
  expect(await evaluate('event:external.b')).toBe(false)
  expect(await execution.events.get('external.a')).toMatchObject({ payload: { approved: true } })
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
