import { describe, expect, test } from 'vitest'
import { groupOf, readActorOwner, readStagingOwner, supersededBy } from './names.ts'

const UUID = '7c1f0c0e-6d1b-4a7e-9f0a-2d1c9a5b0e11'

describe('names that perago makes', () => {
  test("WB-29 a staging branch's name tells workflow, task, retry and execution", () => {
    const name = `perago-staging-${UUID}-build-x-seq-2-iteration-0-task-id-t-1-retry-3-exec-5f6d`
    expect(groupOf(name)).toBe('staging')
    expect(readStagingOwner(name)).toEqual({ workflow: UUID, task: 'build-x', retry: 3, execution: '5f6d' })
  })

  test('WB-29 where workflow and task cannot be told apart, both are given as one', () => {
    const name = 'perago-staging-w-1-load-seq-1-iteration-0-task-id-t-retry-2-exec-e'
    expect(readStagingOwner(name)).toEqual({ task: 'w-1-load', retry: 2, execution: 'e' })
  })

  test.each([
    ...['main', 'perago-staging-', 'perago-staging-w-seq-1', 'perago-actor-a-b-exec-e'],
    'perago-staging-a-seq-1-iteration-0-task-id-b-seq-1-iteration-0-task-id-t-retry-2-exec-e',
    'perago-staging-a-seq-1-iteration-0-task-id-t-retry-2-exec-e-retry-1-exec-f',
  ])('WB-29 %s is not read as a staging branch of one attempt', (name) => {
    expect(readStagingOwner(name)).toBeUndefined()
  })

  test('WB-29 branches of actors and looks, and tags of what was superseded, are told', () => {
    expect(readActorOwner('perago-actor-operator-orders-exec-e1')).toBe('operator-orders')
    expect([groupOf('perago-actor-a-b-exec-e'), groupOf('perago-look-000000000012345')]).toEqual([
      'actor',
      'look',
    ])
    expect([groupOf('main'), groupOf('peragos')]).toEqual(['people', 'people'])
    expect([supersededBy('perago-superseded-abc'), supersededBy('v1')]).toEqual(['abc', undefined])
  })
})
