import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { definePipeline } from '../../engine/definitions/define-pipeline.ts'
import { defineTask } from '../../tasks/task-definition.ts'
import { defineWorkflow } from '../../tasks/workflow-definition.ts'
import { answer, fail, failTimes, hang } from './behaviours.ts'
import { openTestEngine } from './test-engine.ts'
import { testPipeline } from './test-pipeline.ts'

const owner = 'data@example.org'
const double = defineTask({
  name: 'double',
  owner,
  params: z.object({ number: z.int() }),
  result: z.object({ number: z.int() }),
  body: ({ params: { number } }) => ({ number: 2 * number }),
})
const child = definePipeline({ name: 'child', input: z.object({ number: z.int() }) }, (pipeline) => {
  const doubled = pipeline.task('double', double, { params: { number: pipeline.input.number } })
  return { number: doubled.result.number }
})

test('EN-808 pipelines with children and loops, files, workflows and graphs are tested alike', async () => {
  const parent = definePipeline({ name: 'parent', input: z.object({}) }, (pipeline) => {
    const doubled = pipeline.pipeline('inner', child, { input: { number: 4 } })
    pipeline.each('all', [1, 2], { max: 5, after: [doubled] }, (item) => {
      pipeline.task('again', double, { params: { number: item } })
    })
    return { number: doubled.output.number }
  })
  const run = await testPipeline(parent)
  expect(run.requireCompleted()).toEqual({ number: 8 })
  expect(run.units).toMatchObject({
    inner: 'COMPLETED',
    all: 'COMPLETED',
    again__1: 'COMPLETED',
    again__2: 'COMPLETED',
  })
  expect(run.unit('again__2').result).toEqual({ number: 4 })

  const directory = await mkdtemp(join(tmpdir(), 'perago-test-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'double.yaml')
  await writeFile(
    file,
    'name: file\ninput: { n: {} }\nunits:\n  a: { task: double, params: { number: "${workflow.input.n}" } }\n',
  )
  expect((await testPipeline(file, { input: { n: 3 }, tasks: [double] })).unit('a').result).toEqual({
    number: 6,
  })
  // Without its function, by what the unit is given.
  const stood = await testPipeline(file, {
    input: { n: 3 },
    units: { a: ({ params }) => ({ given: params }) },
  })
  expect(stood.unit('a').result).toEqual({ given: { number: 3 } })

  const step = { task: double, taskReferenceName: 'a', inputParameters: { params: { number: 5 } } }
  const workflow = defineWorkflow({ name: 'workflow', owner, steps: [step] })
  expect((await testPipeline(workflow)).unit('a').result).toEqual({ number: 10 })
  expect((await testPipeline(child.graph, { input: { number: 1 }, tasks: [double] })).output).toEqual({
    number: 2,
  })
})

test('EN-809 what a test leaves out or misspells is told before anything runs, what never comes when nothing else is left', async () => {
  const pipeline = definePipeline({ name: 'p', input: z.object({}) }, (p) => {
    const loaded = p.taskNamed('load', 'warehouse.load', {})
    p.wait('arrived', { events: ['external.arrived'], after: [loaded] })
    return {}
  })
  await expect(testPipeline(pipeline)).rejects.toMatchObject({
    code: 'testing/no-behaviour',
    next: expect.stringContaining('units: { load: answer({ … }) }') as string,
  })
  await expect(testPipeline(pipeline, { units: { laod: answer() } })).rejects.toMatchObject({
    code: 'testing/no-such-unit',
    next: 'Did you mean "load"?',
  })
  await expect(testPipeline(pipeline, { units: { load: answer() } })).rejects.toThrow(
    '"arrived" waits for events',
  )
  await expect(testPipeline(pipeline, { units: { load: hang() } })).rejects.toThrow('"load" is open')
  expect(() => answer({}, { after: 'soon' })).toThrow('it is no duration')
  const failed = await testPipeline(pipeline, { units: { load: fail('no', { terminal: true }) } })
  expect(() => failed.requireCompleted()).toThrow(/it is FAILED: .*no[^]*load\.failed/)
  expect(() => failed.unit('lood')).toThrow('has none of that name')
})

test('EN-813 the same seed gives the same order at the same times, whatever fails', async () => {
  const pipeline = definePipeline({ name: 'p', input: z.object({}) }, (p) => {
    const settings = { retry: { times: 5, delay: '1min', jitter: '30s' } } as const
    const ends = ['a', 'b', 'c'].map((name) => p.taskNamed(name, `task.${name}`, settings))
    p.taskNamed('d', 'task.d', { ...settings, after: ends })
    return {}
  })
  const failures = fc.record({ a: fc.nat(3), b: fc.nat(3), c: fc.nat(3), d: fc.nat(3) })
  await fc.assert(
    fc.asyncProperty(fc.nat(1000), failures, async (seed, times) => {
      const units = Object.fromEntries(
        Object.entries(times).map(([name, count]) => [name, failTimes(count, answer({}, { after: '10s' }))]),
      )
      const [one, other] = [
        await testPipeline(pipeline, { seed, units }),
        await testPipeline(pipeline, { seed, units }),
      ]
      expect(one.status).toBe('COMPLETED')
      expect(other.order).toEqual(one.order)
      expect(other.story()).toBe(one.story())
      expect(one.order).toHaveLength(4 + times.a + times.b + times.c + times.d)
      expect(other.writes).toBe(one.writes)
    }),
    { numRuns: 5 },
  )
})

test('EN-814 an operator pauses, and an engine that was killed goes on where it was', async () => {
  const engine = await openTestEngine()
  const pipeline = definePipeline({ name: 'p', input: z.object({}) }, (p) => {
    const first = p.taskNamed('first', 'first', { lease: '1h' })
    p.taskNamed('second', 'second', { after: [first] })
    return {}
  })
  const units = { first: answer({}, { after: '10min' }), second: answer() }
  const started = await engine.start(pipeline, { units })
  await started.untilBegun('first')
  await engine.kill()
  await engine.control.pause(started.id)
  await started.skip('1d')
  expect((await started.now()).units).toEqual({ first: 'COMPLETED', second: 'NOT_STARTED' })
  await engine.control.resume(started.id)
  const run = await started.result()
  expect(run.status).toBe('COMPLETED')
  expect(run.unit('first').attempts).toHaveLength(1)
  await engine.close()
})

test('EN-815 the types of input and output hold in the test of a pipeline', async () => {
  const run = await testPipeline(child, { input: { number: 3 } })
  const { number } = run.output
  expect(number + 1).toBe(7)
  // @ts-expect-error the pipeline has no such output
  expect(run.output.numbr).toBeUndefined()
  // @ts-expect-error the input is a number
  expect((await testPipeline(child, { input: { number: 'three' } })).status).toBe('FAILED')
})
