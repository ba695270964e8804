import { expect, test } from 'vitest'

import { Query } from './query.ts'

const badRequest = expect.objectContaining({ status: 400 }) as Error

test('ES-03 object paths keep every character', () => {
  for (const path of [
    '/a',
    'a//b',
    'dir/',
    'p/../q',
    'a%2Fb',
    'a+b',
    'a b',
    'a?b#c',
    'a\nb',
    'ünï-日本',
    'a&b=c',
  ]) {
    expect(new Query(`path=${encodeURIComponent(path)}`).objectPath()).toBe(path)
  }
  expect(new Query('path=a+b').objectPath()).toBe('a b')
})

test('ES-03 an object path has 1 to 1024 bytes of UTF-8', () => {
  expect(new Query(`path=${'ä'.repeat(512)}`).objectPath()).toHaveLength(512)
  expect(() => new Query(`path=${'ä'.repeat(512)}k`).objectPath()).toThrow(badRequest)
  expect(() => new Query('path=').objectPath()).toThrow(badRequest)
  expect(() => new Query('').objectPath()).toThrow(badRequest)
})

test('ES-04 bytes that are no UTF-8 are refused rather than replaced', () => {
  expect(() => new Query('path=%ff')).toThrow(badRequest)
  expect(() => new Query('path=%zz')).toThrow(badRequest)
})

test('ES-04 a parameter named twice is refused where one is meant', () => {
  expect(() => new Query('prefix=a&prefix=b').text('prefix')).toThrow(badRequest)
  expect(new Query('objects=a&objects=b').texts('objects')).toEqual(['a', 'b'])
})

test('ES-05 pages: 100 by default, 0 and -1 as many as allowed, beyond 1000 refused', () => {
  expect(new Query('').page()).toEqual({ prefix: '', after: '', amount: 100 })
  expect(new Query('amount=0').page().amount).toBe(1000)
  expect(new Query('amount=-1').page().amount).toBe(1000)
  for (const amount of ['1001', '-2', 'x', '1.5', '1e2']) {
    expect(() => new Query(`amount=${amount}`).page()).toThrow(badRequest)
  }
})

test('ES-04 flags and choices take only what they know', () => {
  expect(new Query('presign=true').flag('presign')).toBe(true)
  expect(new Query('presign=True').flag('presign')).toBe(true)
  expect(new Query('presign=False').flag('presign')).toBe(false)
  expect(new Query('').flag('presign')).toBeUndefined()
  expect(() => new Query('presign=yes').flag('presign')).toThrow(badRequest)
  expect(() => new Query('type=four_dot').oneOf('type', ['two_dot', 'three_dot'])).toThrow(badRequest)
})
