// npm run test:quick: tests beside the code that need no server, no build and little disk; in under a minute on two idle cores.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { usesBuild } from './test/support/fresh-build.ts'
import { ClosingLineReporter } from './test/support/servers/closing-line.ts'

/** Rooms whose tests listen on ports, or write a lot to disk. */
const NOT_QUICK_ROOMS = /^(?:embedded|server|stores|testing|workspace)\//
/** What starts a process or a server, takes its time, or needs memory of its own. */
const NOT_QUICK =
  /node:child_process|support\/(?:servers|cli|lakefs)|useRealServer|startEmbeddedLakefs|openTestLakefs|vi\.mock\(|process\.memoryUsage\(/
/** Seen to take more than twenty seconds each: they wait for real times. */
const SLOW = /^worker\/(?:worker|outages\/outages)\.test\.ts$/
const quick = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.property.test.ts'))
  .filter((name) => !NOT_QUICK_ROOMS.test(name) && !SLOW.test(name))
  .map((name) => join('src', name))
  .filter((path) => !NOT_QUICK.test(readFileSync(path, 'utf8')) && !usesBuild(join(process.cwd(), path)))

export default defineConfig({
  test: {
    include: quick,
    setupFiles: ['test/support/property-settings.ts'],
    isolate: false,
    restoreMocks: true,
    maxWorkers: 2,
    testTimeout: 30_000,
    reporters: [
      'dot',
      // The whole run has a report of its own, which `npm run specs` reads.
      ['json', { outputFile: 'test-report/quick.json' }],
      new ClosingLineReporter(),
    ],
  },
})
