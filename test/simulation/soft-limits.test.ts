// What the soft fence cannot do, shown rather than told: these tests fail on the day it can.
import { describe, expect, test } from 'vitest'
import type { CommitRef } from '../../src/base/ids.ts'
import type { FreshAttempt } from '../../src/fences/attempt-snapshot.ts'
import { PublishFenceError } from '../../src/fences/publish-fence.ts'
import { publish } from '../../src/publication/publish.ts'
import { ScriptedRepo } from '../../src/testing/scripted-repo.ts'
import type { RepoCall, RepoScript } from '../../src/testing/scripted-world.ts'
import {
  failureOf,
  logOf,
  NO_CHANGES,
  publicationOf,
  TARGET,
  uploadOf,
} from '../support/publication-world.ts'
import { readText } from '../support/source-tree.ts'
import { SimulatedQueue, type SimulatedAttempt } from '../../src/testing/worlds/queue.ts'

/** Lets a test act in the moment before a request takes effect. */
function openWorld({ takesRecords = true } = {}): {
  readonly world: ScriptedRepo
  readonly before: Map<RepoCall['request'], () => void>
  readonly input: CommitRef
} {
  const before = new Map<RepoCall['request'], () => void>()
  const script: RepoScript = {
    arrive: ({ client, request, isCollapse }) => {
      const act = before.get(request)
      if (client === 'worker' && isCollapse !== true && act !== undefined && before.delete(request)) act()
      return Promise.resolve('none')
    },
    answer: () => Promise.resolve(),
    later: (_, effect) => {
      effect()
    },
  }
  const world = new ScriptedRepo({ script, takesRecords })
  return { world, before, input: world.commitDirectly(TARGET, { 'features/a.txt': 'first' }) }
}

function freshIn(queue: SimulatedQueue, { snapshot }: SimulatedAttempt): FreshAttempt {
  return { task: queue.readTask(snapshot.taskId), workflow: queue.workflow }
}

function complete(queue: SimulatedQueue, { snapshot }: SimulatedAttempt, outputRef: CommitRef): void {
  queue.post({ ...snapshot, status: 'COMPLETED', output: {} }, outputRef)
}

const limits = readText('docs/concepts/fences.md').replaceAll(/\s+/g, ' ')

describe('the window between check and write', () => {
  test('F-45 a commit between the check and the merge is not kept out; it is found afterwards, and nothing is lost', async () => {
    const { world, before, input } = openWorld()
    let foreign: CommitRef | undefined
    before.set('merge', () => {
      foreign = world.commitDirectly(TARGET, { elsewhere: 'foreign' })
    })
    const error = await failureOf(publish(publicationOf(world.connect('worker'), input).request))
    // The fence had said yes, and lakeFS merged on top of what the fence had not seen.
    expect(error).toBeInstanceOf(PublishFenceError)
    expect((error as PublishFenceError).reason).toBe('landed-elsewhere')
    const log = await logOf(world.connect('watcher'))
    expect(log[0]?.parents).toEqual([foreign])
    expect(limits).toContain('a write between the two is not prevented')
  })

  test('F-45 a commit between the last look and a replacement is not kept out either, and nothing is lost', async () => {
    const { world, before, input } = openWorld()
    const repo = world.connect('worker')
    const first = await publish(publicationOf(repo, input).request)
    let foreign: CommitRef | undefined
    before.set('merge', () => {
      foreign = world.commitDirectly(TARGET, { elsewhere: 'foreign' })
    })
    const retry = publicationOf(repo, input, { attempt: { retryCount: 1 } })
    expect(await failureOf(publish(retry.request))).toMatchObject({ reason: 'landed-elsewhere' })
    const log = await logOf(world.connect('watcher'))
    expect(log.map(({ ref }) => ref).slice(1, 3)).toEqual([foreign, first.outputRef])
    expect(limits).toContain('a write between the two is not prevented')
  })

  test('F-45 where the server takes no records of commits, a move undoes such a commit, and nobody is told', async () => {
    const { world, before, input } = openWorld({ takesRecords: false })
    const repo = world.connect('worker')
    await publish(publicationOf(repo, input).request)
    let foreign: CommitRef | undefined
    before.set('resetBranch', () => {
      foreign = world.commitDirectly(TARGET, { elsewhere: 'foreign' })
    })
    const retry = publicationOf(repo, input, { attempt: { retryCount: 1 } })
    expect(await publish(retry.request)).toMatchObject({ action: 'replaced' })
    const log = await logOf(world.connect('watcher'))
    expect(log.map(({ ref }) => ref)).not.toContain(foreign)
    expect([...world.model.tags.values()]).not.toContain(foreign)
    expect(limits).toContain('can undo a commit that arrives in between')
  })
})

