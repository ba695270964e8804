// The guide to plans: its program runs, and what it says of patterns and of tests is so.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SHARING_PATTERNS } from '../src/perago-engine.ts'
import { PROJECT_ROOT, readText } from './support/source-tree.ts'

const GUIDE = 'docs/guides/plans.md'
const rows = readText(GUIDE)
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '))

test('P-37 the guide names what orders give, each with a test that exists', () => {
  const gains = rows.filter(([, id]) => /^P-\d+$/.test(id ?? ''))
  expect(gains.map(([gain]) => /^[a-z ]+/.exec(gain ?? '')?.[0])).toEqual([
    ...['bounded parallelism', 'data is there before it is used', 'natural dependencies', 'quick stop'],
  ])
  const tests = ['run', 'control', 'plan']
    .map((name) => readText(`src/engine/plans/${name}.test.ts`))
    .join('\n')
  for (const [, id] of gains) expect(tests).toContain(`${id ?? ''} `)
})

test('P-145 P-146 the guide shows the table of patterns as it is in the code', () => {
  const shown = rows.filter(([name]) => SHARING_PATTERNS.some((pattern) => pattern.name === name))
  expect(shown).toEqual(
    SHARING_PATTERNS.map(({ name, goodFor, orders, complexity, reliability }) => [
      name,
      goodFor.join(', '),
      orders,
      complexity,
      reliability,
    ]),
  )
})

test('P-143 P-37 the program of the guide runs and prints its report', async () => {
  const [, program = ''] = /^```ts\n([\s\S]*?)^```/m.exec(readText(GUIDE)) ?? []
  mkdirSync(join(PROJECT_ROOT, 'test-report'), { recursive: true })
  const directory = mkdtempSync(join(PROJECT_ROOT, 'test-report', 'plans-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'example.ts')
  const entry = JSON.stringify(join(PROJECT_ROOT, 'src/perago-engine.ts'))
  const recorded = program.replaceAll("'perago/engine'", entry).replace('console.log(', 'printed.push(')
  writeFileSync(file, `export const printed: unknown[] = []\n${recorded}`)
  expect(await import(/* @vite-ignore */ file)).toMatchObject({
    printed: [{ sales: [3, 4], customers: 2 }],
  })
})
