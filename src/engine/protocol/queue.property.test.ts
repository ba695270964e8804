// Goal: whatever workers and operators do in whatever order, ended attempts stay as they are and one attempt is open.
// Method: random requests, stale ones among them, against a queue on a clock that moves by hand; after each the whole
// workflow is read and compared with what it was before.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPeragoError } from '../../base/errors.ts'
import type { TaskRecord, WorkflowId } from '../../worker/ports.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { openTestQueue, type TestQueue } from '../../testing/open-test-queue.ts'
import { isTaskOpen } from './state.ts'

const STATUSES = ['COMPLETED', 'FAILED', 'FAILED_WITH_TERMINAL_ERROR', 'IN_PROGRESS'] as const
const OPERATIONS = ['pause', 'resume', 'terminate', 'retry', 'decide'] as const

const step = fc.oneof(
  fc.record({ is: fc.constant('claim' as const) }),
  fc.record({ is: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
  // Any task the workers were ever given, by its place in the row of claims.
  fc.record({ is: fc.constant('post' as const), claim: fc.nat(), status: fc.constantFrom(...STATUSES) }),
  fc.record({ is: fc.constant('renew' as const), claim: fc.nat() }),
  fc.record({ is: fc.constant('operate' as const), how: fc.constantFrom(...OPERATIONS) }),
)

async function play(
  queue: TestQueue,
  clock: ManualClock,
  request: {
    readonly step: typeof step extends fc.Arbitrary<infer T> ? T : never
    readonly workflowId: WorkflowId
    readonly claims: TaskRecord[]
  },
): Promise<void> {
  const { step: what, workflowId, claims } = request
  if (what.is === 'wait') return clock.advance(what.seconds * 1000)
  if (what.is === 'operate') return queue[what.how](workflowId)
  if (what.is === 'claim') {
    const workerId = `worker-${claims.length}`
    claims.push(...(await queue.poll({ taskType: 't', workerId, count: 1, waitMs: 0 })))
    return
  }
  const task = claims[what.claim % Math.max(1, claims.length)]
  if (task === undefined) return
  const { taskId, workerId } = task
  if (what.is === 'renew') await queue.renewLease(task)
  else await queue.postResult({ taskId, workflowId, workerId, status: what.status, output: { by: workerId } })
}

test('CO-54 an attempt that has ended never changes, and at most one is open, whatever comes late', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = new ManualClock()
      const queue = openTestQueue({ clock })
      await queue.registerTask({ name: 't', retryCount: 2, retryDelaySeconds: 1, responseTimeoutSeconds: 30 })
      const tasks = ['a', 'b', 'c'].map((taskReferenceName) => ({ name: 't', taskReferenceName }))
      await queue.registerWorkflow({ name: 'w', tasks })
      const workflowId = await queue.start({ name: 'w' })
      const claims: TaskRecord[] = []
      let before = await queue.readWorkflow(workflowId)
      for (const next of steps) {
        await play(queue, clock, { step: next, workflowId, claims }).catch((error: unknown) => {
          // An operator may be refused; a worker never is.
          if (!(isPeragoError(error) && error.kind === 'refused' && next.is === 'operate')) throw error
        })
        const after = await queue.readWorkflow(workflowId)
        const open = after!.tasks.filter((task) => isTaskOpen(task.status))
        expect(open.length).toBeLessThanOrEqual(1)
        expect(open.length > 0 || after!.status !== 'RUNNING').toBe(true)
        for (const [index, was] of before!.tasks.entries()) {
          if (isTaskOpen(was.status)) continue
          // A later attempt may take over; nothing else happens to it.
          const isRetried = was.isRetried || after!.tasks[index]!.isRetried
          expect(after!.tasks[index]).toEqual({ ...was, isRetried })
        }
        before = after
      }
    }),
  )
})
