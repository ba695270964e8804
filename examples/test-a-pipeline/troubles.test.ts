import { writeFile } from 'node:fs/promises'
import { defineWorkspaceTask } from 'perago'
import { definePipeline, workspaceInput } from 'perago/engine'
import { answer, hang, inTurn, loseWorker, openTestEngine, real, testPipeline } from 'perago/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const write = defineWorkspaceTask({
  name: 'day.write',
  owner: 'data@example.org',
  params: z.object({}),
  result: z.object({}),
  workspace: { include: ['days/**'] },
  controls: { replace: 'own' },
  body: async ({ workspace }) => {
    await writeFile(workspace.path('days', 'friday.csv'), 'open\n')
    return {}
  },
})

const day = definePipeline({ name: 'day', input: z.object({ workspace: workspaceInput }) }, (pipeline) => {
  const written = pipeline.task('write', write, { workspace: pipeline.input.workspace })
  const approval = pipeline.human<{ by: string }>('approve', { after: [written], timeout: '2d' })
  return { by: approval.output.by }
})
const files = { 'days/thursday.csv': 'open\n' }

test('a worker that is lost after it has published leaves one publication', async () => {
  const units = {
    write: inTurn(loseWorker(real()), real()),
    approve: answer({ by: 'Anna' }, { after: '5h' }),
  }
  const run = await testPipeline(day, { files, units })
  expect(run.requireCompleted().by).toBe('Anna')
  expect(run.unit('write').attempts.map(({ status }) => status)).toEqual(['TIMED_OUT', 'COMPLETED'])
  expect(run.published.map(({ unit, paths }) => [unit, ...paths])).toEqual([['write', 'days/friday.csv']])
})

test('a worker that never answers, and nobody who approves, end by their time limits', async () => {
  const slow = definePipeline({ name: 'slow', input: z.object({}) }, (pipeline) => {
    pipeline.taskNamed('copy', 'copy', { timeout: '6h', retry: { times: 0 } })
    return {}
  })
  expect((await testPipeline(slow, { units: { copy: hang() } })).status).toBe('TIMED_OUT')
  expect((await testPipeline(day, { files })).units).toEqual({ write: 'COMPLETED', approve: 'TIMED_OUT' })
})

test('the engine is killed, and a unit is rolled back with what it has published', async () => {
  const engine = await openTestEngine({ files })
  const started = await engine.start(day)
  await started.untilBegun('approve')
  await engine.kill()
  expect(Object.keys(engine.repository.files())).toContain('days/friday.csv')
  await engine.control.rollBack(started.id, { of: { level: 'unit', unit: 'write' }, then: 'pause' })
  expect(engine.repository.files()).toEqual(files)
  await engine.control.resume(started.id)
  await started.answer('approve', { by: 'Ben' })
  expect((await started.result()).requireCompleted()).toEqual({ by: 'Ben' })
  await engine.close()
})

test('whichever write of the engine is lost, the report is the same', async () => {
  const units = { approve: answer({ by: 'Anna' }) }
  const { writes } = await testPipeline(day, { files, units })
  for (let lost = 1; lost <= writes; lost += 1) {
    const storeFaults = (write: number) => (write === lost ? 'lose-answer' : 'none')
    const run = await testPipeline(day, { files, units, storeFaults })
    expect(run.requireCompleted().by).toBe('Anna')
  }
})
