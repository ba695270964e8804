// Goal: workers on many machines do not multiply the looks at one repository, and a look does not stop with one of them.
import { expect, test } from 'vitest'
import { MAIN } from '../../../test/support/worker/world.ts'
import { RefusedError } from '../../base/errors.ts'
import { branchName } from '../../base/ids.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { stagingBranchName } from '../../publication/staging-name.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { ScriptedRepo } from '../../testing/scripted-repo.ts'
import { removeLeftStaging } from './left-staging.ts'

const INTERVAL_MS = 600_000
const TASK = '00000001-0000-4000-8000-000000000000'

async function openWorld() {
  const clock = new ManualClock()
  const world = new ScriptedRepo({ now: () => clock.now() })
  const input = world.commitDirectly(MAIN, { a: '1' }, 'Input')
  const identity = {
    workflowId: 'w',
    referenceTaskName: 'load',
    seq: 1,
    iteration: 0,
    retryCount: 0,
    executionId: 'e',
  }
  const branch = stagingBranchName({ ...identity, taskId: TASK })
  const connect = (name: string): VersionedRepo => world.connect(name)
  await connect('test').createBranch({ branch, from: input })
  const asked: TaskId[] = []
  const look = (repo: VersionedRepo, nowMs: number) => {
    const queue = {
      readTask: (taskId: TaskId) => {
        asked.push(taskId)
        return Promise.resolve(undefined)
      },
      readWorkflowStatus: () => Promise.resolve(undefined),
    }
    const notes = { after: '', seen: {} }
    return removeLeftStaging(
      { repo, queue, notes, nowMs, endedAgeMs: 0, unknownAgeMs: Infinity, turnMs: INTERVAL_MS },
      {},
    )
  }
  const turns = async (): Promise<number> => {
    let count = 0
    for await (const found of connect('test').listBranches({ prefix: 'perago-look-' }))
      count += found.branch === '' ? 0 : 1
    return count
  }
  return { connect, look, asked, turns }
}

test('RE-19 of many workers one examines in each interval, and the next interval is free again', async () => {
  const { connect, look, asked, turns } = await openWorld()
  for (const worker of ['one', 'two', 'three']) await look(connect(worker), 5 * INTERVAL_MS + asked.length)
  expect(asked).toHaveLength(1)
  await look(connect('three'), 6 * INTERVAL_MS)
  expect([asked.length, await turns()]).toEqual([2, 1])
})

test('RE-19 who may not create the branch of a turn looks all the same', async () => {
  const { connect, look, asked } = await openWorld()
  const repo = connect('one')
  const refuse = () => Promise.reject(new RefusedError('lakefs/forbidden', 'create a branch: not allowed'))
  await look({ ...repo, createBranch: refuse }, 0)
  expect(asked).toHaveLength(1)
  expect(await repo.readBranch(branchName('perago-look-000000000000000'))).toBeUndefined()
})
