// Compiles src/ into a new dist/, so that a file deleted in src/ is not left in the package, and the page into dist/web. Programs
// that run from dist/ meanwhile see the old one until the new one is complete.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { buildPage } from './build-page.mjs'
import { hashSources, writeStamp } from './source-hashes.mjs'

const next = `.dist-${process.pid}`
const old = `${next}-old`
const TSC = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', next]

// Before the compiler reads them: what changes meanwhile shows as a difference.
const hashes = hashSources('.')
try {
  const tsc = spawnSync(process.execPath, TSC, { stdio: 'inherit' })
  if (tsc.status === 0) {
    await buildPage(`${next}/web`)
    chmodSync(`${next}/cli/main.js`, 0o755)
    swap()
    writeStamp('.', hashes)
  }
  process.exitCode = tsc.status ?? 1
} finally {
  for (const directory of [next, old]) rmSync(directory, { recursive: true, force: true })
}

function swap() {
  for (let triesLeft = 3; ; triesLeft -= 1) {
    if (existsSync('dist')) renameSync('dist', old)
    try {
      renameSync(next, 'dist')
      return
    } catch (error) {
      // Another build finished first.
      if (error.code !== 'ENOTEMPTY' || triesLeft === 0) throw error
      rmSync(old, { recursive: true, force: true })
    }
  }
}
