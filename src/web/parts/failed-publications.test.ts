import { expect, test } from 'vitest'
import { failedPublicationOf, failedPublicationsOf } from './failed-publications.ts'

const task = (
  status: 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'IN_PROGRESS',
  repository?: string,
  more = {},
) => ({
  ...{ status, retried: false, ...more },
  ...(repository !== undefined && { publication: { repository, branch: 'main' } }),
})

test('WB-76 what may be recovered after a failed run is told by the tasks that failed, not by its input', () => {
  const run = { id: 'w', status: 'FAILED', repository: 'raw' } as const
  const tasks = [
    task('FAILED', 'first', { retried: true }),
    task('COMPLETED', 'raw'),
    task('FAILED', 'lake'),
    task('TIMED_OUT', 'lake'),
    task('FAILED', 'lake', { child_id: 'child' }),
    task('FAILED'),
  ]
  expect(failedPublicationsOf({ ...run, tasks })).toEqual([
    { repository: 'lake', branch: 'main', workflow: 'w' },
    { repository: 'lake', branch: 'main', workflow: 'child' },
  ])
  expect(failedPublicationsOf({ ...run, tasks: [task('FAILED')] })).toEqual([
    { repository: 'raw', workflow: 'w' },
  ])
  expect(failedPublicationsOf({ id: 'w', status: 'FAILED', tasks: [task('FAILED')] })).toEqual([])
  for (const status of ['RUNNING', 'PAUSED', 'COMPLETED'] as const)
    expect(failedPublicationsOf({ ...run, status, tasks })).toEqual([])
  expect(failedPublicationOf(run, task('IN_PROGRESS', 'lake'))).toBe(undefined)
})
