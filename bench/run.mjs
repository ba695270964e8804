// npm run bench -- NAME [options of that bench]
// Runs bench/NAME.mjs (or bench/NAME/main.mjs) against the built package; without a name it lists the benches.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const GIB = 1024 ** 3
const home = dirname(fileURLToPath(import.meta.url))
const [name, ...options] = process.argv.slice(2)
const names = listBenches()

if (name === undefined) {
  console.log(names.length === 0 ? 'no bench yet' : names.join('\n'))
} else if (!names.includes(name)) {
  console.error(`bench: run "${name}": there is none. There are: ${names.join(', ')}`)
  process.exitCode = 2
} else {
  console.log(`# ${name}\n`)
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / GIB)} GiB`
  console.log(`Node ${process.version}, ${process.platform}, ${machine}.`)
  console.log('Figures of one machine: compare ratios within one run.\n')
  const run = spawnSync(process.execPath, ['--expose-gc', fileOf(name), ...options], { stdio: 'inherit' })
  process.exitCode = run.status ?? 1
}

function listBenches() {
  return readdirSync(home, { withFileTypes: true })
    .map((entry) => entry.name.replace(/\.mjs$/, ''))
    .filter((candidate) => candidate !== 'run' && existsSync(fileOf(candidate)))
    .sort()
}

function fileOf(candidate) {
  const folder = join(home, candidate, 'main.mjs')
  return existsSync(folder) ? folder : join(home, `${candidate}.mjs`)
}
