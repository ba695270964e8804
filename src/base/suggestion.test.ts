import { expect, test } from 'vitest'
import { suggest } from './suggestion.ts'

const names = ['endpoint', 'accessKeyId', 'level', 'log']

test.each([
  ['endpont', 'endpoint'],
  ['enpdoint', 'endpoint'],
  ['accesskeyid', 'accessKeyId'],
  ['access_key_id', 'accessKeyId'],
  ['lvel', 'level'],
  ['lgo', 'log'],
  ['colour', undefined],
  ['', undefined],
])('BA-55 for %j the suggestion is %s', (word, expected) => {
  expect(suggest(word, names)).toBe(expected)
})
