import { expect, test } from 'vitest'
import { parseTraceparent, spanIdOf } from '../../base/trace-context.ts'
import { graphOf, openSeenEngine, unitOf, type SeenEngine } from '../../../test/support/engine/seen-engine.ts'
import { spansOf, type EngineSpan } from './spans.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER_SPAN = '00f067aa0ba902b7'
const CALLER = `00-${TRACE}-${CALLER_SPAN}-01`

function spansIn({ events }: SeenEngine): readonly EngineSpan[] {
  return events.flatMap(spansOf)
}

const CHAIN = graphOf([unitOf('a'), unitOf('b', { after: ['a'] })])

test('X-159 submitting, parsing, scheduling, executing, verifying and committing are spans of one run', async () => {
  const seen = await openSeenEngine()
  await seen.engine.control.startGraph(CHAIN, { traceparent: CALLER })
  await seen.workOff(undefined, 2_000)
  const spans = spansIn(seen)
  expect(spans.map(({ name }) => name).sort()).toEqual(
    [
      'commit',
      'execute',
      'execution daily',
      'parse',
      'schedule',
      'submit',
      'task a',
      'task b',
      'verify',
    ].sort(),
  )
  const run = spans.find(({ name }) => name === 'execution daily')
  expect(run?.parentSpanId).toBe(CALLER_SPAN)
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  for (const span of spans) {
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs)
    if (span !== run) expect(span.parentSpanId).toBe(run?.spanId)
  }
  const execute = spans.find(({ name }) => name === 'execute')
  expect(Number(execute?.endMs) - Number(execute?.startMs)).toBe(4_000)
})

test('X-162 a task is handed out with its place in the trace of who started the execution', async () => {
  const seen = await openSeenEngine()
  await seen.engine.control.startGraph(CHAIN, { traceparent: CALLER })
  const [task] = await seen.poll()
  expect(parseTraceparent(task?.traceparent)).toEqual({
    traceId: TRACE,
    spanId: spanIdOf(task?.taskId ?? ''),
    isSampled: true,
  })
})

test('X-162 a child execution is in the trace of its parent, below the unit that runs it', async () => {
  const seen = await openSeenEngine()
  const { control } = seen.engine
  await control.registerGraph(graphOf([unitOf('inner')], { name: 'child' }))
  const unit = { type: 'SUB_WORKFLOW', taskReferenceName: 'c', name: 'child' } as const
  const parent = graphOf([
    { ...unit, subWorkflowParam: { name: 'child', version: 1 }, inputParameters: {}, after: [] },
  ])
  await control.startGraph(parent, { traceparent: CALLER })
  await seen.workOff()
  const spans = spansIn(seen)
  const child = spans.find(({ name }) => name === 'execution child')
  expect(child?.traceId).toBe(TRACE)
  expect(child?.parentSpanId).toBe(spans.find(({ name }) => name === 'task c')?.spanId)
})

test('X-161 one execution in ten is recorded unless another share is given', async () => {
  const recorded = async (count: number, traceShare?: number): Promise<number> => {
    const seen = await openSeenEngine(traceShare === undefined ? {} : { traceShare })
    for (let started = 0; started < count; started += 1)
      await seen.engine.control.startGraph(graphOf([unitOf('a')]), {})
    return spansIn(seen).filter(({ name }) => name === 'submit').length
  }
  const byDefault = await recorded(200)
  // About 20: what is beyond these bounds happens less than once in a million runs.
  expect(byDefault).toBeGreaterThan(0)
  expect(byDefault).toBeLessThan(45)
  expect(await recorded(10, 1)).toBe(10)
  expect(await recorded(10, 0)).toBe(0)
})

test('EN-903 what the caller does not record is not recorded, and each second run has spans of its own', async () => {
  const seen = await openSeenEngine()
  await seen.engine.control.startGraph(CHAIN, { traceparent: `${CALLER.slice(0, -2)}00` })
  await seen.workOff()
  expect(spansIn(seen)).toEqual([])
  const id = await seen.engine.control.startGraph(CHAIN, { traceparent: CALLER })
  await seen.workOff()
  await seen.engine.control.restart(id)
  await seen.workOff()
  const runs = spansIn(seen).filter(({ name }) => name === 'execution daily')
  expect(runs.map(({ attributes }) => attributes['perago.run'])).toEqual([1, 2])
  expect(new Set(spansIn(seen).map(({ spanId }) => spanId)).size).toBe(spansIn(seen).length)
})

test('EN-903 an engine that takes over goes on with the same spans', async () => {
  const seen = await openSeenEngine()
  await seen.engine.control.startGraph(CHAIN, { traceparent: CALLER })
  const [task] = await seen.poll()
  seen.clock.move(5_000)
  await seen.engine.close()
  await seen.open()
  await seen.post(task!)
  await seen.workOff()
  const spans = spansIn(seen)
  const run = spans.find(({ name }) => name === 'execution daily')
  expect(spans.filter(({ parentSpanId }) => parentSpanId === run?.spanId)).toHaveLength(spans.length - 1)
  const first = spans.find(({ name }) => name === 'task a')
  expect(Number(first?.endMs) - Number(first?.startMs)).toBe(5_000)
})
