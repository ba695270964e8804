import { defineConfig } from 'vitest/config'
import { ClosingLineReporter } from './test/support/servers/closing-line.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: ['test/support/property-settings.ts'],
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
  },
})
