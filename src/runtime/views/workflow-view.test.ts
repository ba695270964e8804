// Over a Conductor in this process that answers what a test wants.
import { expect, onTestFinished, test } from 'vitest'
import { openConductorClient } from '../../conductor/client.ts'
import type { FoundWorkflow } from '../../conductor/search-workflows.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { WorkflowId } from '../../worker/ports.ts'
import { WORKFLOWS_LOOKED_AT_MAX } from '../limits.ts'
import { listWorkflows, type ListedWorkflows, type WorkflowPlace } from './list-workflows.ts'
import { openWorkflowView, type WorkflowView } from './workflow-view.ts'

const clock = new ManualClock()
const found = (at: number, startTimeMs: number): FoundWorkflow => ({
  ...{
    workflowId: `wf-${at}` as WorkflowId,
    name: at % 2 === 0 ? 'even' : 'odd',
    version: 1,
    status: 'RUNNING',
  },
  ...{ startTimeMs, endTimeMs: 0, correlationId: undefined, reasonForIncompletion: undefined, input: {} },
})

/** The newest first, some of the same millisecond. */
function searching(all: readonly FoundWorkflow[]) {
  const asked: number[] = []
  const search = ({ beforeMs = Infinity }: { readonly beforeMs?: number | undefined }, max: number) => {
    asked.push(max)
    const matching = all.filter(({ startTimeMs }) => startTimeMs < beforeMs)
    return Promise.resolve({ workflows: matching.slice(0, max), isWhole: matching.length <= max })
  }
  return { search, asked }
}

test('DO-140 page by page every workflow is listed once, also those that started in the same millisecond', async () => {
  const all = Array.from({ length: 23 }, (_, at) => found(at, 1_000 - Math.floor(at / 5)))
  const { search } = searching(all)
  for (const limit of [1, 2, 5, 7, 23]) {
    const listed: string[] = []
    let after: WorkflowPlace | undefined
    do {
      const page: ListedWorkflows = await listWorkflows({ search }, { limit, after }, clock)
      listed.push(...page.items.map(({ workflowId }) => workflowId))
      after = page.next
    } while (after !== undefined)
    expect(listed).toEqual(all.map(({ workflowId }) => workflowId))
  }
})

test('DO-140 a search for what is not there looks at so many workflows for a page, and goes on after them', async () => {
  const all = Array.from({ length: WORKFLOWS_LOOKED_AT_MAX + 50 }, (_, at) => found(at, 10_000 - at))
  const { search, asked } = searching(all)
  const page = await listWorkflows({ search }, { limit: 10, search: 'nothing' }, clock)
  expect(page.items).toEqual([])
  expect(asked.length).toBeLessThan(20)
  const rest = await listWorkflows(
    { search },
    { limit: 10, search: `WF-${all.length - 1}`, after: page.next },
    clock,
  )
  expect(rest.items.map(({ workflowId }) => workflowId)).toEqual([`wf-${all.length - 1}`])
  expect(rest.next).toBeUndefined()
})

function openView(answer: (request: Request) => Response): WorkflowView {
  const client = openConductorClient({ endpoint: 'http://localhost', answer, retry: { maxAttempts: 1 } })
  const view = openWorkflowView({ client, clock })
  onTestFinished(() => view.close())
  return view
}

const REF = 'a'.repeat(64)
const workspace = { repository: 'lake', branch: 'main', ref: REF }
const TASK = {
  ...{
    taskId: 't1',
    workflowInstanceId: 'w1',
    taskType: 'sum',
    referenceTaskName: 'sum',
    updateTime: clock.now().getTime(),
  },
  ...{ status: 'COMPLETED', inputData: { workspace }, outputData: { workspace } },
}

test('DO-144 DO-153 the log of a task is read once it has told all, however often somebody looks', async () => {
  const published = { log: `published: completed at ${REF}, soft fence`, createdTime: 7 }
  const steps = { log: 'steps: [{"step":"body","at":"2026-01-31T10:00:00.000Z","ms":1}]', createdTime: 7 }
  // Each line shows late.
  const shown = [[], [published], [published, steps]]
  let reads = 0
  const view = openView(({ url }) => {
    if (!url.endsWith('/log')) return Response.json({ workflowId: 'w1', status: 'RUNNING', tasks: [TASK] })
    const lines = shown[reads] ?? []
    reads += 1
    return lines.length === 0 ? new Response(null, { status: 204 }) : Response.json(lines)
  })
  const look = async (): Promise<string> => {
    const [task] = (await view.read('w1')).tasks
    return `${String(task?.publication?.outcome)} ${String(task?.steps?.length)}`
  }
  expect([await look(), await look(), await look(), await look(), reads]).toEqual([
    ...['undefined undefined', 'completed undefined', 'completed 1', 'completed 1', 3],
  ])
})

test('DO-153 the log of a failure without a workspace is read, too, and once only when it tells nothing', async () => {
  let reads = 0
  const failed = { ...TASK, status: 'FAILED', inputData: {}, outputData: {}, updateTime: 1 }
  const tasks = [
    { ...failed, taskId: 't1', reasonForIncompletion: 'it broke [task/failed]' },
    { ...failed, taskId: 't2', reasonForIncompletion: 'of another program' },
  ]
  const view = openView(({ url }) => {
    if (!url.endsWith('/log')) return Response.json({ workflowId: 'w1', status: 'RUNNING', tasks })
    reads += 1
    return new Response(null, { status: 204 })
  })
  for (let look = 0; look < 3; look++)
    expect((await view.read('w1')).tasks.map(({ steps }) => steps)).toEqual([undefined, undefined])
  expect(reads).toBe(1)
})

test('DO-147 what a Conductor refuses this server is no matter of who looks, and told as such', async () => {
  const view = openView(() => Response.json({ message: 'no' }, { status: 401 }))
  await expect(view.read('w1')).rejects.toMatchObject({
    kind: 'unavailable',
    code: 'runtime/conductor-refused',
  })
  await expect(view.pollers()).rejects.toMatchObject({ code: 'runtime/conductor-refused' })
})

test('DO-145 a state that does not allow it is refused before the server is asked', async () => {
  const asked: string[] = []
  const view = openView(({ method }) => {
    asked.push(method)
    return Response.json({ workflowId: 'w1', status: 'COMPLETED', tasks: [] })
  })
  for (const act of ['pause', 'resume', 'retry', 'terminate'] as const)
    await expect(view.act(act, 'w1')).rejects.toMatchObject({
      kind: 'refused',
      code: 'runtime/workflow-not-now',
    })
  expect(asked).toEqual(['GET', 'GET', 'GET', 'GET'])
})
