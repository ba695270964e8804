import { expect, test } from 'vitest'

import { isGlob, matchesGlob } from './glob.ts'

test.each([
  ['main', 'main', true],
  ['main', 'main2', false],
  ['feature-*', 'feature-x', true],
  ['feature-*', 'feature', false],
  ['*', '', true],
  ['*a*b', 'xaxxb', true],
  ['*a*b', 'xaxxbc', false],
  ['?', 'a', true],
  ['?', '', false],
  ['v[0-9]', 'v7', true],
  ['v[0-9]', 'vx', false],
  ['v[^0-9]', 'vx', true],
  [String.raw`a\*`, 'a*', true],
  [String.raw`a\*`, 'ab', false],
  ['a.c', 'abc', false],
])('ES-68 %s against %s: %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected)
})

test.each(['[', '[]', '[a-', '[-a]', 'a\\'])('ES-68 %s is no pattern', (pattern) => {
  expect(isGlob(pattern)).toBe(false)
  expect(matchesGlob(pattern, pattern)).toBe(false)
})

test('ES-68 many stars against a long name end soon', () => {
  expect(matchesGlob('*a'.repeat(200), 'a'.repeat(1024) + 'b')).toBe(false)
})
