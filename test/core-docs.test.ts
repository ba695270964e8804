// The pages about executions: their examples run, and their tables match the code.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { EVENT_VERBS } from '../src/core/events/event-types.ts'
import { FILTER_NAMES } from '../src/core/variables/template-filters.ts'
import { compileSnippets } from './support/type-check.ts'
import { PROJECT_ROOT, readText } from './support/source-tree.ts'

const PAGES = ['docs/concepts/executions.md', 'docs/reference/events.md', 'docs/reference/variables.md']

/** All examples of a page, one behind the other, as one module. */
function moduleOf(page: string): string {
  const blocks = [...readText(page).matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
  const lines = blocks.join('\n').split('\n')
  const isImport = (line: string): boolean => line.startsWith('import ')
  return [...lines.filter(isImport), ...lines.filter((line) => !isImport(line))].join('\n')
}

test.each(PAGES)('N-09 E-33 the examples of %s run', async (page) => {
  mkdirSync(join(PROJECT_ROOT, 'test-report'), { recursive: true })
  const directory = mkdtempSync(join(PROJECT_ROOT, 'test-report', 'docs-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'example.ts')
  const entry = join(PROJECT_ROOT, 'src/perago-core.ts')
  writeFileSync(
    file,
    `${moduleOf(page).replaceAll("'perago/core'", JSON.stringify(entry))}\nexport const done = true\n`,
  )
  expect(await import(/* @vite-ignore */ file)).toMatchObject({ done: true })
})

test('N-09 E-33 the examples compile', () => {
  const modules = PAGES.map((page) => moduleOf(page).replaceAll("'perago/core'", "'./src/perago-core.ts'"))
  expect(compileSnippets(modules)).toEqual(PAGES.map(() => []))
}, 60_000)

test('E-10 the page of events names every type that can be published, and no other', () => {
  const expected = [
    ...EVENT_VERBS.pipeline.map((verb) => `pipeline.${verb}`),
    ...EVENT_VERBS.node.map((verb) => `NODE.${verb}`),
    ...EVENT_VERBS.task.map((verb) => `NODE.task.${verb}`),
    'external.SOURCE.EVENT',
  ]
  const named = [
    ...readText('docs/reference/events.md').matchAll(/^\| `((?:pipeline|NODE|external)\.[^`]+)` \|/gm),
  ]
  expect(named.map(([, type]) => type)).toEqual(expected)
})

test('N-32 the page of variables names every filter of templates', () => {
  const [, list = ''] = /^Filters: ([\s\S]*?)\. Nothing/m.exec(readText('docs/reference/variables.md')) ?? []
  expect([...list.matchAll(/`([a-z]+)/g)].map(([, name]) => name)).toEqual(FILTER_NAMES)
})
