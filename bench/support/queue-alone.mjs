// The same workflows with a worker that only claims and completes: the limit of Conductor on this machine.
import { createHttpTaskQueue } from '../../dist/conductor/http-task-queue.js'
import { openConductorClient } from '../../dist/conductor/client.js'
import { taskMs } from './workflows.mjs'

const WAIT_MS = 100

export async function measureQueueAlone({ conductor, requests, workflow, taskType, branches, chain, slots }) {
  const client = openConductorClient({ endpoint: conductor.url })
  const queue = createHttpTaskQueue(client)
  const domain = 'alone'
  let stopping = false
  const loop = async (lane) => {
    for (let turn = 0; !stopping; turn++) {
      const workerId = `alone-${lane}-${turn}`
      const polled = await queue.poll({
        taskType,
        workerId,
        domain,
        count: 1,
        waitMs: WAIT_MS,
      })
      for (const { taskId, workflowId, input } of polled) {
        const output = { workspace: input.workspace, result: { files: 0 } }
        await queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output })
      }
    }
  }
  const loops = Array.from({ length: slots }, (_, lane) => loop(lane))
  try {
    const workspace = { repository: 'none', branch: 'none', refType: 'commit', ref: 'none' }
    const params = { change: 'none', seed: '', files: 0, sizeBytes: 0 }
    const startMs = performance.now()
    const ids = await Promise.all(
      Array.from({ length: branches }, () => requests.start(workflow, { workspace, params }, { domain })),
    )
    const workflows = await Promise.all(ids.map((id) => requests.ended(id)))
    const seconds = (performance.now() - startMs) / 1_000
    return {
      tasksPerSecond: (branches * chain) / seconds,
      taskMs: workflows.flatMap((workflow) => workflow.tasks.map(taskMs)),
    }
  } finally {
    stopping = true
    await Promise.all(loops)
    await client.close()
  }
}
