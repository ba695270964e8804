import { expect, test } from 'vitest'

import { EMBEDDED_TOKEN_MS } from '../../limits.ts'
import { createAuthenticator } from './authenticate.ts'

let nowMs = 1_700_000_000_000
const clock = {
  now: () => new Date(nowMs),
  monotonicMs: () => nowMs,
  sleep: () => Promise.resolve(),
}

function authenticator(signingSecret = 'signing-secret') {
  return createAuthenticator({ accessKeyId: 'KEY', secretAccessKey: 'se:cret', signingSecret, clock })
}

const PAIR = { accessKeyId: 'KEY', secretAccessKey: 'se:cret' }
const ADDRESS = '192.0.2.1'
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`

test('ES-10 basic credentials', () => {
  const known = authenticator()
  const accepts = (header: string | undefined): boolean => known.accepts(header, ADDRESS)
  expect(accepts(basic('KEY:se:cret'))).toBe(true)
  expect(accepts(basic('KEY:se:cret').replace('Basic', 'basic'))).toBe(true)
  const wrong = ['KEY:se:cre', 'KEY:se:cret ', 'key:se:cret', ':', 'KEY', 'KEYse:cret', 'KEY:se:cret\0']
  for (const pair of wrong) expect(accepts(basic(pair))).toBe(false)
  for (const header of [undefined, '', 'Basic', 'Basic !', 'Token abc', 'Bearer', 'Bearer abc.def.ghi']) {
    expect(accepts(header)).toBe(false)
  }
})

test('ES-11 a login gives a bearer token that ends', () => {
  const known = authenticator()
  const accepts = (header: string): boolean => known.accepts(header, ADDRESS)
  expect(known.login({ accessKeyId: 'KEY', secretAccessKey: 'wrong' }, ADDRESS)).toBeUndefined()
  const granted = known.login(PAIR, ADDRESS)
  const header = `Bearer ${granted?.token ?? ''}`
  expect(accepts(header)).toBe(true)
  expect(granted?.expiresAt).toBe(nowMs + EMBEDDED_TOKEN_MS)
  nowMs += EMBEDDED_TOKEN_MS
  expect(accepts(header)).toBe(false)
})

test('ES-11 a token that was changed, or signed by another server, is refused', () => {
  const token = authenticator().login(PAIR, ADDRESS)?.token ?? ''
  const [expiry, signature] = token.split('.')
  expect(authenticator().accepts(`Bearer ${String(Number(expiry) + 1)}.${signature ?? ''}`, ADDRESS)).toBe(
    false,
  )
  expect(authenticator().accepts(`Bearer Infinity.${signature ?? ''}`, ADDRESS)).toBe(false)
  expect(authenticator().accepts(`Bearer ${token}x`, ADDRESS)).toBe(false)
  expect(authenticator('another-secret').accepts(`Bearer ${token}`, ADDRESS)).toBe(false)
})
