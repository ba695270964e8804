import { expect, test } from 'vitest'
import { createJsonLogger } from '../../base/json-logger.ts'
import type { JsonObject } from '../../base/json.ts'
import { plainRedactor } from '../../base/redaction.ts'
import { graphOf, openSeenEngine, unitOf, type SeenEngine } from '../../../test/support/engine/seen-engine.ts'
import { LOG_EVENTS } from './log-records.ts'

interface Logged {
  readonly seen: SeenEngine
  readonly lines: JsonObject[]
}

async function setUp(): Promise<Logged> {
  const lines: JsonObject[] = []
  const write = (line: string): void => void lines.push(JSON.parse(line) as JsonObject)
  const logger = createJsonLogger({ level: 'debug', redactor: plainRedactor, write })
  return { seen: await openSeenEngine({ logger }), lines }
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`

test('X-157 a record of a task is one JSON object with its execution, phase, duration and span', async () => {
  const { seen, lines } = await setUp()
  const graph = graphOf([unitOf('a'), unitOf('b', { after: ['a'], phase: 'load' })])
  const id = await seen.engine.control.startGraph(graph, { traceparent: CALLER })
  await seen.workOff(undefined, 1_500)
  const record = lines.find(({ event, unit }) => event === 'task_completed' && unit === 'b')
  const tasks = (await seen.engine.control.readWorkflow(id))?.tasks ?? []
  expect(record).toEqual({
    level: 'info',
    time: expect.any(String) as string,
    timestamp: '2025-01-01T00:00:03.000Z',
    event: 'task_completed',
    execution_id: id,
    phase_id: 'load',
    task_id: tasks[1]?.taskId,
    duration_ms: 1_500,
    trace_id: TRACE,
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    unit: 'b',
    attempt: 0,
    message: 'task completed',
  })
})

test('X-158 whatever happens, the name of a record is one of the list', async () => {
  const { seen, lines } = await setUp()
  const { control } = seen.engine
  const graph = graphOf([
    unitOf('a'),
    unitOf('b', { after: ['a'], onlyIf: 'never.happened' }),
    unitOf('c', { after: ['a'] }),
  ])
  const ids = [await control.startGraph(graph, {}), await control.startGraph(graph, {})]
  await control.pause(ids[0]!)
  await control.resume(ids[0]!)
  await seen.workOff(({ workflowId }) => (workflowId === ids[1] ? 'FAILED' : 'COMPLETED'))
  const third = await control.startGraph(graph, {})
  await seen.poll()
  await control.terminate(third)
  await expect(control.startGraph(graphOf([unitOf('a', { after: ['a'] })]), {})).rejects.toThrow()
  const names = new Set(lines.flatMap(({ event }) => (typeof event === 'string' ? [event] : [])))
  expect([...names].filter((name) => !Object.hasOwn(LOG_EVENTS, name))).toEqual([])
  const expected = ['submitted', 'paused', 'resumed', 'completed', 'failed', 'cancelled'].map(
    (verb) => `execution_${verb}`,
  )
  expect([...names]).toEqual(
    expect.arrayContaining([
      ...expected,
      ...['task_started', 'task_completed', 'task_failed', 'task_retried', 'task_skipped', 'task_cancelled'],
      ...['attempt_started', 'attempt_completed', 'attempt_failed', 'stage_changed', 'graph_refused'],
    ]),
  )
})

test('X-157 the record of a rollback keeps its own level, and says which part went back', async () => {
  const { seen, lines } = await setUp()
  const { control } = seen.engine
  const policy = { onFailure: 'rollback', attempts: 1 } as const
  const undo = { name: 'undo-a', inputParameters: {} }
  await control.registerTask({ name: 'undo-a', retryCount: 0 })
  await control.startGraph(graphOf([unitOf('a', { undo }), unitOf('b', { after: ['a'] })], { policy }), {})
  await seen.workOff(({ referenceTaskName }) => (referenceTaskName === 'b' ? 'FAILED' : 'COMPLETED'))
  for (const task of await seen.engine.queue.poll({ taskType: 'undo-a', workerId: 'w', count: 1, waitMs: 0 }))
    await seen.post(task)
  expect(lines.find(({ event }) => event === 'execution_rolled_back')).toMatchObject({
    level: 'warn',
    part: 'execution',
  })
})

test('EN-901 the records of tasks are those of the log of the execution', async () => {
  const { seen, lines } = await setUp()
  const graph = graphOf([unitOf('a'), unitOf('b', { after: ['a'] })])
  const id = await seen.engine.control.startGraph(graph, {})
  let failures = 1
  await seen.workOff(() => (failures-- > 0 ? 'FAILED' : 'COMPLETED'))
  const logged = (await seen.logOf(id)).filter(({ source }) => source.entityType !== 'pipeline')
  const told = lines.filter(({ event }) => typeof event === 'string' && /^(task|attempt)_/.test(event))
  expect(told).toHaveLength(logged.length)
  expect(told.map(({ task_id }) => task_id)).toEqual(logged.map(({ payload }) => payload['taskId']))
})

test('EN-902 an observer that fails changes nothing', async () => {
  const fail = (): never => {
    throw new Error('broken')
  }
  const seen = await openSeenEngine({ observers: [fail] })
  const id = await seen.engine.control.startGraph(graphOf([unitOf('a')]), {})
  await seen.workOff()
  expect((await seen.engine.control.readWorkflow(id))?.status).toBe('COMPLETED')
})
