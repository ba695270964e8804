// Goal: each situation is told from real facts, each offered action leads out of it, and no commit is lost on the way.
// Method: an embedded lakeFS over HTTP and the queue in this process; every situation is brought about by its scenario.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failureOf } from '../../test/support/publication-world.ts'
import { publishedForward, SCENARIOS } from '../../test/support/recovery-scenarios.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../test/support/recovery-world.ts'
import { branchName, type CommitRef } from '../base/ids.ts'
import type { WorkflowId } from '../fences/attempt-snapshot.ts'
import { readNewest } from '../publication/claims.ts'
import type { LedgerKeys } from '../publication/ledger-signature.ts'
import type { Metadata } from '../publication/ports.ts'
import { evidenceTag } from '../publication/evidence.ts'
import type { RecoveryAction } from './plan.ts'
import { examine, recover, type Recovered } from './recover.ts'
import type { Situation } from './situation.ts'

let lakefs: RecoveryLakefs
let it: RecoveryTestWorld
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async () => {
  it = await RecoveryTestWorld.open(lakefs)
})

const situationOf = async (target: string): Promise<string> =>
  (await examine(it.world, target)).map(({ situation }) => situation).join()

const isKept = async (ref: CommitRef): Promise<boolean> =>
  (await readNewest(it.repo, branchName(evidenceTag(ref)), {}))?.ref === ref

/** By its name, with a reason, and a result for those that ask for one. */
async function apply(target: string, action?: RecoveryAction): Promise<Recovered> {
  const [only, ...more] = await recover(it.world, { target, action, reason: 'a test', result: { rows: 7 } })
  if (only === undefined || more.length > 0) throw new Error('more than one branch')
  return only
}

describe('examining', () => {
  test.each(Object.keys(SCENARIOS) as Situation[])(
    'RE-6 %s is told from the facts, and nothing is changed',
    async (situation) => {
      const target = await SCENARIOS[situation](it)
      const before = await it.repo.readBranch(branchName('main'))
      expect(await situationOf(target)).toBe(situation)
      expect(await it.repo.readBranch(branchName('main'))).toEqual(before)
    },
  )

  test('RE-6 a branch is examined by its name, through the workflow that published its head', async () => {
    const workflowId = await SCENARIOS['abandoned-publication'](it)
    const [found] = await examine(it.world, it.place)
    expect(found).toMatchObject({
      situation: 'abandoned-publication',
      findings: { task: { workflow: { workflowId } }, inputRef: it.input },
    })
  })

  test('RE-6 without a Conductor the task of a publication is unknown', async () => {
    await SCENARIOS.done(it)
    const [found] = await examine({ ...it.world, queue: undefined }, it.place)
    expect(found?.situation).toBe('task-unknown')
  })

  test('RE-6 what does not exist is refused by name', async () => {
    expect(await failureOf(examine(it.world, 'no-such-id'))).toMatchObject({
      code: 'recovery/no-such-workflow',
    })
    expect(await failureOf(examine(it.world, 'a-b/c/d'))).toMatchObject({ code: 'recovery/bad-target' })
  })
})

