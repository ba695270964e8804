/** The simulated queue as one worker calls it: every request waits for its turn, and may be lost. */

import { UnavailableError, UncertainError } from '../../base/errors.ts'
import type { CommitRef } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { RepoFault } from '../scripted-world.ts'
import type { TaskQueue } from '../../worker/ports.ts'
import type { SimulatedQueue } from './queue.ts'

export interface QueuePortOptions {
  readonly client: string
  readonly queue: SimulatedQueue
  readonly arrive: (what: string, writes: boolean) => Promise<RepoFault>
  readonly later: (what: string, effect: () => void) => void
  readonly heard: (what: string, answer: string) => Promise<void>
}

export function openQueuePort(options: QueuePortOptions): TaskQueue {
  const { queue, arrive, later, heard } = options
  const ask = async <T>(what: string, effect: () => T, describe: (answer: T) => string): Promise<T> => {
    const fault = await arrive(what, false)
    if (fault !== 'none') throw new UnavailableError('testing/unavailable', `${what}: the queue is away`)
    const answer = effect()
    await heard(what, describe(answer))
    return answer
  }
  const write = async (kind: 'post' | 'renew', what: string, effect: () => boolean): Promise<boolean> => {
    const fault = await arrive(what, true)
    if (fault === 'refuse') throw new UnavailableError('testing/unavailable', `${kind}: the queue is away`)
    if (fault === 'late' || fault === 'twice') later(what, effect)
    const isDone = fault === 'none' || fault === 'twice' || fault === 'lose-answer'
    const answer = isDone && effect()
    await heard(kind, fault)
    if (fault === 'none' || fault === 'twice') return answer
    throw new UncertainError('testing/answer-lost', `${kind}: the answer was lost`, { read: 'the task' })
  }
  return {
    readTask: (taskId) =>
      ask(
        'read the task',
        () => queue.readTask(taskId),
        (task) => `${task?.status ?? ''}${task?.workerId ?? ''}`,
      ),
    readWorkflowStatus: () => ask('read the workflow', () => queue.workflow, String),
    async postResult(result) {
      const outputRef = refIn(result.output)
      return write('post', `post ${result.status}`, () => {
        queue.post(result, outputRef)
        return true
      })
    },
    renewLease: ({ taskId }) => write('renew', 'renew the lease', () => queue.renew(taskId)),
    appendLog: () => Promise.resolve(),
    poll: () => Promise.resolve([]),
    readOpenWorkflows: () => Promise.resolve({ workflows: [], isWhole: true }),
  }
}

function refIn({ workspace }: JsonObject): CommitRef | undefined {
  return (workspace as { readonly ref?: CommitRef } | undefined)?.ref
}
