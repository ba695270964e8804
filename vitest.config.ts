import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { ClosingLineReporter } from './test/support/servers/closing-line.ts'

// A mocked module is another one for every file that is loaded after it, and memory is everybody's.
const NEEDS_ITS_OWN_PROCESS = /vi\.mock\(|process\.memoryUsage\(/
const alone = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('src', name))
  .filter((path) => NEEDS_ITS_OWN_PROCESS.test(readFileSync(path, 'utf8')))

export default defineConfig({
  test: {
    globalSetup: ['test/support/fresh-build.ts', 'test/support/store-servers.ts'],
    setupFiles: ['test/support/property-settings.ts', 'test/support/fail-on-stale-build.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Two cores are what a small machine has; more workers only make real servers slower.
    maxWorkers: 2,
    reporters: [
      'default',
      ['json', { outputFile: process.env.PERAGO_TEST_REPORT ?? 'test-report/vitest.json' }],
      new ClosingLineReporter(),
    ],
    coverage: { provider: 'v8', include: ['src/**'], exclude: ['**/generated/**'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'src',
          include: ['src/**/*.test.ts'],
          exclude: alone,
          // Loading the same modules again for each file took two thirds of the processor time.
          isolate: false,
          restoreMocks: true,
        },
      },
      { extends: true, test: { name: 'test', include: ['test/**/*.test.ts', ...alone] } },
    ],
  },
})
