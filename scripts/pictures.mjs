// `npm run pictures`: what the page looks like, for the documents. Tests drive it in a real Chromium, and keep what they see.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const TESTS = ['test/integration/page.test.ts', 'test/integration/page-shared.test.ts']
const directory = resolve('docs/images')
mkdirSync(directory, { recursive: true })
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', ...TESTS, '-t', 'WB-01|WB-84'],
  { stdio: 'inherit', env: { ...process.env, PERAGO_PICTURES: directory } },
)
process.exitCode = status ?? 1

// What no document shows is not kept.
const pages = ['README.md', ...readdirSync('docs', { recursive: true }).map((path) => join('docs', path))]
const shown = pages.filter((path) => path.endsWith('.md')).map((path) => readFileSync(path, 'utf8'))
for (const name of readdirSync(directory))
  if (!shown.some((text) => text.includes(`images/${name}`))) rmSync(join(directory, name))
