import { expect, test } from 'vitest'
import { groupFindings, isLeftOpen, judge, readLimit, sayExtent, type Verification } from './verification.ts'

const oldest = '0123456789abcdef'

test('WB-74 a verification says how far it looked, and never that what it did not look at holds', () => {
  const say = (stopped: Verification['stopped'], commits: number, since?: string) =>
    sayExtent({ stopped, commits, oldest }, since)
  expect([
    say('beginning', 1),
    say('beginning', 1_204),
    say('beginning', 4, 'v1'),
    say('since', 2, 'v1'),
    say('since', 1, 'v1'),
    say('since', 0, 'v1'),
    say('limit', 1_000),
    say('time', 1),
  ]).toEqual([
    'Its only commit was checked.',
    'All 1,204 commits were checked.',
    'All 4 commits were checked. v1 is not among them.',
    '2 commits above v1 were checked, and none below.',
    '1 commit above v1 was checked, and none below.',
    'No commit is above v1: nothing was checked.',
    'The newest 1,000 commits were checked, down to 01234567, and none below.',
    'The newest commit was checked, down to 01234567; then the time for it was over.',
  ])
  expect(judge({ holds: true, commits: 3 })).toBe('holds')
  expect(judge({ holds: false, commits: 3 })).toBe('refuted')
  expect(judge({ holds: true, commits: 0 })).toBe(undefined)
  expect(['', undefined, '0', '1', '10000', '10001', '1.5', 'x'].map(readLimit)).toEqual([
    ...[1_000, 1_000, 1_000, 1, 10_000, 1_000, 1_000, 1_000],
  ])
})

test('WB-74 it says of no check that it holds for what could not be judged', () => {
  const all = { open_outputs: 0, unknown_workflows: [] }
  const lost = { check: 'nothing-lost' } as const
  expect(isLeftOpen(lost, all)).toBe(false)
  expect(isLeftOpen(lost, { ...all, open_outputs: 1 })).toBe(true)
  expect(isLeftOpen(lost, { ...all, unknown_workflows: ['w'] })).toBe(true)
  expect(isLeftOpen({ check: 'fence-held' }, { ...all, open_outputs: 1 })).toBe(false)
})

test('WB-73 findings stand with their check; what is not shown of many is counted', () => {
  const of = (check: Verification['checks'][number]['check'], refuted: number) => ({
    ...{ check, refuted, says: '', next: '' },
  })
  const findings = Array.from({ length: 150 }, (_, index) => ({
    ...{ check: 'fence-held' as const, commit: String(index), why: '' },
  }))
  const grouped = groupFindings({ checks: [of('fence-held', 1_200), of('nothing-lost', 0)], findings })
  expect(grouped.map(({ findings: shown, left }) => [shown.length, left])).toEqual([
    [100, 1_100],
    [0, 0],
  ])
})
