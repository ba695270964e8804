// Goal: of workflows that name one branch at most one is left running, whatever comes between looking and starting.
import { describe, expect, test } from 'vitest'
import { openTestQueue, type TestQueue } from '../../testing/open-test-queue.ts'
import type { WorkflowId } from '../ports.ts'
import type { JsonObject } from '../../base/json.ts'
import { startAlone, type WorkflowStarter } from './start-workflow.ts'

interface Start {
  readonly name: string
  readonly input?: JsonObject
}

const onBranch = (branch: string): Start => ({
  name: 'daily',
  input: { workspace: { repository: 'lake', branch, refType: 'commit', ref: 'a' }, params: {} },
})

async function open(): Promise<{ readonly queue: TestQueue; readonly starter: WorkflowStarter<Start> }> {
  const queue = openTestQueue()
  await queue.registerTask({ name: 't' })
  await queue.registerWorkflow({
    name: 'daily',
    tasks: [
      {
        name: 't',
        taskReferenceName: 'a',
        inputParameters: { workspace: '${workflow.input.workspace}', params: '${workflow.input.params}' },
      },
    ],
  })
  const starter: WorkflowStarter<Start> = {
    readOpenWorkflows: (max) => queue.readOpenWorkflows(max),
    start: (start) => queue.start(start),
    terminate: (workflowId, reason) => queue.terminate(workflowId, { reason }),
  }
  return { queue, starter }
}

async function running(queue: TestQueue): Promise<readonly WorkflowId[]> {
  return (await queue.readOpenWorkflows(100)).workflows.map(({ workflowId }) => workflowId)
}

describe('starting a workflow', () => {
  test('F-58 a second one on the branch is refused, and names the first', async () => {
    const { queue, starter } = await open()
    const first = await startAlone(starter, onBranch('main'))
    await expect(startAlone(starter, onBranch('main'))).rejects.toMatchObject({
      kind: 'refused',
      code: 'worker/branch-taken',
      message: expect.stringContaining(first) as string,
    })
    await queue.pause(first)
    await expect(startAlone(starter, onBranch('main'))).rejects.toMatchObject({ code: 'worker/branch-taken' })
    expect(await running(queue)).toEqual([first])
  })

  test('F-58 once the first has ended the next may start, and another branch at any time', async () => {
    const { queue, starter } = await open()
    const first = await startAlone(starter, onBranch('main'))
    const other = await startAlone(starter, onBranch('other'))
    await queue.terminate(first)
    const next = await startAlone(starter, onBranch('main'))
    expect(new Set(await running(queue))).toEqual(new Set([other, next]))
  })

  test('F-58 of two that start in the same moment neither overlooks the other, and none is left beside another', async () => {
    const { queue, starter } = await open()
    // Both look before either has started.
    let looked = 0
    let release: () => void = () => undefined
    const bothLooked = new Promise<void>((resolve) => (release = resolve))
    const racing: WorkflowStarter<Start> = {
      ...starter,
      start: async (start, options) => {
        if (++looked === 2) release()
        await bothLooked
        return starter.start(start, options)
      },
    }
    const ends = await Promise.allSettled([
      startAlone(racing, onBranch('main')),
      startAlone(racing, onBranch('main')),
    ])
    const refused = ends.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThanOrEqual(1)
    for (const end of refused) expect(end).toMatchObject({ reason: { code: 'worker/branch-taken' } })
    expect(await running(queue)).toHaveLength(2 - refused.length)
  })

  test('F-58 what cannot be told is not started, or taken back', async () => {
    const { queue, starter } = await open()
    const cut: WorkflowStarter<Start> = {
      ...starter,
      readOpenWorkflows: () => Promise.resolve({ workflows: [], isWhole: false }),
    }
    await expect(startAlone(cut, onBranch('main'))).rejects.toMatchObject({
      code: 'worker/too-many-workflows',
    })
    let looks = 0
    const lost: WorkflowStarter<Start> = {
      ...starter,
      readOpenWorkflows: (max) =>
        looks++ === 0 ? starter.readOpenWorkflows(max) : Promise.reject(new Error('no answer')),
    }
    await expect(startAlone(lost, onBranch('main'))).rejects.toThrow('no answer')
    expect(await running(queue)).toEqual([])
  })

  test('F-58 an input that names no branch is nobody else’s concern', async () => {
    const { queue, starter } = await open()
    await startAlone(starter, { name: 'daily' })
    await startAlone(starter, { name: 'daily', input: { params: {} } })
    expect(await running(queue)).toHaveLength(2)
  })
})