describe('the crash between publishing and completing', () => {
  function openQueue(firstInput: CommitRef): {
    readonly queue: SimulatedQueue
    readonly attempts: SimulatedAttempt[]
  } {
    const attempts: SimulatedAttempt[] = []
    const queue = new SimulatedQueue({
      steps: 1,
      retriesMax: 12,
      firstInput,
      onAttempt: (attempt) => attempts.push(attempt),
    })
    queue.start()
    return { queue, attempts }
  }

  test('F-46 a task whose worker dies after publishing publishes twice, and the second replaces the first', async () => {
    const { world, input } = openWorld()
    const repo = world.connect('worker')
    const { queue, attempts } = openQueue(input)
    const publishAs = (attempt: SimulatedAttempt): ReturnType<typeof publish> => {
      const authority = { readFresh: () => Promise.resolve(freshIn(queue, attempt)) }
      return publish(publicationOf(repo, attempt.inputRef, { attempt: attempt.snapshot, authority }).request)
    }
    const first = await publishAs(attempts[0]!)
    // Here it dies: nothing is reported, and the queue gives the task to another.
    queue.timeOut(attempts[0]!)
    const second = await publishAs(attempts[1]!)
    complete(queue, attempts[1]!, second.outputRef)
    const published = world.updates.filter(({ branch, client }) => branch === TARGET && client === 'worker')
    const [, claim] = published
    expect(published.map(({ to }) => to)).toEqual([first.outputRef, claim?.to, second.outputRef])
    expect(world.model.commit(claim!.to)).toMatchObject({
      parents: [first.outputRef, expect.any(String)],
      metadata: { 'publish.claim': second.outputRef },
    })
    expect((await logOf(repo)).map(({ ref }) => ref).slice(0, 2)).toEqual([second.outputRef, input])
    expect(limits).toContain('a task can publish twice')
  })

  test('F-47 a worker that dies in between leaves the branch moved and the task open', async () => {
    const { world, input } = openWorld()
    const { queue, attempts } = openQueue(input)
    const { snapshot } = attempts[0]!
    const { outputRef } = await publish(
      publicationOf(world.connect('worker'), input, { attempt: snapshot }).request,
    )
    // Here it dies: nothing is reported.
    expect(world.head(TARGET)).toBe(outputRef)
    expect(queue.open.map(({ status }) => status)).toEqual(['IN_PROGRESS'])
    expect(queue.completed).toEqual([])
    expect(limits).toContain('the branch is moved and the task is still open')
  })

  test.each([
    ['with changes', { uploads: [uploadOf('features/a.txt', 'again')], deletes: [] }, 'replaced'],
    ['without changes', NO_CHANGES, 'relocated'],
  ] as const)('F-48 its retry %s ends successfully', async (_, changes, action) => {
    const { world, input } = openWorld()
    const repo = world.connect('worker')
    const { queue, attempts } = openQueue(input)
    await publish(publicationOf(repo, input, { attempt: attempts[0]!.snapshot }).request)
    queue.timeOut(attempts[0]!)
    const retry = attempts[1]!
    const authority = { readFresh: () => Promise.resolve(freshIn(queue, retry)) }
    const retried = { changes, attempt: retry.snapshot, authority }
    const result = await publish(publicationOf(repo, retry.inputRef, retried).request)
    complete(queue, retry, result.outputRef)
    expect(result.action).toBe(action)
    expect(queue.workflow).toBe('COMPLETED')
    expect(world.head(TARGET)).toBe(result.outputRef)
  })
})
