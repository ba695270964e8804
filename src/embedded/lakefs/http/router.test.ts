import { expect, test } from 'vitest'

import { OPERATIONS } from './operations.ts'
import { findRoute } from './router.ts'

test('ES-02 every operation is found by its method and path', () => {
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, variable: string) => `a${variable}%40`)
    const route = findRoute(operation.method, path)
    expect(route?.name).toBe(name)
    for (const [variable, value] of Object.entries(route?.segments ?? {})) expect(value).toBe(`a${variable}@`)
  }
})

test.each([
  ['PATCH', '/api/v1/repositories'],
  ['POST', '/api/v1/repositories/r/branches/b/hard_reset'],
  ['GET', '/api/v1/no/such/route'],
  ['GET', '/api/v1/repositories/'],
  ['GET', '/api/v1/repositories/r/'],
  ['GET', '/api/v1/repositories//branches'],
  ['GET', '/api/v1'],
  ['GET', '/repositories'],
  ['GET', '/api/v1/repositories/%ff'],
  ['GET', '/api/v1/constructor'],
])('ES-02 %s %s is no route', (method, path) => {
  expect(findRoute(method, path)).toBeUndefined()
})

test('ES-02 a segment may hold an encoded slash', () => {
  expect(findRoute('GET', '/api/v1/repositories/r/branches/a%2Fb')?.segments).toEqual({
    repository: 'r',
    branch: 'a/b',
  })
})
