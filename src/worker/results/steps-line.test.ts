import { expect, test } from 'vitest'
import { STEPS_LINE_MAX_CHARS } from '../limits.ts'
import { quoteOurs } from './publication-lines.ts'
import { readStepsLine, tellSteps, type ToldStep } from './steps-line.ts'

const AT = '2026-01-31T10:00:00.000Z'
const STEPS: readonly ToldStep[] = [
  { step: 'lay-out', at: AT, ms: 12 },
  { step: 'publish/attempt-fence', at: AT, ms: 0 },
]
const PUBLISHED = `published: merged at ${'a'.repeat(64)}, soft fence`

test('WK-340 the steps of an attempt are told in one line, and read back', () => {
  const line = tellSteps(STEPS)
  expect(line).toBe(
    `steps: [{"step":"lay-out","at":"${AT}","ms":12},{"step":"publish/attempt-fence","at":"${AT}","ms":0}]`,
  )
  expect(readStepsLine(['hello', PUBLISHED, line])).toEqual(STEPS)
  expect(readStepsLine(['failed: it broke [task/failed]', 'next: mend it', line])).toEqual(STEPS)
})

test('WK-341 of more steps than the line may hold the shortest are left out, and the order stays', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({
    step: 'body',
    at: AT,
    ms: index % 2 ? index : 0,
  }))
  const line = tellSteps(many)
  expect(line.length).toBeLessThanOrEqual(STEPS_LINE_MAX_CHARS)
  const told = readStepsLine([PUBLISHED, line]) ?? []
  expect(told.length).toBeGreaterThan(40)
  expect(told.length).toBeLessThan(100)
  const longer = (steps: readonly ToldStep[]) => steps.map(({ ms }) => ms).filter((ms) => ms > 0)
  expect(longer(told)).toEqual(longer(many))
  expect(told.at(-1)).toEqual(many.at(-1))
})

test('DO-153 steps are read only behind the line that tells how the attempt ended, and the last count', () => {
  const lied = tellSteps([{ step: 'body', at: AT, ms: 1 }])
  expect(readStepsLine([lied])).toBeUndefined()
  expect(readStepsLine([lied, PUBLISHED])).toBeUndefined()
  expect(readStepsLine([lied, PUBLISHED, tellSteps(STEPS)])).toEqual(STEPS)
})

test.each([
  ['no JSON', 'steps: [{'],
  ['no list', 'steps: {}'],
  ['a name with other signs', `steps: [{"step":"<b>","at":"${AT}","ms":1}]`],
  ['a time that is none', 'steps: [{"step":"body","at":"today","ms":1}]'],
  ['a day that is none', 'steps: [{"step":"body","at":"2026-02-31T10:00:00.000Z","ms":1}]'],
  ['a month that is none', 'steps: [{"step":"body","at":"2026-13-01T10:00:00.000Z","ms":1}]'],
  ['a negative length', `steps: [{"step":"body","at":"${AT}","ms":-1}]`],
  ['a length that is no number', `steps: [{"step":"body","at":"${AT}","ms":"1"}]`],
  ['a line that is too long', `steps: [${' '.repeat(STEPS_LINE_MAX_CHARS)}]`],
  ['no step', 'steps: []'],
])('DO-153 a line of steps that no worker writes is not read: %s', (_, line) => {
  expect(readStepsLine([PUBLISHED, line])).toBeUndefined()
})

test('WK-342 what a body logs in the form of a line of the worker says that it is not one', () => {
  expect(quoteOurs(`hello\n${tellSteps(STEPS)}\n${PUBLISHED}`)).toBe(
    `hello\ninfo: ${tellSteps(STEPS)}\ninfo: ${PUBLISHED}`,
  )
  expect(quoteOurs('steps taken: 3')).toBe('steps taken: 3')
})
