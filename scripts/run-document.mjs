// Runs the commands that a document shows, word for word: node scripts/run-document.mjs PAGE [DIRECTORY]
// A fenced `sh` block is run when the line before it says so:
//   <!-- run -->          it must succeed before the next one starts
//   <!-- run: serves -->  it prints `ready …` and runs until the end of the page
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { startServing } from './serving.mjs'

const BLOCK_MS = 600_000
const BASH = ['-euo', 'pipefail', '-c']

const [page, directory = '.'] = process.argv.slice(2)
if (page === undefined) {
  console.error('usage: node scripts/run-document.mjs PAGE [DIRECTORY]')
  process.exit(2)
}

const blocks = readBlocks(readFileSync(page, 'utf8'))
if (blocks.length === 0) {
  console.error(`${page}: no block is marked to be run`)
  process.exit(1)
}

const serving = []
try {
  for (const { commands, serves } of blocks) {
    console.log(`$ ${commands.split('\n').join('\n$ ')}`)
    if (serves) serving.push(await startServing('bash', [...BASH, commands], { cwd: directory }))
    else runToItsEnd(commands)
  }
} finally {
  for (const { stop } of serving) await stop()
}
console.log(`${page}: ${blocks.length} blocks run`)

function readBlocks(text) {
  const marked = text.matchAll(/^<!-- run(: serves)? -->\n+```sh\n([\s\S]*?)\n```$/gm)
  return [...marked].map(([, serves, commands]) => ({ commands, serves: serves !== undefined }))
}

function runToItsEnd(commands) {
  const run = spawnSync('bash', [...BASH, commands], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: BLOCK_MS,
  })
  if (run.status !== 0) throw new Error(`${page}: ended with ${run.status ?? run.signal}:\n${commands}`)
}
