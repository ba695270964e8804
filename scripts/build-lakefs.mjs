// Builds the real lakeFS server from its Go module, once, and prints the folder of its programs `lakefs` and `lakectl`:
//   node scripts/build-lakefs.mjs
// It is in no package registry as a program. None of its code is ours. About five minutes on two idle cores; the result is
// kept in the user's cache, by version.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const VERSION = '1.84.0'
const MODULE = `github.com/treeverse/lakefs@v${VERSION}`
const FETCH_MS = 600_000
const BUILD_MS = 1_500_000

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'perago-tests')
const place = join(cache, `lakefs-${VERSION}`)
if (!existsSync(join(place, 'lakefs'))) build()
console.log(place)

/** The programs get their final name when all is done: a build that was cut off, or one beside this one, does no harm. */
function build() {
  mkdirSync(cache, { recursive: true })
  const partial = mkdtempSync(join(cache, 'partial-'))
  process.on('exit', () => rmSync(partial, { recursive: true, force: true }))
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(1))
  const source = join(partial, 'source')
  cpSync(download('go', MODULE), source, { recursive: true })
  execFileSync('chmod', ['-R', 'u+w', source])
  // The server embeds its web page; tests need none.
  mkdirSync(join(source, 'webui/dist'), { recursive: true })
  writeFileSync(join(source, 'webui/dist/index.html'), '<!doctype html>\n')
  const programs = join(partial, 'programs')
  const wanted = /^go (\S+)$/m.exec(readFileSync(join(source, 'go.mod'), 'utf8'))?.[1] ?? ''
  run(goFor(wanted), ['build', '-mod=mod', '-o', `${programs}/`, './cmd/lakefs', './cmd/lakectl'], {
    cwd: source,
    timeout: BUILD_MS,
  })
  try {
    renameSync(programs, place)
  } catch (error) {
    // Another run was quicker.
    if (!existsSync(join(place, 'lakefs'))) throw error
  }
}

/** A Go of at least the wanted version. An older one, such as a distribution's, fetches it through the module proxy. */
function goFor(wanted) {
  const version = /go(\d+(?:\.\d+)*)/.exec(run('go', ['version'])) ?? []
  if (compareVersions(numbersOf(version[1]), numbersOf(wanted)) >= 0) return 'go'
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch] ?? process.arch
  const toolchain = download(
    'go',
    `golang.org/toolchain@v0.0.1-go${wanted}.${process.platform}-${architecture}`,
  )
  // A module's files are unpacked as readable ones only.
  const folders = [
    'bin',
    ...readdirSync(join(toolchain, 'pkg/tool')).map((folder) => join('pkg/tool', folder)),
  ]
  for (const folder of folders)
    for (const file of readdirSync(join(toolchain, folder))) chmodSync(join(toolchain, folder, file), 0o755)
  return join(toolchain, 'bin/go')
}

function download(go, module) {
  const { Dir: directory } = JSON.parse(run(go, ['mod', 'download', '-json', module], { timeout: FETCH_MS }))
  return directory
}

function run(command, args, options = {}) {
  const environment = { ...process.env, PATH: `${process.env.PATH}:/usr/local/go/bin` }
  const stdio = ['ignore', 'pipe', 'inherit']
  return execFileSync(command, args, {
    stdio,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 1e8,
    ...options,
  })
}

function numbersOf(version = '') {
  return version.split('.').map(Number)
}

function compareVersions(left, right) {
  const at = [0, 1, 2].find((index) => (left[index] ?? 0) !== (right[index] ?? 0))
  return at === undefined ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
}
