// Goal: of what former attempts staged only what is certainly over is removed, and nothing of another task.
import { expect, test } from 'vitest'
import { stagingBranchesOf } from '../../../test/support/publication-world.ts'
import { MAIN, recordOf } from '../../../test/support/worker/world.ts'
import { branchName } from '../../base/ids.ts'
import type { TaskStatus } from '../../fences/attempt-snapshot.ts'
import { stagingBranchName, type StagingIdentity } from '../../publication/staging-name.ts'
import { ScriptedRepo } from '../../testing/scripted-repo.ts'
import { removeFormerStaging } from './remove-former-staging.ts'

const uuid = (digit: number): string => `0000000${digit}-0000-4000-8000-000000000000`
const record = recordOf({ taskId: uuid(9) as never, retryCount: 3 })

/** Branches of these tasks, and what the queue says of each; what it does not know is not there. */
async function leave(
  statuses: Readonly<Record<string, TaskStatus>>,
  ...identities: Partial<StagingIdentity>[]
) {
  const world = new ScriptedRepo()
  const repo = world.connect('worker')
  const head = world.commitDirectly(MAIN, { a: '1' }, 'Input')
  const names = identities.map((identity) =>
    stagingBranchName({ ...record, retryCount: 0, executionId: 'e', ...identity }),
  )
  for (const branch of names) await repo.createBranch({ branch, from: head })
  const asked: string[] = []
  const request = {
    repo,
    record,
    readFresh: (attempt: { readonly taskId: string }) => {
      asked.push(attempt.taskId)
      const status = statuses[attempt.taskId]
      const task = status === undefined ? undefined : { ...record, taskId: attempt.taskId as never, status }
      return Promise.resolve({ task, workflow: 'RUNNING' as const })
    },
  }
  return { repo, names, request, asked, head }
}

test('WK-26 what ended attempts staged is removed, and what may still be at work stays', async () => {
  const ended = ['FAILED', 'TIMED_OUT', 'CANCELED', 'COMPLETED'] as const
  const open = ['IN_PROGRESS', 'SCHEDULED'] as const
  const statuses = Object.fromEntries([...ended, ...open].map((status, index) => [uuid(index), status]))
  const ids = [...Object.keys(statuses), uuid(8)].map((taskId) => ({ taskId }))
  const { repo, names, request } = await leave(statuses, ...ids)
  const gone = [...names.slice(0, 4), names[6]]
  expect((await removeFormerStaging(request)).toSorted()).toEqual(gone.toSorted())
  expect(await stagingBranchesOf(repo)).toEqual(names.slice(4, 6))
})

test('WK-26 nothing of another task or workflow, and nothing of an id that its name does not tell, is touched', async () => {
  const others: Partial<StagingIdentity>[] = [
    { referenceTaskName: `${record.referenceTaskName}-seq-x` },
    { referenceTaskName: 'other' },
    { workflowId: 'workflow-2' },
    { taskId: 'task/7' },
  ]
  const { repo, request, asked } = await leave({}, ...others)
  await repo.createBranch({
    branch: branchName('perago-staging-workflow-1-clean-seq-mine'),
    from: (await repo.readBranch(MAIN))!.head,
  })
  expect(await removeFormerStaging(request)).toEqual([])
  expect(asked).toEqual(['task-7'])
})

test('WK-26 a first attempt looks for nothing', async () => {
  const { repo, names, request } = await leave({ [uuid(1)]: 'FAILED' }, { taskId: uuid(1) })
  expect(await removeFormerStaging({ ...request, record: { ...record, retryCount: 0 } })).toEqual([])
  expect(await stagingBranchesOf(repo)).toEqual(names)
})

test('WK-26 evidence of an ended attempt stays', async () => {
  const { repo, names, request } = await leave(
    { [uuid(1)]: 'FAILED', [uuid(2)]: 'FAILED' },
    { taskId: uuid(1) },
    { taskId: uuid(2) },
  )
  const [kept, left] = names
  const metadata = { 'publish.evidence': JSON.stringify({ code: 'fences/publish-refused' }) }
  await repo.commit({ branch: kept!, message: 'Evidence', metadata, allowEmpty: true })
  expect(await removeFormerStaging(request)).toEqual([left])
  expect(await stagingBranchesOf(repo)).toEqual([kept])
})
