import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hashSources, whyStale, writeStamp } from '../scripts/source-hashes.mjs'
import { usesBuild } from './support/fresh-build.ts'
import { PROJECT_ROOT } from './support/source-tree.ts'

interface Project {
  readonly root: string
  readonly write: (path: string, text: string) => void
}

/** A small project that has just been built. */
function builtProject(): Project {
  const root = mkdtempSync(join(tmpdir(), 'perago-built-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const write = (path: string, text: string): void => writeFileSync(join(root, path), text)
  for (const directory of ['src/core', 'dist']) mkdirSync(join(root, directory), { recursive: true })
  for (const settings of ['package.json', 'tsconfig.json', 'tsconfig.build.json']) write(settings, '{}')
  write('src/core/a.ts', 'export const a = 1')
  write('src/core/a.test.ts', 'a test')
  writeStamp(root, hashSources(root))
  return { root, write }
}

test('HO-36 a build of the present sources is fresh, also when only a test has changed', () => {
  const { root, write } = builtProject()
  expect(whyStale(root)).toBeUndefined()
  write('src/core/a.test.ts', 'another test')
  write('src/core/a.ts', 'export const a = 1')
  expect(whyStale(root)).toBeUndefined()
})

test.each<[string, (project: Project) => void, string]>([
  ['changed', ({ write }) => write('src/core/a.ts', 'export const a = 2'), 'src/core/a.ts has changed'],
  ['added', ({ write }) => write('src/core/b.ts', ''), 'src/core/b.ts has changed'],
  ['removed', ({ root }) => rmSync(join(root, 'src/core/a.ts')), 'src/core/a.ts has changed'],
  ['changed in its settings', ({ write }) => write('tsconfig.json', '{ }'), 'tsconfig.json has changed'],
  ['never built', ({ root }) => rmSync(join(root, 'dist'), { recursive: true }), 'it is missing'],
  [
    'built by nobody knows whom',
    ({ root }) => rmSync(join(root, '.cache'), { recursive: true }),
    'nothing says',
  ],
])('HO-36 of sources that were %s, one sentence says what and which command to type', (_, change, words) => {
  const project = builtProject()
  change(project)
  expect(whyStale(project.root)).toContain(words)
  expect(whyStale(project.root)).toContain('Run `npm run build` first.')
})

test.each([
  ['test/integration/worker.test.ts', true],
  ['test/integration/stores-faults.test.ts', true],
  ['test/package.test.ts', true],
  ['test/examples.test.ts', true],
  ['src/cli/cli.test.ts', true],
  ['src/cli/serve-on-stores.test.ts', true],
  ['src/worker/leases/threaded-leases.test.ts', true],
  ['src/fences/attempt-fence.test.ts', false],
  ['src/core/events/events.test.ts', false],
  ['src/cli/help-page.test.ts', false],
])('HO-36 %s runs what was built: %s', (path, expected) => {
  expect(usesBuild(join(PROJECT_ROOT, path))).toBe(expected)
})