describe('acting', () => {
  test('RE-8 restart runs the workflow again from the present head, and leaves the branch as it is', async () => {
    const target = await SCENARIOS['branch-moved'](it)
    const head = await it.head()
    const { done } = await apply(target, 'restart')
    const task = await it.claim()
    expect(task).toMatchObject({ workflowId: done[0]?.workflowId, input: { workspace: { ref: head } } })
    expect([task.workflowId === target, await it.head()]).toEqual([false, head])
  })

  test('RE-9 quarantine leaves a branch with all that was moved off', async () => {
    const target = await SCENARIOS['branch-moved'](it)
    const old = await it.head()
    const { done } = await apply(target, 'quarantine')
    const evidenceBranch = done.find(({ step }) => step === 'branch-off-head')?.evidenceBranch
    expect(evidenceBranch).toBe(`perago-evidence-main-${old.slice(0, 16)}`)
    expect(await it.repo.readBranch(evidenceBranch!)).toMatchObject({ head: old })
    expect(await it.head()).toBe(it.input)
  })

  test('RE-10 an adopted task is complete with the publication and the given result, and its attempt stops', async () => {
    const workflowId = await it.start()
    const task = await it.claim()
    const ref = await it.publish(task)
    await apply(workflowId, 'adopt')
    const workflow = await it.queue.readWorkflow(workflowId)
    expect(workflow).toMatchObject({
      status: 'COMPLETED',
      tasks: [{ output: { workspace: { ref }, result: { rows: 7 } } }],
    })
    expect(await it.queue.readLogs(task.taskId)).toEqual([`adopted ${ref} by hand: a test`])
    expect(await failureOf(it.publish(task))).toMatchObject({ code: 'fences/stale-attempt' })
    expect(await it.head()).toBe(ref)
  })

  describe('with keys, a publication that says to be of the task and is not signed is not adopted', () => {
    const keysOf = (id: string, fill: number): LedgerKeys => ({
      ...{ use: id, keys: new Map([[id, Buffer.alloc(32, fill)]]) },
    })
    const ours = keysOf('k1', 1)

    async function openPublished(signedWith: LedgerKeys | undefined) {
      it.ledgerKeys = signedWith
      const workflowId = await it.start()
      const task = await it.claim()
      return { workflowId, task, ref: await it.publish(task) }
    }
    const adopt = (target: string) =>
      recover(
        { ...it.world, ledgerKeys: ours },
        { target, action: 'adopt', reason: 'a test', result: { rows: 7 } },
      )

    /** The head again, with some of its metadata changed, by somebody who may write to lakeFS. */
    async function forge(change: (metadata: Metadata) => Metadata): Promise<void> {
      const [head] = await it.history()
      const own = Object.entries(head?.metadata ?? {}).filter(([key]) => key.startsWith('publish.'))
      await it.reset(it.input)
      await it.commit({ 'a.txt': 'forged' }, change(Object.fromEntries(own)))
    }

    test.each<[string, LedgerKeys | undefined, ((metadata: Metadata) => Metadata) | undefined]>([
      ['unsigned', undefined, undefined],
      ['unknown-key', keysOf('k2', 1), undefined],
      ['forged', keysOf('k1', 2), undefined],
      ['forged', ours, (metadata) => ({ ...metadata, 'publish.signature': 'k1:00' })],
      ['unreadable', ours, (metadata) => ({ ...metadata, 'publish.result': '{"rows":9}' })],
      [
        'no-ledger',
        ours,
        (metadata) =>
          Object.fromEntries(Object.entries(metadata).filter(([key]) => key !== 'publish.ledger')),
      ],
    ])('RE-29 one whose ledger is %s is not adopted (%#)', async (reason, signedWith, change) => {
      const { workflowId, task } = await openPublished(signedWith)
      if (change !== undefined) await forge(change)
      const head = await it.head()
      expect(await situationOf(workflowId)).toBe('published-unreported')
      expect(await failureOf(adopt(workflowId))).toMatchObject({ code: 'publication/not-adopted', reason })
      expect([await it.taskStatus(task.taskId), await it.head()]).toEqual(['IN_PROGRESS', head])
    })

    test('RE-29 one that is signed is, and without keys nobody can tell', async () => {
      const { workflowId, task } = await openPublished(ours)
      await adopt(workflowId)
      expect(await it.taskStatus(task.taskId)).toBe('COMPLETED')
      const other = await RecoveryTestWorld.open(lakefs)
      it = other
      const unsigned = await openPublished(undefined)
      await apply(unsigned.workflowId, 'adopt')
      expect(await it.taskStatus(unsigned.task.taskId)).toBe('COMPLETED')
    })
  })

  test('RE-31 after a forward replacement a further attempt is refused, which is named, and adopt leads out', async () => {
    const target = await publishedForward(it)
    const head = await it.head()
    expect(await situationOf(target)).toBe('forward-unreported')
    expect(await failureOf(apply(target, 'relocate'))).toMatchObject({ code: 'publication/branch-protected' })
    const open = (await it.queue.readWorkflow(target as WorkflowId))?.tasks.at(-1)
    expect(await failureOf(it.publish(open!))).toMatchObject({ code: 'fences/publish-refused' })
    expect([await situationOf(target), await it.head()]).toEqual(['forward-unreported', head])
    await apply(target, 'adopt')
    expect(await situationOf(target)).toBe('done')
  })

  test('RE-31 where the refused attempt has ended, the workflow starts again on top of it', async () => {
    const target = await publishedForward(it)
    const open = (await it.queue.readWorkflow(target as WorkflowId))?.tasks.at(-1)
    await it.fail(open!)
    expect(await situationOf(target)).toBe('abandoned-publication')
    const head = await it.head()
    await apply(target, 'restart')
    const task = await it.claim()
    expect(task.input).toMatchObject({ workspace: { ref: head } })
    await it.complete(task, await it.publish(task))
    expect(await situationOf(task.workflowId)).toBe('done')
  })

  test('RE-11 what asks for a reason is refused without one, and nothing is done', async () => {
    const target = await SCENARIOS['branch-moved'](it)
    const old = await it.head()
    expect(await failureOf(recover(it.world, { target, action: 'quarantine', reason: ' ' }))).toMatchObject({
      code: 'recovery/no-reason',
    })
    expect([await it.head(), await isKept(old)]).toEqual([old, false])
  })

  test('RE-11 what the situation does not offer is refused, and nothing is done', async () => {
    const target = await SCENARIOS.done(it)
    const old = await it.head()
    expect(await failureOf(apply(target, 'relocate'))).toMatchObject({ code: 'recovery/not-offered' })
    expect((await apply(target)).done).toEqual([])
    expect(await it.head()).toBe(old)
  })

  test('RE-12 a branch that moves between examination and act is refused, and the newer commit stays', async () => {
    const target = await SCENARIOS['abandoned-publication'](it)
    const foreign: CommitRef[] = []
    const repoOf: typeof it.world.repoOf = (repository) => {
      const repo = it.world.repoOf(repository)
      return {
        ...repo,
        createTag: async (...asked: Parameters<typeof repo.createTag>) => {
          if (foreign.length === 0) foreign.push(await it.commit({ 'z.txt': 'in between' }))
          return repo.createTag(...asked)
        },
      }
    }
    expect(
      await failureOf(recover({ ...it.world, repoOf }, { target, action: 'relocate', reason: 'a test' })),
    ).toMatchObject({
      code: 'publication/head-moved',
    })
    expect([await it.head()]).toEqual(foreign)
  })

  test('RE-13 a result that comes too late is not sent', async () => {
    const workflowId = await it.start()
    const task = await it.claim()
    it.hold(task, await it.publish(task))
    const queue = it.world.queue!
    const readTask: typeof queue.readTask = async (...asked) => {
      await it.fail(task)
      return queue.readTask(...asked)
    }
    const failure = await failureOf(
      recover({ ...it.world, queue: { ...queue, readTask } }, { target: workflowId }),
    )
    expect(failure).toMatchObject({ code: 'recovery/result-too-late' })
    expect(await it.taskStatus(task.taskId)).toBe('FAILED_WITH_TERMINAL_ERROR')
  })
})
