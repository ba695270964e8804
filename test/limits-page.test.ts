import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ROOMS } from './support/rooms.ts'
import { PROJECT_ROOT, listFiles, readText } from './support/source-tree.ts'

interface Row {
  readonly name: string
  readonly value: number
  readonly about: string
}

interface Section {
  readonly title: string
  readonly rows: readonly Row[]
}

/** In this order they stand on the page: as the rooms build on one another. */
const FILES = listFiles('src', (path) => path.endsWith('/limits.ts')).sort(byRoom)

/** The files are read as text, for their comments are what the page says. */
async function readRoom(path: string): Promise<readonly Section[]> {
  const values = (await import(pathToFileURL(join(PROJECT_ROOT, path)).href)) as Readonly<
    Record<string, number>
  >
  const sections = readText(path)
    .split(/^\/\/ ── /m)
    .slice(1)
    .map((part) => ({
      title: `${roomOf(path)}: ${part.slice(0, part.indexOf('\n')).trim()}`,
      rows: [...part.matchAll(/\/\*\*\s*([\s\S]*?)\s*\*\/\nexport const ([A-Z0-9_]+)/g)].map(
        ([, about = '', name = '']) => ({
          name,
          value: values[name] ?? NaN,
          about: about.replace(/\s*\n\s*\*\s*/g, ' '),
        }),
      ),
    }))
  const shown = sections.flatMap(({ rows }) => rows.map(({ name }) => name))
  expect(shown.sort(), `${path}: every limit has a section and a comment`).toEqual(Object.keys(values).sort())
  return sections
}

async function readSections(): Promise<readonly Section[]> {
  return (await Promise.all(FILES.map(readRoom))).flat()
}

function roomOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function byRoom(one: string, other: string): number {
  const rooms = Object.keys(ROOMS)
  return rooms.indexOf(roomOf(one)) - rooms.indexOf(roomOf(other))
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

Every bound perago keeps, by the name it has in its room's \`limits.ts\`. A test writes this page from those files: after a
change run \`npx vitest run test/limits-page.test.ts -u\`.

${parts.join('\n')}`
}

test('BA-60 the reference page shows every limit as it is', async () => {
  await expect(renderPage(await readSections())).toMatchFileSnapshot('../docs/reference/limits.md')
})

test('BA-60 every limit has a comment and is a positive number', async () => {
  const rows = (await readSections()).flatMap((section) => section.rows)
  expect(rows.length).toBeGreaterThan(200)
  for (const { value, about } of rows) {
    expect(value).toBeGreaterThan(0)
    expect(about).not.toBe('')
  }
})
