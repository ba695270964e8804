import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ROOMS } from './support/rooms.ts'
import { PROJECT_ROOT, listFiles, readText } from './support/source-tree.ts'

interface Row {
  readonly name: string
  readonly value: number
  readonly about: string
  /** Marked with `@internal`: shown with its value only. */
  readonly isInternal: boolean
}

interface Section {
  readonly title: string
  readonly rows: readonly Row[]
}

const INTERNAL = /^@internal /

/** In the order of the page: that of the rooms. */
const FILES = listFiles('src', (path) => path.endsWith('/limits.ts')).sort(byRoom)

/** Reads the files as text, because the page shows their comments. */
async function readRoom(path: string): Promise<readonly Section[]> {
  const values = (await import(pathToFileURL(join(PROJECT_ROOT, path)).href)) as Readonly<
    Record<string, number>
  >
  const sections = readText(path)
    .split(/^\/\/ ── /m)
    .slice(1)
    .map((part) => ({
      title: titleOf(roomOf(path), part.slice(0, part.indexOf('\n')).trim()),
      rows: [...part.matchAll(/\/\*\*[\s*]*([\s\S]*?)\s*\*\/\nexport const ([A-Z0-9_]+)/g)].map(
        ([, about = '', name = '']) => ({
          name,
          value: values[name] ?? NaN,
          about: about.replace(/\s*\n\s*\*\s*/g, ' ').replace(INTERNAL, ''),
          isInternal: INTERNAL.test(about),
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

function titleOf(room: string, section: string): string {
  return room === section ? room : `${room}: ${section}`
}

function roomOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function byRoom(one: string, other: string): number {
  const rooms = Object.keys(ROOMS)
  return rooms.indexOf(roomOf(one)) - rooms.indexOf(roomOf(other))
}

const UNITS: Readonly<Record<string, readonly (readonly [string, number])[]>> = {
  MS: [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
    ['ms', 1],
  ],
  BYTES: [
    ['TiB', 1024 ** 4],
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
    ['bytes', 1],
  ],
  CHARS: [['characters', 1]],
}

/** In the largest unit that shows the value exactly. */
function shownValue({ name, value }: Row): string {
  const units = UNITS[/_(MS|BYTES|CHARS)(_MAX)?$/.exec(name)?.[1] ?? '']
  const [unit, size] = units?.find(([, size]) => value % size === 0) ?? ['', 1]
  return `${(value / size).toLocaleString('en')} ${unit}`.trim()
}

function renderPage(sections: readonly Section[]): string {
  const parts = sections
    .map(({ title, rows }) => ({ title, rows: rows.filter(({ isInternal }) => !isInternal) }))
    .filter(({ rows }) => rows.length > 0)
    .map(
      ({ title, rows }) =>
        `## ${title.charAt(0).toUpperCase()}${title.slice(1)}\n\n` +
        rows.map((row) => `- \`${row.name}\` (${shownValue(row)}): ${row.about}\n`).join(''),
    )
  const internal = sections.flatMap(({ rows }) => rows).filter(({ isInternal }) => isInternal)
  return `# Limits

Every limit, by its name in the \`limits.ts\` of its part of the source. A test writes this page; after a change run
\`npx vitest run test/limits-page.test.ts -u\`.

${SOAK}
${parts.join('\n')}
## Internal

These need no attention from users; the source says what they mean.

${internal.map((row) => `\`${row.name}\` (${shownValue(row)})`).join(', ')}.
`
}

/** Measured: a changed limit of the server asks for a new run. */
const SOAK = `## What they are for

\`npm run soak -- --minutes 20 --kills 10\`: \`perago serve\` on SQLite, on two cores that simulations used where it left them idle. 25 callers of one tenant post and read; beside them, in
another tenant, 25 more and a crowd: 200 followers of which half do not read, 10 scans of a long log, wrong tokens, 10 webhooks that never
answer and 12 whose name server does not. The server is killed ten times.

| | alone | beside the crowd |
|---|---:|---:|
| p50 of the first tenant | 4.4 ms | 10 ms |
| p99 of the first tenant | 21 ms | 50 ms (2.4 times; at most 3 is asked) |
| peak memory of the server | | 294 MiB (at most 300 is asked) |
| events acknowledged and lost | | 0 of 65,303 |
| good requests refused | | 0 |

The gate runs three minutes of it.
`

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
