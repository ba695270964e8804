import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PROJECT_ROOT } from './support/source-tree.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perago-specs-'))
  mkdirSync(join(directory, 'specs'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

/** Ids of this test's own pages, put together so that no line here is taken for the title of a test. */
const id = (number: number): string => `Z-${String(number)}`

function writePages(promised: readonly number[], excused: Readonly<Record<number | string, string>>): void {
  const rows = promised.map((number) => `| ${id(number)} | promise ${String(number)} |`)
  writeFileSync(join(directory, 'specs/page.md'), ['| ID | Statement |', '|---|---|', ...rows].join('\n'))
  const notYet = Object.entries(excused).map(([number, reason]) => `| Z-${number} | ${reason} |`)
  writeFileSync(join(directory, 'specs/not-yet.md'), ['| ID | Reason |', '|---|---|', ...notYet].join('\n'))
}

type Reported = readonly [ids: readonly number[], status: string, words?: string]

function writeReport(tests: readonly Reported[], name = 'report.json'): void {
  const assertionResults = tests.map(([ids, status, words = 'it holds']) => {
    const title = [...ids.map(id), words].join(' ')
    return { title, fullName: `suite ${title}`, status }
  })
  const testResults = [{ name: 'a.test.ts', assertionResults }]
  writeFileSync(join(directory, name), JSON.stringify({ testResults }))
}

function runSpecs(...args: string[]): { exit: number | null; stdout: string; stderr: string } {
  const paths = ['--report', join(directory, 'report.json'), '--specs', join(directory, 'specs')]
  const run = spawnSync(process.execPath, ['scripts/specs.mjs', ...paths, ...args], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
  })
  return { exit: run.status, stdout: run.stdout, stderr: run.stderr }
}

test('HO-11 HO-12 the JSON document counts passing tests, gives reasons and names what is unproven', () => {
  writePages([1, 2, 3, 4], { 3: 'needs the core' })
  writeReport([
    [[1, 2], 'passed'],
    [[1], 'passed', 'it holds still'],
    [[4], 'skipped'],
  ])
  const { exit, stdout, stderr } = runSpecs('--json')
  expect(JSON.parse(stdout)).toEqual({
    proven: { [id(1)]: 2, [id(2)]: 1 },
    notYet: { [id(3)]: 'needs the core' },
    unproven: [id(4)],
  })
  expect(stderr).toContain(`${id(4)} is neither proven nor in not-yet.md: promise 4`)
  expect(exit).toBe(1)
})

test('HO-11 when every promise is proven or excused the exit code is 0', () => {
  writePages([1, 2], { 2: 'needs the core' })
  writeReport([[[1], 'passed']])
  const { exit, stdout, stderr } = runSpecs()
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  expect(stdout).toContain(`${id(1)}  promise 1\n    passed  suite ${id(1)} it holds`)
  expect(stdout).toContain('1 proven, 1 not yet, 0 unproven')
})

test('HO-11 one row of not-yet.md gives the reason of every id and range in its first cell', () => {
  writePages([1, 9, 10, 11, 12, 14], { [`1, ${id(9)}–${id(11)}, ${id(14)}`]: 'needs the core' })
  writeReport([[[12], 'passed']])
  const { exit, stdout } = runSpecs('--json')
  const { notYet, unproven } = JSON.parse(stdout) as { notYet: object; unproven: string[] }
  expect(notYet).toEqual(
    Object.fromEntries([1, 9, 10, 11, 14].map((number) => [id(number), 'needs the core'])),
  )
  expect({ exit, unproven }).toEqual({ exit: 0, unproven: [] })
})

test.each([
  ['a range that descends', { [`3–${id(1)}`]: 'later' }, 'not an ascending range'],
  ['an id that two rows excuse', { [`1–${id(2)}`]: 'later', 2: 'later' }, 'is listed twice'],
])('HO-11 it fails on %s', (_, excused, complaint) => {
  writePages([1, 2, 3], excused)
  writeReport([])
  const { exit, stderr } = runSpecs()
  expect(stderr).toContain(complaint)
  expect(exit).toBe(1)
})

test('HO-11 one failing test unproves a promise, whatever else passed', () => {
  writePages([1], {})
  writeReport([
    [[1], 'passed'],
    [[1], 'failed', 'it holds still'],
  ])
  const { exit, stdout } = runSpecs('--json')
  expect(JSON.parse(stdout)).toEqual({ proven: {}, notYet: {}, unproven: [id(1)] })
  expect(exit).toBe(1)
})

test('HO-37 one skipped test unproves a promise and is named, whatever else passed', () => {
  writePages([1], {})
  writeReport([
    [[1], 'passed'],
    [[1], 'skipped', 'it holds on a server'],
  ])
  const { exit, stderr } = runSpecs()
  expect(exit).toBe(1)
  expect(stderr).toContain(`${id(1)} is neither proven nor in not-yet.md`)
  expect(stderr).toContain(`    skipped  suite ${id(1)} it holds on a server`)
})

test.each([
  ['skipped', 'passed', true],
  ['passed', 'skipped', true],
  ['skipped', 'skipped', false],
  ['failed', 'passed', false],
  ['passed', 'failed', false],
])('HO-37 a test that %s in one run and %s in the other: proven is %s', (first, second, isProven) => {
  writePages([1], {})
  writeReport([[[1], first]])
  writeReport([[[1], second]], 'other.json')
  const { exit, stdout } = runSpecs('--json', '--report', join(directory, 'other.json'))
  expect((JSON.parse(stdout) as { proven: object }).proven).toEqual(isProven ? { [id(1)]: 1 } : {})
  expect(exit).toBe(isProven ? 0 : 1)
})

test('HO-37 of two tests with one title the worse one counts', () => {
  for (const statuses of [
    ['passed', 'skipped'],
    ['skipped', 'passed'],
  ]) {
    writePages([1], {})
    writeReport(statuses.map((status) => [[1], status] as const))
    expect(runSpecs().exit).toBe(1)
  }
})

test.each([
  ['a proven promise that is still excused', [1], { 1: 'later' }, [1], 'is proven: take it out'],
  ['an excuse without a reason', [1], { 1: '' }, [], 'without a reason'],
  ['an excuse for what nobody promised', [], { 1: 'later' }, [], 'no page promises it'],
  ['a test that names what nobody promised', [], {}, [1], 'no page promises it'],
])('HO-11 it fails on %s', (_, promised, excused, tested, complaint) => {
  writePages(promised, excused)
  writeReport(tested.length > 0 ? [[tested, 'passed']] : [])
  const { exit, stderr } = runSpecs()
  expect(stderr).toContain(complaint)
  expect(exit).toBe(1)
})

test('HO-11 without a report it says what to run', () => {
  writePages([1], {})
  const { exit, stdout, stderr } = runSpecs('--json')
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
  expect(stderr).toContain('npm test')
})
