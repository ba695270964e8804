// Goal: who watches a worker sees each task that has ended, in one line that says what it did.
import { expect, test } from 'vitest'
import { createRedactor } from '../../base/redaction.ts'
import { TerminalError } from '../../tasks/author-errors.ts'
import type { AttemptSummary, WorkerEvent } from '../../worker/events.ts'
import { tellTasks } from './task-lines.ts'

const DONE: AttemptSummary = {
  status: 'COMPLETED',
  action: 'merged',
  strength: 'soft',
  delivery: 'delivered',
  errorCode: undefined,
  durationMs: 1_234,
  outputRef: '0123456789abcdef',
  changed: { written: 2, deleted: 1 },
}

function told(
  changes: Partial<AttemptSummary>,
  { error, format = 'pretty', level = 'warn', retryCount = 0 } = {} as {
    error?: unknown
    format?: 'pretty' | 'json'
    level?: 'warn' | 'silent'
    retryCount?: number
  },
): string {
  let lines = ''
  const redactor = createRedactor(['hunter2-hunter2'])
  const write = (line: string): void => void (lines += line)
  const event: WorkerEvent = {
    kind: 'attempt-ended',
    attempt: {
      taskId: 't1',
      workflowId: 'w1',
      taskName: 'orders.clean',
      referenceName: 'clean',
      retryCount,
      iteration: 0,
    },
    executionId: 'x',
    summary: { ...DONE, ...changes },
    ...(error !== undefined && { error }),
  }
  tellTasks({ level, format, isTerminal: true, redactor, write }, { worker: 1 })(event)
  return lines.replace(/^\d\d:\d\d:\d\d /, '')
}

test.each<[string, Partial<AttemptSummary>, object, string]>([
  [
    'a publication',
    {},
    {},
    '✓ orders.clean  workflow w1  published 0123456789ab: 2 files written, 1 deleted  1.2 s',
  ],
  ['no change', { action: 'completed' }, {}, '✓ orders.clean  workflow w1  done, nothing changed  1.2 s'],
  [
    'no workspace',
    { action: undefined, outputRef: undefined, changed: undefined },
    { retryCount: 1 },
    '✓ orders.clean  workflow w1  attempt 2  done  1.2 s',
  ],
  [
    'an error',
    { status: 'FAILED_WITH_TERMINAL_ERROR', action: undefined },
    { error: new TerminalError('no rows\nfor hunter2-hunter2') },
    '✗ failed for good orders.clean  workflow w1  no rows\\nfor [redacted] [task/terminal]  1.2 s',
  ],
  [
    'a result that is not delivered',
    { delivery: 'kept' },
    {},
    '✓ orders.clean  workflow w1  published 0123456789ab: 2 files written, 1 deleted  the result is kept, and sent again  1.2 s',
  ],
])('WK-321 a task that has ended is one line for people: %s', (_, summary, more, expected) => {
  expect(told(summary, more)).toBe(`${expected}\n`)
})

test('WK-321 elsewhere it is one record, at every level but silent', () => {
  expect(JSON.parse(told({}, { format: 'json' }))).toMatchObject({
    ...{ level: 'info', worker: 1, workflow: 'w1', task: 'orders.clean', taskId: 't1', attempt: 0 },
    ...{
      status: 'COMPLETED',
      outputRef: DONE.outputRef,
      changed: { written: 2 },
      message: 'the task is done',
    },
  })
  const failed = told({ status: 'FAILED' }, { format: 'json', error: new Error('no rows') })
  expect(JSON.parse(failed)).toMatchObject({ level: 'warn', error: { message: 'no rows' } })
  expect(told({}, { level: 'silent' })).toBe('')
})
