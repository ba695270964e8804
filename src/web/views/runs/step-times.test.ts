import { expect, test } from 'vitest'
import { nameStep } from '../../parts/step-names.ts'
import { readStepTimes } from './step-times.ts'

const BEGIN = Date.parse('2026-01-31T10:00:00.000Z')
const step = (name: string, fromMs: number, ms: number) => ({
  ...{ step: name, at: new Date(BEGIN + fromMs).toISOString(), ms },
})

test('WB-66 each step of an attempt has its place and its share of the whole time, and parts stand below theirs', () => {
  const rows = readStepTimes(
    [
      step('lay-out', 0, 100),
      step('body', 100, 700),
      step('publish', 800, 200),
      step('publish/merge', 950, 50),
    ],
    [],
  )
  expect(rows.map(({ step: { step: name }, left, width, isPart }) => [name, left, width, isPart])).toEqual([
    ['lay-out', 0, 0.1, false],
    ['body', 0.1, 0.7, false],
    ['publish', 0.8, 0.2, false],
    ['publish/merge', 0.95, 0.05, true],
  ])
  expect(rows[2]?.afterMs).toBe(800)
})

test('WB-66 steps without a length, and a clock that goes back, leave every bar inside its box', () => {
  expect(readStepTimes([step('read-input', 0, 0)], [])).toMatchObject([{ left: 0, width: 0 }])
  for (const { left, width } of readStepTimes([step('lay-out', 0, 10), step('body', -50, 20)], [])) {
    expect(left).toBeGreaterThanOrEqual(0)
    expect(left + width).toBeLessThanOrEqual(1)
  }
  expect(readStepTimes([], [])).toEqual([])
})

test('WB-66 steps that the page does not know keep their name', () => {
  expect([nameStep('lay-out'), nameStep('publish/read-facts'), nameStep('wait-for-tea')]).toEqual([
    ...['check the input out', 'read the branch', 'wait for tea'],
  ])
})

test('WB-67 each fence says at its step what it saw; one that was asked before and let pass, that it did', () => {
  const steps = ['publish/attempt-fence', 'publish/merge', 'publish/attempt-fence', 'publish/publish-fence']
  const asked = [
    { fence: 'attempt', passed: true },
    { fence: 'publish', passed: true },
    { fence: 'hard', passed: false, why: 'off' },
  ] as const
  const rows = (fences: Parameters<typeof readStepTimes>[1]) =>
    readStepTimes(
      steps.map((name, index) => step(name, index, 1)),
      fences,
    ).map(({ fence }) => fence)
  expect(rows(asked)).toEqual([asked[0], asked[2], asked[0], asked[1]])
  const stale = { fence: 'attempt', passed: false, why: 'another attempt has it' } as const
  expect(rows([stale])).toEqual([{ fence: 'attempt', passed: true }, undefined, stale, undefined])
})

test('WB-67 a branch that had moved on before the body began says so where it was looked at', () => {
  const refused = { fence: 'publish', passed: false, why: 'its head is elsewhere' } as const
  const rows = readStepTimes([step('look-at-branch', 0, 3), step('lay-out', 0, 9)], [refused])
  expect(rows.map(({ fence }) => fence)).toEqual([refused, undefined])
})
