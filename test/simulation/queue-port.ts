// The simulated queue as one worker calls it: every request waits for its turn, and may be lost.
import { UnavailableError, UncertainError } from '../../src/base/errors.ts'
import type { CommitRef } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { RepoFault } from '../../src/testing/scripted-world.ts'
import type { TaskQueue } from '../../src/worker/ports.ts'
import type { SimulatedQueue } from './queue.ts'

export type QueuePort = Pick<TaskQueue, 'readTask' | 'readWorkflowStatus' | 'postResult'>

export interface QueuePortOptions {
  readonly client: string
  readonly queue: SimulatedQueue
  readonly arrive: (what: string, writes: boolean) => Promise<RepoFault>
  readonly later: (effect: () => void) => void
  readonly heard: (what: string, answer: string) => Promise<void>
}

export function openQueuePort({ queue, arrive, later, heard }: QueuePortOptions): QueuePort {
  const ask = async <T>(what: string, effect: () => T, describe: (answer: T) => string): Promise<T> => {
    const fault = await arrive(what, false)
    if (fault !== 'none') throw new UnavailableError('testing/unavailable', `${what}: the queue is away`)
    const answer = effect()
    await heard(what, describe(answer))
    return answer
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
      const effect = (): void => queue.post(result, outputRef)
      const fault = await arrive(`post ${result.status}`, true)
      if (fault === 'refuse') throw new UnavailableError('testing/unavailable', 'post: the queue is away')
      if (fault === 'late' || fault === 'twice') later(effect)
      if (fault === 'none' || fault === 'twice' || fault === 'lose-answer') effect()
      await heard('post', fault)
      if (fault === 'none' || fault === 'twice') return true
      throw new UncertainError('testing/answer-lost', 'post: the answer was lost', { read: 'the task' })
    },
  }
}

function refIn({ workspace }: JsonObject): CommitRef | undefined {
  return (workspace as { readonly ref?: CommitRef } | undefined)?.ref
}
