// Goal: an execution whose state becomes too large fails once and says so, whatever made it so, and leaves nothing behind that is
// tried again and again.
import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import type { TaskRecord, TaskResult, WorkflowId } from '../../worker/ports.ts'
import type { Graph } from '../graph/graph.ts'
import { openEngine, type Engine } from './open-engine.ts'

const STATE_MAX_BYTES = 100_000

/** Compressed, it is still larger than what is left. */
function tooMuch(): object {
  return { data: randomBytes(STATE_MAX_BYTES).toString('base64') }
}

async function openSmall(kind: (typeof STORE_KINDS)[number], context: Parameters<typeof kind.open>[0]) {
  const { openAnother } = await kind.open(context)
  const open = async (): Promise<Engine> => {
    const engine = await openEngine({
      store: await openAnother(),
      leaseMs: 900,
      stateMaxBytes: STATE_MAX_BYTES,
    })
    onTestFinished(() => engine.close())
    return engine
  }
  const engine = await open()
  await engine.control.registerTask({ name: 't', retryCount: 3, retryDelaySeconds: 0 })
  return { engine, open }
}

async function claim({ queue }: Engine): Promise<TaskRecord> {
  const [first] = await queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 1_000 })
  if (first === undefined) throw new Error('nothing to do')
  return first
}

function post(
  { queue }: Engine,
  { taskId, workflowId, workerId }: TaskRecord,
  output: object = {},
  status: TaskResult['status'] = 'COMPLETED',
): Promise<boolean> {
  return queue.postResult({ taskId, workflowId, workerId, status, output: output as TaskResult['output'] })
}

async function read({ control }: Engine, id: WorkflowId) {
  const execution = await control.readExecution(id)
  const units = execution?.rows.map(({ record }) => [record.referenceTaskName, record.status])
  return {
    stage: execution?.stage,
    status: execution?.status,
    units,
    reason: execution?.reasonForIncompletion,
  }
}

const chain: Graph = graphOf([task('a'), task('b', ['a']), task('other')])

describe.each(STORE_KINDS)('on $kind', (kind) => {
  test('X-138 a result that makes the state too large is answered once, and the execution fails and says why', async (context) => {
    const { engine, open } = await openSmall(kind, context)
    const id = await engine.control.startGraph(chain, {})
    const first = await claim(engine)
    // It arrived: a worker reads the task, finds that another end was decided, and posts no more.
    expect(await post(engine, first, tooMuch())).toBe(true)
    const failed = await read(engine, id)
    expect(failed).toMatchObject({ stage: 'FAILED', status: 'FAILED' })
    expect(failed.reason).toMatch(/^\[engine\/state-too-large\] .* the maximum is 100000/)
    expect(failed.units).toEqual([
      ['a', 'FAILED_WITH_TERMINAL_ERROR'],
      ['other', 'CANCELED'],
    ])
    expect(await engine.queue.readTask(first.taskId)).toMatchObject({
      ...{ status: 'FAILED_WITH_TERMINAL_ERROR', output: {} },
      reasonForIncompletion: expect.stringContaining('engine/state-too-large') as string,
    })
    expect(await post(engine, first, tooMuch())).toBe(true)
    await engine.close()
    expect(await read(await open(), id)).toEqual(failed)
  })

  test('X-138 what is written before it is too large stays, and an execution that was taken back may fit again', async (context) => {
    const { engine } = await openSmall(kind, context)
    const graph = { ...chain, policy: { onFailure: 'rollback', attempts: 2 } } as Graph
    const undo = { name: 't', inputParameters: {} }
    const units = [task('a', [], { undo }), task('b', ['a'])]
    const id = await engine.control.startGraph({ ...graph, units }, {})
    await post(engine, await claim(engine), { fits: true })
    expect(await post(engine, await claim(engine), tooMuch())).toBe(true)
    expect(await read(engine, id)).toMatchObject({ stage: 'ROLLBACK' })
    const undoing = await claim(engine)
    expect(undoing.referenceTaskName).toContain('a')
    await post(engine, undoing)
    for (const unit of ['a', 'b']) {
      const again = await claim(engine)
      expect(again.referenceTaskName).toBe(unit)
      await post(engine, again, { fits: true })
    }
    expect(await read(engine, id)).toMatchObject({ stage: 'COMMIT' })
  })

  test('X-138 a paused execution fails as well, and so does one whose undoing is too large', async (context) => {
    const { engine } = await openSmall(kind, context)
    const paused = await engine.control.startGraph(chain, {})
    const first = await claim(engine)
    await engine.control.pause(paused)
    expect(await post(engine, first, tooMuch())).toBe(true)
    expect(await read(engine, paused)).toMatchObject({ stage: 'FAILED', status: 'FAILED' })

    const policy = { onFailure: 'rollback', attempts: 1 } as const
    const units = [task('a', [], { undo: { name: 't', inputParameters: {} } }), task('b', ['a'])]
    const undone = await engine.control.startGraph({ ...graphOf(units), policy }, {})
    await post(engine, await claim(engine))
    await post(engine, await claim(engine), {}, 'FAILED_WITH_TERMINAL_ERROR')
    expect(await read(engine, undone)).toMatchObject({ stage: 'ROLLBACK' })
    expect(await post(engine, await claim(engine), tooMuch())).toBe(true)
    expect(await read(engine, undone)).toMatchObject({ stage: 'FAILED', status: 'FAILED' })
  })
})
