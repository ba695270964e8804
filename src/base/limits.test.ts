import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as limits from './limits.ts'

interface Row {
  readonly name: string
  readonly value: number
  readonly about: string
}

interface Section {
  readonly title: string
  readonly rows: readonly Row[]
}

const source = readFileSync(new URL('limits.ts', import.meta.url), 'utf8')

/** The file is read as text, for its comments are what the page says. */
function readSections(): readonly Section[] {
  return source
    .split(/^\/\/ ── /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf('\n')).trim(),
      rows: [...part.matchAll(/\/\*\*\s*([\s\S]*?)\s*\*\/\nexport const ([A-Z0-9_]+)/g)].map(
        ([, about = '', name = '']) => ({
          name,
          value: (limits as Readonly<Record<string, number>>)[name] ?? NaN,
          about: about.replace(/\s*\n\s*\*\s*/g, ' '),
        }),
      ),
    }))
}

function shownValue({ name, value }: Row): string {
  const digits = value.toLocaleString('en').replaceAll(',', ' ')
  const unit = /_(MS|BYTES|CHARS)$/.exec(name)?.[1]
  if (unit === 'MS') return `${digits} ms`
  if (unit === 'BYTES') return `${digits} bytes`
  return unit === 'CHARS' ? `${digits} characters` : digits
}

function renderPage(sections: readonly Section[]): string {
  const parts = sections.map(
    ({ title, rows }) =>
      `## ${title.charAt(0).toUpperCase()}${title.slice(1)}\n\n| limit | value | what it bounds |\n|---|---|---|\n` +
      rows.map((row) => `| \`${row.name}\` | ${shownValue(row)} | ${row.about} |\n`).join(''),
  )
  return `# Limits

Every bound perago keeps, by its name in \`src/base/limits.ts\`. This page is written from that file, and a test holds the
two together: after a change run \`npx vitest run src/base/limits.test.ts -u\`.

${parts.join('\n')}`
}

test('BA-60 the reference page shows every limit as it is', async () => {
  await expect(renderPage(readSections())).toMatchFileSnapshot('../../docs/reference/limits.md')
})

test('BA-60 every limit stands in a section, has a comment, and is a positive number', () => {
  const rows = readSections().flatMap((section) => section.rows)
  expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(limits).sort())
  for (const { value, about } of rows) {
    expect(value).toBeGreaterThan(0)
    expect(about).not.toBe('')
  }
})
