import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { PROJECT_ROOT } from './support/source-tree.ts'

const directories: string[] = []

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

/** Runs one small test file of its own under our reporter and gives what was printed. */
function runTests(body: string): string {
  // Inside the project, so that the file finds vitest; a folder that no other run looks into.
  const directory = mkdtempSync(join(PROJECT_ROOT, 'node_modules', '.perago-closing-'))
  directories.push(directory)
  const reporter = join(PROJECT_ROOT, 'test/support/servers/closing-line.ts')
  writeFileSync(join(directory, 'some.test.js'), `import { test, expect } from 'vitest'\n${body}`)
  writeFileSync(
    join(directory, 'vitest.config.ts'),
    `import { ClosingLineReporter } from ${JSON.stringify(reporter)}
     export default {
       root: ${JSON.stringify(directory)},
       test: {
         include: ['*.test.js'],
         exclude: [],
         reporters: ['default', ['json', { outputFile: 'report.json' }], new ClosingLineReporter()],
       },
     }`,
  )
  const vitest = join(PROJECT_ROOT, 'node_modules/vitest/vitest.mjs')
  const run = spawnSync(process.execPath, [vitest, 'run', '--config', join(directory, 'vitest.config.ts')], {
    cwd: directory,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return run.stdout.trimEnd().split('\n').at(-1) ?? ''
}

test('HO-26 the last line gives the sums and the reason of every skip', () => {
  const line = runTests(`
    test('a', () => {})
    test('b', () => { expect(1).toBe(2) })
    test('c', ({ skip }) => skip('redis: no engine'))
    test('d', ({ skip }) => skip('redis: no engine'))
    test.skip('e', () => {})
  `)
  expect(line).toBe('1 passed, 1 failed, 3 skipped (2 × redis: no engine | 1 × no reason given, as by "e")')
})

test('HO-26 a test file that cannot be loaded counts as failed', () => {
  expect(runTests(`throw new Error('broken')`)).toBe('0 passed, 1 failed, 0 skipped')
})
