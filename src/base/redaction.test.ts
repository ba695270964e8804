import { expect, test } from 'vitest'
import { UnavailableError } from './errors.ts'
import { createRedactor, plainRedactor, REDACTED } from './redaction.ts'
import { isSensitiveKey } from './secret-spans.ts'

const secret = 'aB3/x+Y9 "q"\\z&=?é-tAiL'
const redactor = createRedactor([secret])
const basic = Buffer.from(`AKIAKEY:${secret}`).toString('base64')

test.each([
  ['as it stands', `GET failed: ${secret} was refused`],
  ['at the start and the end', `${secret}${secret}`],
  ['percent-encoded', `https://h/p?q=${encodeURIComponent(secret)}&r=1`],
  ['percent-encoded twice', encodeURIComponent(encodeURIComponent(secret))],
  ['percent-encoded in lower case', encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase())],
  ['as a form field', new URLSearchParams({ q: secret }).toString()],
  ['in a JSON text', JSON.stringify({ note: secret })],
  ['in a JSON text within one', JSON.stringify(JSON.stringify({ note: secret }))],
  ['in ASCII-only JSON', JSON.stringify(secret).replace('é', '\\u00e9')],
  ['in base64', Buffer.from(secret).toString('base64')],
  ['in URL-safe base64', `x ${Buffer.from(`some name:${secret}`).toString('base64url')} y`],
  ['in Basic authentication', `sent header Authorization: Basic ${basic}, got 401`],
  ['in Basic credentials without the word', `{"a":"${basic}"}`],
])('BA-20 a known secret is found %s', (_name, text) => {
  const shown = redactor.text(text)
  expect(shown).toContain(REDACTED)
  for (const piece of [
    'aB3',
    'Y9',
    'tAiL',
    basic.slice(-12),
    Buffer.from(secret).toString('base64').slice(2, 14),
  ]) {
    expect(shown).not.toContain(piece)
  }
})

test('BA-20 what is not secret stays as it was', () => {
  const text = 'merge "a%20b" + c\\n into main: 409, 100% sure; basic configuration, bearer of news'
  expect(redactor.text(text)).toBe(text)
})

test('BA-21 overlapping secrets leave nothing of either', () => {
  expect(createRedactor(['abcdefgh', 'efghijkl']).text('<abcdefghijkl>')).toBe(`<${REDACTED}>`)
  expect(createRedactor(['aaaaaa']).text('<aaaaaaaaa>')).toBe(`<${REDACTED}>`)
})

