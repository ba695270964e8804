// npm test: builds, and runs the tests. Of all tests it says before how long they will take.
//   node scripts/test.mjs [ARGUMENTS OF VITEST]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

const LAST = '.cache/test-seconds.json'
/** On two cores, with the servers of the integration tests at hand. */
const FIRST_MINUTES = 25

const args = process.argv.slice(2)
const isWhole = args.length === 0
if (isWhole) console.log(sayHowLong())
const startedMs = Date.now()
const steps = [['scripts/build.mjs'], ['node_modules/vitest/vitest.mjs', 'run', ...args]]
for (const step of steps) {
  const { status } = spawnSync(process.execPath, step, { stdio: 'inherit' })
  process.exitCode = status ?? 1
  if (process.exitCode !== 0) break
}
// A run that failed early says nothing about the next one.
if (isWhole && process.exitCode === 0) {
  mkdirSync('.cache', { recursive: true })
  writeFileSync(LAST, JSON.stringify({ seconds: Math.round((Date.now() - startedMs) / 1_000) }))
}

function sayHowLong() {
  const { seconds } = existsSync(LAST) ? JSON.parse(readFileSync(LAST, 'utf8')) : {}
  const about =
    typeof seconds === 'number'
      ? `about ${inMinutes(seconds)}, as the last time here`
      : `about ${FIRST_MINUTES} minutes on two cores (here are ${cpus().length})`
  return `all tests: ${about}. In under a minute, without servers: npm run test:quick. While you write: npm run dev.`
}

function inMinutes(seconds) {
  if (seconds < 90) return `${seconds} seconds`
  return `${Math.round(seconds / 60)} minutes`
}
