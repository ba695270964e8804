import { expect, test } from 'vitest'
import { describeError } from './error-description.ts'
import { ERROR_KINDS } from './errors.ts'
import { makeError, readToldError } from './told-error.ts'

test.each(ERROR_KINDS)('EN-720 an error that is %s is the same after it was answered', (kind) => {
  const error = makeError({
    ...{ kind, code: 'a/b', message: 'do it: why', next: 'Do that.', read: 'the log' },
    ...{ retryAfterMs: 5, details: { x: 1 } },
  })
  const described = describeError(error)
  const answered: unknown = JSON.parse(JSON.stringify({ error: described }))
  expect(describeError(readToldError(answered, { read: 'nothing' }))).toEqual(described)
})

test.each([
  undefined,
  null,
  'text',
  {},
  { error: 'text' },
  { error: { kind: 'odd', code: 'a/b', message: 'x' } },
  { error: { kind: 'invalid', code: 'a/b', message: 'x', next: 1 } },
  { error: { kind: 'invalid', code: 'a/b', message: 'x', details: null } },
])('EN-720 the body %j tells no error', (body) => {
  expect(readToldError(body, { read: 'it' })).toBeUndefined()
})
