import { expect, test } from 'vitest'
import { kindOfLine, readProgress } from './task-log.ts'

test('WB-65 the progress of a task is the latest that its log tells, with a total where there is one', () => {
  expect(readProgress(['progress: 1 of 10 files (10 %)', 'progress: 3 of 10 files (30 %)', 'wrote'])).toEqual(
    {
      ...{ done: 3, total: 10, what: 'files' },
    },
  )
  expect(readProgress(['progress: 7'])).toEqual({ done: 7, total: undefined, what: undefined })
  expect(readProgress(['progress: 7 rows of 2'])).toEqual({ done: 7, total: undefined, what: 'rows of 2' })
  expect(readProgress(['progress: 2.5 of 5 (50 %)'])).toEqual({ done: 2.5, total: 5, what: undefined })
  expect(readProgress(['no progress: 3'])).toBeUndefined()
})

test('WB-65 warnings, errors and steps in a log are told apart', () => {
  const lines = ['error: it broke', 'warn: superseded 12', 'progress: 3', 'steps: [{}]', 'an error: none']
  expect(lines.map(kindOfLine)).toEqual(['bad', 'warn', 'progress', 'steps', 'plain'])
})
