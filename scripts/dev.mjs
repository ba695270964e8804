// While you write: rebuilds when src/ has changed, and runs the tests that import what has changed.
//   npm run dev
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const WATCHED = ['src', 'test', 'examples']
const SOURCE = /\.(?:[cm]?[jt]s|json|ya?ml|jsonl)$/
const LOOK_MS = 300

let child
let stopping = false
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopping = true
    // In a terminal it got the same signal.
    child?.kill(signal)
  })
}

let seen = scan()
console.log(`watching ${seen.size} files in ${WATCHED.join(', ')}; Ctrl-C ends it`)
while (!stopping) {
  await wait(LOOK_MS)
  const now = scan()
  const changed = differences(seen, now)
  if (changed.length === 0) continue
  // Editors write several files, and each in several steps.
  await wait(LOOK_MS)
  if (differences(now, scan()).length > 0) continue
  seen = now
  await react(
    changed.filter((path) => now.has(path)),
    changed,
  )
}

async function react(present, changed) {
  console.log(`\nchanged: ${changed.join(', ')}`)
  const needsBuild = changed.some((path) => path.startsWith('src') && !path.endsWith('.test.ts'))
  if (needsBuild && !(await run(['scripts/build.mjs']))) return
  const tests = present.filter((path) => !path.startsWith('examples'))
  if (tests.length > 0 && !stopping)
    await run(['node_modules/vitest/vitest.mjs', 'related', '--run', '--passWithNoTests', ...tests])
  if (!stopping) console.log('waiting for a change; Ctrl-C ends it')
}

/** True if it succeeded. A failure has told itself. */
async function run(args) {
  if (stopping) return false
  child = spawn(process.execPath, args, { stdio: 'inherit' })
  const [code] = await once(child, 'close')
  child = undefined
  return code === 0
}

/** Path → when it was written, and its size. */
function scan() {
  const found = new Map()
  for (const folder of WATCHED) {
    for (const path of list(folder)) {
      const facts = statSync(path, { throwIfNoEntry: false })
      if (facts !== undefined) found.set(path, `${facts.mtimeMs} ${facts.size} ${facts.ino}`)
    }
  }
  return found
}

function list(folder) {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return []
  return readdirSync(folder, { recursive: true })
    .filter((name) => SOURCE.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))
}

function differences(before, after) {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  )
}
