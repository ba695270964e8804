import { expect, test } from 'vitest'
import { originOf } from './error-origin.ts'

function withStack(...frames: readonly string[]): Error {
  return Object.assign(new Error('x'), { stack: ['Error: x (at home:1:1)', ...frames].join('\n') })
}

test('WK-320 an error comes from the first line that is no library and not Node', () => {
  expect(originOf(new Error('here'))).toMatch(/^error-origin\.test\.ts:\d+$/)
  const frames = [
    '    at node:internal/process/task_queues:95:5',
    '    at parse (/home/me/node_modules/zod/index.js:1:2)',
    '    at async Object.clean [as body] (file:///home/me/my tasks/tasks.ts:31:7)',
    '    at /home/me/other.ts:3:3',
  ]
  expect(originOf(withStack(...frames))).toBe('tasks.ts:31')
  expect(originOf(withStack(...frames.slice(3)))).toBe('other.ts:3')
})

test('WK-320 what has no stack, or none of anybody, has no origin', () => {
  for (const thrown of ['text', undefined, withStack(), withStack('    at <anonymous>')])
    expect(originOf(thrown)).toBeUndefined()
})
