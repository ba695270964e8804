// Installs one Node from the package registry and prints the folder of its program:
//   node scripts/install-node.mjs 20|lts DIRECTORY
// The package `node` fetches its platform's package in an install script, which this project does not allow; the
// platform's package is installed directly instead.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const INSTALL_MS = 300_000
const [wanted, directory] = process.argv.slice(2)
if (directory === undefined) {
  console.error('usage: node scripts/install-node.mjs MAJOR|lts DIRECTORY')
  process.exit(2)
}

const major = wanted === 'lts' ? currentLts(new Date(), process.env.PERAGO_TEST_LTS_NODE) : Number(wanted)
const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
mkdirSync(directory, { recursive: true })
const install = ['install', '--prefix', directory, '--no-save', '--no-audit', '--no-fund', `${name}@${major}`]
execFileSync('npm', install, { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS })

const bin = join(directory, 'node_modules', name, 'bin')
const version = execFileSync(
  join(
    bin,
    readdirSync(bin).find((file) => file.startsWith('node')),
  ),
  ['--version'],
)
if (!version.toString().startsWith(`v${major}.`)) throw new Error(`${name}@${major} says it is ${version}`)
console.log(bin)

/** From 26 on a major version has the number of its year and becomes LTS at the end of October. */
function currentLts(now, named) {
  if (named) return Number(named)
  const year = now.getUTCFullYear() - 2000
  return now.getUTCMonth() >= 10 ? year : year - 1
}
