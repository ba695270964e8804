import { expect, test } from 'vitest'
import { parseEndpoint } from './client.ts'

test.each([
  ['http://localhost:8080', 'http://localhost:8080', ''],
  ['http://localhost:8080/api', 'http://localhost:8080', ''],
  ['http://localhost:8080/api/', 'http://localhost:8080', ''],
  ['https://example.org/conductor/api', 'https://example.org', '/conductor'],
  ['https://example.org/conductor/', 'https://example.org', '/conductor'],
])('CO-76 %s is %s with the prefix "%s"', (text, origin, prefix) => {
  expect(parseEndpoint(text)).toEqual({ origin, prefix })
})

test.each([
  'localhost:8080',
  'ftp://example.org',
  '',
  'http://me:hidden@example.org/api',
  'http://example.org/api?x=hidden',
])('CO-76 %s is refused without being quoted', (text) => {
  let thrown: unknown
  try {
    parseEndpoint(text)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ kind: 'invalid', code: 'conductor/bad-endpoint' })
  expect(String(thrown)).not.toContain('hidden')
})
