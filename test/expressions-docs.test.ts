// Checks the page of expressions against the code: its tables are parsed and evaluated.
import { expect, test } from 'vitest'
import { EXPRESSION_MAX_CHARS, EXPRESSION_MAX_DEPTH } from '../src/core/limits.ts'
import { evaluateExpression } from '../src/core/expressions/evaluate-expression.ts'
import { drawCaret } from '../src/core/expressions/expression-errors.ts'
import { parseExpression } from '../src/core/expressions/parse-expression.ts'
import { readText } from './support/source-tree.ts'

const page = readText('docs/reference/expressions.md')

function rowsUnder(heading: string): readonly (readonly [string, string])[] {
  const table = page.slice(page.indexOf(heading)).split('\n\n')[1] ?? ''
  return table.split('\n').flatMap((line) => {
    const [, written, means] = /^\| `(.*?)` +\| (.*?) +\|$/.exec(line) ?? []
    return written === undefined || means === undefined
      ? []
      : [[written.replaceAll('\\|', '|'), means] as const]
  })
}

const said = rowsUnder('## Forms')
const verdicts = page
  .slice(page.indexOf('Some results'))
  .split('\n')
  .flatMap((line) => {
    const [, written = '', verdict = ''] = /^\| `(.*?)` +\| (true|false|open|error) +\|$/.exec(line) ?? []
    return written === '' ? [] : [[written.replaceAll('\\|', '|'), verdict] as const]
  })

test('XP-02 every form that the page shows can be read', () => {
  expect(said.length).toBeGreaterThan(6)
  for (const [written] of said) expect(parseExpression(written).text).toBe(written)
})

test('XP-03 every verdict that the page shows is the verdict', () => {
  const variables: Readonly<Record<string, unknown>> = { 'a.rows': 7, 'a.ok': true }
  const judge = (text: string): string => {
    try {
      const verdict = evaluateExpression(parseExpression(text), {
        has: (type) => type === 'a.completed',
        read: (name) => variables[name],
      })
      return verdict === undefined ? 'open' : String(verdict)
    } catch {
      return 'error'
    }
  }
  expect(verdicts.length).toBeGreaterThan(8)
  expect(verdicts.map(([written]) => [written, judge(written)])).toEqual(verdicts)
})

test('XP-05 the page names the bounds that hold, and shows a mistake as it is shown', () => {
  expect(page).toContain(`at most ${EXPRESSION_MAX_CHARS} characters`)
  expect(page).toContain(`at most ${EXPRESSION_MAX_DEPTH} deep`)
  const text = 'event:extract.completed and extract.row_count > 0'
  expect(page).toContain(drawCaret(text, text.indexOf('and')))
})
