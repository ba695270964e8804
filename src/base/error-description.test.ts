import { expect, test } from 'vitest'
import { describeError, renderError } from './error-description.ts'
import { MissingError, UnavailableError, UncertainError } from './errors.ts'
import { ERROR_CAUSES_MAX, ERROR_TEXT_MAX_CHARS } from './limits.ts'
import { createRedactor, REDACTED } from './redaction.ts'

const missing = new MissingError('lakefs/no-such-branch', 'read branch "x": there is none', {
  details: { branch: 'x', password: 'abc' },
  next: 'Create the branch.',
  cause: new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'ENOENT' }) }),
})

test('BA-50 an error is shown in one line with its code and the next step', () => {
  expect(renderError(describeError(missing))).toBe(
    'read branch "x": there is none [lakefs/no-such-branch]. Create the branch.',
  )
  expect(renderError(describeError(new MissingError('base/x', 'read x: nothing')))).toBe(
    'read x: nothing [base/x]',
  )
})

test('BA-50 an uncertain error says first what to look at', () => {
  const lost = new UncertainError('lakefs/lost', 'merge: the answer was lost', {
    read: 'the head of main',
    next: 'Then decide.',
  })
  expect(renderError(describeError(lost))).toBe(
    'merge: the answer was lost [lakefs/lost]. First look at the head of main. Then decide.',
  )
  const told = new UncertainError('lakefs/lost', 'merge', { read: 'the head', next: 'Read the head.' })
  expect(renderError(describeError(told))).toBe('merge [lakefs/lost]. Read the head.')
})

test('BA-51 the JSON form names kind, code, message, next step, details and causes, redacted', () => {
  expect(describeError(missing)).toEqual({
    kind: 'missing',
    code: 'lakefs/no-such-branch',
    message: 'read branch "x": there is none',
    next: 'Create the branch.',
    details: { branch: 'x', password: REDACTED },
    causes: [{ message: 'outer' }, { code: 'ENOENT', message: 'inner' }],
  })
  expect(describeError(new UnavailableError('base/x', 'x', { retryAfterMs: 10 }))).toEqual({
    kind: 'unavailable',
    code: 'base/x',
    message: 'x',
    retryAfterMs: 10,
  })
})

test('BA-51 secrets and control characters never reach what is shown', () => {
  const secret = 'hunter2-hunter2'
  const error = new MissingError('base/x', `a\n${secret}\u001b[31m`, {
    next: secret,
    cause: new Error(secret, { cause: secret }),
    details: { note: [secret] },
  })
  const description = describeError(error, createRedactor([secret]))
  expect(JSON.stringify(description)).not.toContain('hunter2')
  expect(description.message).toBe(`a\\n${REDACTED}\\u001b[31m`)
})

test('BA-52 what is not ours is shown as a defect, whatever was thrown', () => {
  expect(describeError(new TypeError('x is not a function'))).toMatchObject({
    kind: 'defect',
    code: 'base/unexpected',
    message: 'something unexpected happened: x is not a function',
  })
  for (const thrown of [undefined, null, 42, 'text', {}, Symbol('s')]) {
    expect(describeError(thrown)).toMatchObject({ kind: 'defect', code: 'base/unexpected' })
  }
})

test('BA-53 circles of causes and endless messages are bounded', () => {
  const circle = new Error('round')
  circle.cause = circle
  expect(describeError(circle).causes).toHaveLength(ERROR_CAUSES_MAX)
  expect(describeError(new Error('x'.repeat(1_000_000))).message.length).toBeLessThan(
    ERROR_TEXT_MAX_CHARS + 100,
  )
})

test('BA-53 of several failures at once the first is the cause', () => {
  const error = new UnavailableError('base/x', 'connect', {
    cause: new AggregateError([new Error('::1 refused'), new Error('b')]),
  })
  expect(describeError(error).causes?.map(({ message }) => message)).toEqual([
    'AggregateError',
    '::1 refused',
  ])
})
