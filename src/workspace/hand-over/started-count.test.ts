// Goal: the count is believed only where it is known to count.
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { StartedCount } from './started-count.ts'

function countOf(...stats: readonly (string | Error)[]): StartedCount {
  const left = [...stats]
  return new StartedCount(() => {
    const next = left.shift() ?? ''
    if (typeof next !== 'string') throw next
    return next
  })
}

test('WS-237 a count of started processes that never moves is not believed', () => {
  const count = countOf(...Array<string>(3).fill('cpu 1\nprocesses 7\n'), 'processes 9\n', 'processes 9\n')
  expect([1, 2, 3, 4, 5].map(() => count.read())).toEqual([undefined, undefined, undefined, 9, 9])
})

test('WS-237 where no count is shown, or none can be read, it cannot be told', () => {
  const count = countOf('processes 7\n', 'processes 8\n', 'cpu 1\n', new Error('EACCES'), 'processes 9\n')
  expect([1, 2, 3, 4, 5].map(() => count.read())).toEqual([undefined, 8, undefined, undefined, 9])
})

test.runIf(process.platform === 'linux')('WS-237 every program that is started moves the count', () => {
  const count = new StartedCount()
  count.read()
  spawnSync('true')
  const before = count.read()
  spawnSync('true')
  expect(before).toBeTypeOf('number')
  expect(count.read()).toBeGreaterThan(before!)
})
