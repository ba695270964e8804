import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stagingBranchName, stagingBranchOf } from '../../../publication/staging-name.ts'
import { groupOf, readActorOwner, readStagingOwner, supersededBy } from './names.ts'

const word = fc.stringMatching(/^[a-z]([a-z0-9_]{0,7}[a-z0-9])?$/)

describe('names that perago makes', () => {
  test("WB-29 a staging branch's name tells workflow, task, retry and execution", () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        word,
        fc.nat(9),
        word,
        (workflowId, referenceTaskName, retryCount, executionId) => {
          const of = {
            workflowId,
            referenceTaskName,
            retryCount,
            executionId,
            seq: 1,
            iteration: 0,
            taskId: 't',
          }
          const name = stagingBranchName(of)
          expect(groupOf(name)).toBe('staging')
          expect(readStagingOwner(name)).toEqual({
            ...{ workflow: workflowId, task: referenceTaskName, retry: retryCount, execution: executionId },
          })
        },
      ),
    )
  })

  test('WB-29 where workflow and task cannot be told apart, both are given as one', () => {
    const of = {
      workflowId: 'w-1',
      referenceTaskName: 'load',
      seq: 1,
      iteration: 0,
      taskId: 't',
      retryCount: 2,
    }
    expect(readStagingOwner(stagingBranchName({ ...of, executionId: 'e' }))).toEqual({
      ...{ task: 'w-1-load', retry: 2, execution: 'e' },
    })
  })

  test.each(['main', 'perago-staging-', 'perago-staging-w-seq-1', 'perago-actor-a-b-exec-e'])(
    'WB-29 %s is no staging branch of an attempt',
    (name) => {
      expect(readStagingOwner(name)).toBeUndefined()
    },
  )

  test('WB-29 branches of actors and looks, and tags of what was superseded, are told', () => {
    const authority = {
      kind: 'actor',
      actor: 'operator',
      subject: 'orders.daily',
      executionId: 'e1',
    } as const
    const name = stagingBranchOf(authority)
    expect([groupOf(name), readActorOwner(name)]).toEqual(['actor', 'operator-orders-daily'])
    expect([groupOf('perago-look-000000000012345'), groupOf('main'), groupOf('peragos')]).toEqual([
      ...['look', 'people', 'people'],
    ])
    expect([supersededBy('perago-superseded-abc'), supersededBy('v1')]).toEqual(['abc', undefined])
  })
})
