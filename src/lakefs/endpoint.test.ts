import { expect, test } from 'vitest'
import { InvalidError } from '../base/errors.ts'
import { parseEndpoint, requestPath } from './endpoint.ts'

test.each([
  ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/api/v1'],
  ['http://127.0.0.1:8000/', 'http://127.0.0.1:8000/api/v1'],
  ['https://lakefs.example.com/api/v1', 'https://lakefs.example.com/api/v1'],
  ['https://example.com/behind/a/proxy//', 'https://example.com/behind/a/proxy/api/v1'],
])('LC-15 an endpoint is read as people write it: %s', (text, apiUrl) => {
  expect(parseEndpoint(text).apiUrl).toBe(apiUrl)
})

test.each([
  'localhost:8000',
  'ftp://example.com',
  'lakefs',
  'http://key:hidden-secret@example.com',
  'http://example.com?a=hidden-secret',
])('LC-16 what is no endpoint is refused without showing it: %s', (text) => {
  expect(() => parseEndpoint(text)).toThrow(InvalidError)
  expect(() => parseEndpoint(text)).toThrow(/^(?!.*hidden-secret).*$/)
})

test('LC-17 names and paths of any kind reach the server as they are', () => {
  const endpoint = parseEndpoint('http://127.0.0.1:8000')
  const path = requestPath(
    endpoint,
    '/repositories/{repository}/refs/{ref}/objects',
    { repository: 'r', ref: 'main^2/~1' },
    { path: 'a/../b?c=d&e#f%2F+ü' },
  )
  const url = new URL(path, endpoint.origin)
  expect(url.pathname).toBe('/api/v1/repositories/r/refs/main%5E2%2F~1/objects')
  expect(url.searchParams.get('path')).toBe('a/../b?c=d&e#f%2F+ü')
})
