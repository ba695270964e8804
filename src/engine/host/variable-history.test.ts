// Goal: the history of a variable tells which unit wrote it, at which attempt, and what it wrote before.
import { expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import type { Unit } from '../graph/graph.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openEngine } from './open-engine.ts'

test('DO-180 outputs and shared values of units are in the history with unit, attempt, task and worker', async () => {
  const store = openMemoryStore()
  const engine = await openEngine({ store })
  onTestFinished(() => engine.close())
  const set = (name: string, after: string[], n: number): Unit => ({
    ...{ type: 'SET_VARIABLE', name, taskReferenceName: name, after, inputParameters: { state: n } },
  })
  const graph = graphOf([task('a', []), set('one', ['a'], 1), set('two', ['one'], 2)])
  const id = await engine.control.startGraph(graph, { input: {} })
  const work = async (status: 'COMPLETED' | 'FAILED_WITH_TERMINAL_ERROR') => {
    const [polled] = await engine.queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 1_000 })
    const { taskId, workflowId, workerId } = polled!
    await engine.queue.postResult({ taskId, workflowId, workerId, status, output: { rows: 3, path: 'x' } })
    return taskId
  }
  await work('FAILED_WITH_TERMINAL_ERROR')
  await engine.control.retry(id)
  const taskId = await work('COMPLETED')
  const { variables } = await openCore({ store }).openExecution(id)
  expect((await variables.history('a.rows')).writes).toMatchObject([
    { value: 3, by: { unit: 'a', attempt: 1, taskId, workerId: 'w', event: 'a.completed' } },
  ])
  expect((await variables.history('shared.state')).writes).toMatchObject([
    { value: 2, by: { unit: 'two', attempt: 0 } },
    { value: 1, by: { unit: 'one', attempt: 0 } },
  ])
})
