import { expect, test } from 'vitest'
import { formatSize, parseDuration, parseSize } from './quantities.ts'

test.each([
  ['30s', 30_000],
  ['250 ms', 250],
  ['1.5 min', 90_000],
  ['2M', 120_000],
  [' 1h ', 3_600_000],
  ['1d', 86_400_000],
  ['5m', 300_000],
  ['0s', 0],
  ['30', undefined],
  ['-1s', undefined],
  ['s', undefined],
  ['1 fortnight', undefined],
  ['1s 2s', undefined],
  ['1constructor', undefined],
  ['99999999999999999d', undefined],
  ['', undefined],
])('BA-54 the duration %j is %s ms', (text, expected) => {
  expect(parseDuration(text)).toBe(expected)
})

test.each([
  ['5 MiB', 5 * 1024 ** 2],
  ['5MB', 5_000_000],
  ['1.5kib', 1536],
  ['12 B', 12],
  ['1 GiB', 1024 ** 3],
  ['2TiB', 2 * 1024 ** 4],
  ['512Mi', 512 * 1024 ** 2],
  ['1g', 1024 ** 3],
  ['64m', 64 * 1024 ** 2],
  ['3 TB', 3_000_000_000_000],
  ['12', undefined],
  ['1 s', undefined],
])('BA-54 the size %j is %s bytes', (text, expected) => {
  expect(parseSize(text)).toBe(expected)
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1_500_000, '1.4 MiB'],
  [128 * 1024 ** 2, '128 MiB'],
  [3 * 1024 ** 4, '3.0 TiB'],
])('BA-54 %d bytes are shown as %s', (bytes, expected) => {
  expect(formatSize(bytes)).toBe(expected)
})