test.each([
  ['user and password of a URL', 'connect postgres://me:hunter2@db:5432/x', 'hunter2'],
  ['a password with an at sign', 'connect https://me:hun@ter2@db/x', 'ter2'],
  ['a token as the user of a URL', 'clone https://ghp_abcdef@github.com/x', 'ghp_abcdef'],
  ['Basic credentials', `Basic ${Buffer.from('me:hunter2').toString('base64')}`, 'bWU6'],
  ['a bearer token', 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc', 'eyJ'],
  ['an authorization header', 'authorization: Custom hunter2', 'hunter2'],
  ['a signed address', 'GET http://s3/b?X-Amz-Signature=deadbeef&X-Amz-Expires=900', 'deadbeef'],
  ['an assignment', 'LAKEFS_SECRET_ACCESS_KEY=hunter2 lakectl', 'hunter2'],
  ['a JSON field', '{"secretAccessKey": "hunter2"}', 'hunter2'],
])('BA-22 %s is redacted though nobody named the secret', (_name, text, hidden) => {
  const shown = plainRedactor.text(text)
  expect(shown).toContain(REDACTED)
  expect(shown).not.toContain(hidden)
})

test('BA-22 the rest of a signed address stays readable', () => {
  expect(plainRedactor.text('GET http://s3/b?X-Amz-Signature=deadbeef&X-Amz-Expires=900')).toBe(
    `GET http://s3/b?X-Amz-Signature=${REDACTED}&X-Amz-Expires=900`,
  )
})

test.each([
  ['secretAccessKey', true],
  ['secret_access_key', true],
  ['PASSWORD', true],
  ['X-Amz-Security-Token', true],
  ['set-cookie', true],
  ['accessKeyId', false],
  ['secretAccessKeyFile', false],
  ['nextToken', false],
  ['tokenizer', false],
  ['author', false],
])('BA-23 the key %s is sensitive: %s', (key, expected) => {
  expect(isSensitiveKey(key)).toBe(expected)
})

test('BA-23 a sensitive key hides short values, numbers and whole objects', () => {
  expect(
    redactor.value({
      password: 'x',
      pin: { token: 42 },
      credentials: { user: 'me', list: ['a'] },
      tokens: 3,
    }),
  ).toEqual({
    password: REDACTED,
    pin: { token: REDACTED },
    credentials: { user: REDACTED, list: [REDACTED] },
    tokens: 3,
  })
})

test('BA-24 every corner of a value is reached', () => {
  const cause = new Error(`inner ${secret}`)
  const error = new UnavailableError('base/x', `outer ${secret}`, {
    details: { url: new URL(`http://u:p@h/?q=${encodeURIComponent(secret)}`), deep: [{ note: secret }] },
    next: `Do not use ${secret}.`,
    cause,
  })
  const value = {
    error,
    several: new AggregateError([new Error(secret)], 'several'),
    map: new Map<unknown, unknown>([
      ['note', secret],
      [secret, 1],
    ]),
    odd: new Map<unknown, unknown>([[{ key: secret }, secret]]),
    set: new Set([secret]),
    headers: new Headers({ Authorization: `Basic ${basic}` }),
    [secret]: 'as a key',
    boxed: Object(secret) as unknown,
    pattern: /x/,
    at: new Date(0),
    bytes: Buffer.from(secret),
    symbol: Symbol(secret),
    callback: () => secret,
    nothing: null,
    absent: undefined,
  }
  const shown = redactor.value(value)
  const text = JSON.stringify(shown)
  for (const piece of ['aB3', 'tAiL', basic.slice(-12)]) expect(text).not.toContain(piece)
  expect(shown).toMatchObject({
    error: {
      name: 'UnavailableError',
      code: 'base/x',
      kind: 'unavailable',
      message: `outer ${REDACTED}`,
      cause: { message: `inner ${REDACTED}` },
      next: `Do not use ${REDACTED}.`,
    },
    several: { errors: [{ message: REDACTED }] },
    set: [REDACTED],
    at: '1970-01-01T00:00:00.000Z',
    bytes: `[${Buffer.from(secret).byteLength} bytes]`,
    nothing: null,
  })
})

test('BA-25 the input is not changed', () => {
  const value = Object.freeze({ password: 'x', list: Object.freeze([secret]) })
  redactor.value(value)
  expect(value).toEqual({ password: 'x', list: [secret] })
})

test('BA-26 circles, depth and hostile getters end', () => {
  const circle: Record<string, unknown> = { note: secret }
  circle.self = circle
  circle.twice = [circle, { circle }]
  expect(redactor.value(circle)).toEqual({
    note: REDACTED,
    self: '[circular]',
    twice: ['[circular]', { circle: '[circular]' }],
  })
  let deep: unknown = secret
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(JSON.stringify(redactor.value(deep))).toContain('[too deep]')
  expect(
    redactor.value({
      get broken(): never {
        throw new Error('no')
      },
    }),
  ).toBe('[unreadable]')
  const shared = { a: 1 }
  expect(redactor.value([shared, shared])).toEqual([{ a: 1 }, { a: 1 }])
})

test('BA-27 a secret too short to be told from ordinary text is redacted by key alone', () => {
  const short = createRedactor(['abc'])
  expect(short.text('abcdef')).toBe('abcdef')
  expect(short.value({ secret: 'abc', note: 'abc' })).toEqual({ secret: REDACTED, note: 'abc' })
})

test('BA-28 a long hostile text is read in time that grows with its length', () => {
  const texts = [
    ' '.repeat(200_000),
    'a'.repeat(200_000),
    '%41'.repeat(60_000),
    '://'.repeat(60_000),
    '\\'.repeat(200_000),
  ]
  for (const text of texts) expect(plainRedactor.text(text)).toBe(text)
  for (const text of texts) expect(redactor.text(text)).toBe(text)
})
