import { expect, test } from 'vitest'
import { seededRandom, systemRandom } from './random.ts'
import { randomWhole } from '../../test/support/random-whole.ts'

test('BA-04 one seed gives one row of numbers, and another seed another', () => {
  const row = (seed: number): number[] => {
    const random = seededRandom(seed)
    return Array.from({ length: 20 }, () => random.next())
  }
  expect(row(7)).toEqual(row(7))
  expect(row(7)).not.toEqual(row(8))
})

test.each([
  ['seeded', seededRandom(1)],
  ['system', systemRandom],
])('BA-05 %s numbers lie in [0, 1) and reach every tenth of it', (_name, random) => {
  const tenths = new Set<number>()
  for (let index = 0; index < 2000; index++) {
    const number = random.next()
    expect(number).toBeGreaterThanOrEqual(0)
    expect(number).toBeLessThan(1)
    tenths.add(Math.floor(number * 10))
  }
  expect(tenths.size).toBe(10)
})

test('BA-05 whole numbers reach both ends of their range and nothing beyond', () => {
  const random = seededRandom(3)
  const seen = new Set(Array.from({ length: 500 }, () => randomWhole(random, { least: -1, most: 2 })))
  expect([...seen].sort((left, right) => left - right)).toEqual([-1, 0, 1, 2])
})
