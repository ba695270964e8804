// Goal: one table says what the queue is told, and no reason tells too much.
import { describe, expect, test } from 'vitest'
import {
  DefectError,
  ERROR_KINDS,
  InvalidError,
  MissingError,
  RefusedError,
  UnavailableError,
  UncertainError,
  type ErrorCode,
  type ErrorKind,
  type PeragoError,
} from '../../base/errors.ts'
import { CONDUCTOR_REASON_MAX_CHARS } from '../limits.ts'
import { createRedactor, plainRedactor } from '../../base/redaction.ts'
import { StaleAttemptError } from '../../fences/attempt-fence.ts'
import { FENCE_TABLE } from '../../../test/support/fence-table.ts'
import { PublishFenceError } from '../../fences/publish-fence.ts'
import { GuardrailError } from '../../tasks/guardrail-error.ts'
import {
  BodyFailedError,
  RetryableError,
  TerminalError,
  WorkerStoppingError,
} from '../../tasks/author-errors.ts'
import { mapFailure, STATUS_OF_CODE } from './failure-map.ts'

const redactor = plainRedactor
const ERROR_OF_KIND: Readonly<Record<ErrorKind, (code: ErrorCode) => PeragoError>> = {
  invalid: (code) => new InvalidError(code, 'do it'),
  missing: (code) => new MissingError(code, 'do it'),
  refused: (code) => new RefusedError(code, 'do it'),
  unavailable: (code) => new UnavailableError(code, 'do it'),
  uncertain: (code) => new UncertainError(code, 'do it', { read: 'the branch' }),
  defect: (code) => new DefectError(code, 'do it'),
}

describe('statuses', () => {
  test.each(ERROR_KINDS)('WK-20 any other error of kind %s is FAILED', (kind) => {
    expect(mapFailure(ERROR_OF_KIND[kind]('room/other'), { redactor }).status).toBe('FAILED')
  })

  test.each(Object.entries(STATUS_OF_CODE))('WK-20 code %s is %s, whatever its kind', (code, status) => {
    for (const kind of ERROR_KINDS)
      expect(mapFailure(ERROR_OF_KIND[kind](code as ErrorCode), { redactor }).status).toBe(status)
  })

  const stale = new StaleAttemptError({ taskId: 't' } as never, [
    { field: 'task', expected: 't', actual: undefined },
  ])
  const refused = new PublishFenceError('branch-moved', { branch: 'main' } as never)
  const failure = [{ rule: 'requireFile', path: 'a', found: 'nothing', wanted: 'a file' }]
  const thrown: readonly [string, unknown, string][] = [
    ['F-25 a stale attempt', stale, 'FAILED'],
    ['F-25 the row of the attempt fence', stale, FENCE_TABLE.attempt.result],
    ['WK-20 a refused publication', refused, FENCE_TABLE.publish.result],
    ['WK-20 a failed pre check', new GuardrailError('pre', failure), 'FAILED_WITH_TERMINAL_ERROR'],
    ['WK-20 a failed post check', new GuardrailError('post', failure), 'FAILED'],
    ['WK-20 what an author calls terminal', new TerminalError('no'), 'FAILED_WITH_TERMINAL_ERROR'],
    ['WK-20 what an author calls retryable', new RetryableError('later'), 'FAILED'],
    ['WK-20 whatever else a body threw', new BodyFailedError(new Error('no')), 'FAILED'],
    ['WK-20 something nobody foresaw', new TypeError('x is not a function'), 'FAILED'],
    ['WK-20 no error at all', 'text', 'FAILED'],
    ['WK-20 a worker that has to stop', new WorkerStoppingError(), 'IN_PROGRESS'],
  ]
  test.each(thrown)('%s', (_, error, status) => {
    expect(mapFailure(error, { redactor }).status).toBe(status)
  })

  test('WK-23 only a refused publication follows the setting for it', () => {
    const options = { redactor, publishRefused: 'FAILED' } as const
    expect(mapFailure(refused, options).status).toBe('FAILED')
    expect(mapFailure(new TerminalError('no'), options).status).toBe('FAILED_WITH_TERMINAL_ERROR')
  })
})

describe('reasons', () => {
  const reasonOf = (error: unknown, secrets: readonly string[] = []): string =>
    mapFailure(error, { redactor: createRedactor(secrets) }).reason

  test('WK-21 message, code and next step on one line', () => {
    const error = new MissingError('lakefs/no-such-branch', 'read branch "x":\n there is none', {
      next: 'Create it.',
    })
    expect(reasonOf(error)).toBe('read branch "x":\\n there is none [lakefs/no-such-branch]. Create it.')
  })

  test('WK-21 no longer than the queue keeps', () => {
    const reason = reasonOf(new TerminalError('x'.repeat(2_000)))
    expect(reason).toHaveLength(CONDUCTOR_REASON_MAX_CHARS)
    expect(reason.endsWith('…')).toBe(true)
  })

  test('WK-21 no secret', () => {
    expect(reasonOf(new Error('key hunter2000 is wrong'), ['hunter2000'])).not.toContain('hunter2000')
  })

  test.each([
    ['open "/var/lib/perago/tree/a.csv"', 'open "…/a.csv"'],
    ['at file:///opt/app/tasks.ts:5', 'at …/tasks.ts:5'],
    ['[/var/lib/x/y, /var/lib/z]', '[…/y, …/z]'],
    ['in C:\\Users\\x\\a.csv', 'in …/a.csv'],
    ['below /var/lib/perago/', 'below …/'],
    ['GET http://host:8080/api/tasks is 500', 'GET http://host:8080/api/tasks is 500'],
    ['publish "orders/2026/a.csv"', 'publish "orders/2026/a.csv"'],
  ])('WK-21 no path of this machine: %s', (message, shown) => {
    expect(reasonOf(new TerminalError(message))).toBe(`${shown} [task/terminal]`)
  })

  test('WK-21 no stack', () => {
    const reason = reasonOf(new TypeError('x is not a function'))
    expect(reason).not.toMatch(/\bat .*:\d+:\d+/)
    expect(reason).toContain('[worker/unexpected]')
  })
})
