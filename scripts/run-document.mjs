// Runs the commands that a document shows, word for word: node scripts/run-document.mjs PAGE [DIRECTORY]
// A fenced `sh` block is run when the line before it says so:
//   <!-- run -->                it must succeed before the next one starts
//   <!-- run: exit code 3 -->   it must end with this code
//   <!-- run: serves -->        it prints `ready …` and runs until the end of the page, in a terminal of its own
// The other blocks share one: a variable that one of them sets is there in those after it. Each begins in DIRECTORY.
// and what it prints is compared with the fenced `text` block after it, whose lines must come in this order:
//   <!-- prints -->             `…` stands for anything, an id for any id, and a time for any time
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runToItsEnd, startServing, stopAllOnSignal } from './serving.mjs'

const BLOCK_MS = 600_000
const BASH = ['-euo', 'pipefail', '-c']
// `$0` is the file with the variables. The shell's own are left out, those that cannot be set are refused without harm.
const REMEMBERING = `. "$0" 2>/dev/null || true
trap 'for remembered in $(compgen -v); do case $remembered in BASH*|*PWD|_|PPID|SHLVL) ;; *) declare -p $remembered ;; esac; done > "$0"' EXIT
`
const BLOCK =
  /^<!-- run(?:: (serves|exit code \d+))? -->\n+```sh\n([\s\S]*?)\n```$|^<!-- prints -->\n+```text\n([\s\S]*?)\n```$/gm

const [page, directory = '.'] = process.argv.slice(2)
if (page === undefined) {
  console.error('usage: node scripts/run-document.mjs PAGE [DIRECTORY]')
  process.exit(2)
}

const blocks = [...readFileSync(page, 'utf8').matchAll(BLOCK)].map(([, how, commands, prints]) => ({
  how,
  commands,
  prints,
}))
if (blocks.length === 0) {
  console.error(`${page}: no block is marked to be run`)
  process.exit(1)
}

stopAllOnSignal()
const terminal = mkdtempSync(join(tmpdir(), 'perago-terminal-'))
process.once('exit', () => rmSync(terminal, { recursive: true }))
const serving = []
let printed = ''
try {
  for (const { how, commands, prints } of blocks) {
    if (prints !== undefined) {
      expectLines(prints)
      continue
    }
    console.log(`$ ${commands.split('\n').join('\n$ ')}`)
    if (how === 'serves') serving.push(await startServing('bash', [...BASH, commands], { cwd: directory }))
    else printed = await runBlock(commands, Number(how?.replace('exit code ', '') ?? 0))
  }
} finally {
  for (const { stop } of serving) await stop()
}
console.log(`${page}: ${blocks.filter(({ commands }) => commands !== undefined).length} blocks run`)

async function runBlock(commands, code) {
  const args = [...BASH, REMEMBERING + commands, join(terminal, 'variables')]
  const { ended, printed: now } = await runToItsEnd('bash', args, { cwd: directory, maxMs: BLOCK_MS })
  if (ended !== code) throw new Error(`${page}: ended with ${ended}:\n${commands}`)
  return now
}

/** What was printed since may have other lines between those that the page shows. */
function expectLines(prints) {
  const lines = printed.split('\n').map((line) => line.trim())
  let next = 0
  for (const shown of prints.split('\n').map((line) => line.trim())) {
    if (shown === '' || shown === '…') continue
    const at = lines.findIndex((line, index) => index >= next && patternOf(shown).test(line))
    if (at === -1)
      throw new Error(`${page}: the page shows a line that was not printed:\n${shown}\nprinted:\n${printed}`)
    next = at + 1
  }
}

function patternOf(shown) {
  const escaped = shown.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ +/g, ' +')
  const source = escaped
    .replace(/\d{4}-\d\d-\d\dT[\d:]+\\\.\d+Z/g, '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z')
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/g, '[0-9a-f]+')
    .replaceAll('…', '.*')
  return new RegExp(`^${source}$`)
}
