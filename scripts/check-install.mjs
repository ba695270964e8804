// Installs the packed tarball into an empty project and uses it like a new user:
//   node scripts/check-install.mjs EMPTY_DIRECTORY
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startServing } from './serving.mjs'

const STEP_MS = 300_000
const directory = resolve(process.argv[2] ?? '')
if (process.argv[2] === undefined) {
  console.error('usage: node scripts/check-install.mjs EMPTY_DIRECTORY')
  process.exit(2)
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const project = join(directory, 'project')
mkdirSync(project, { recursive: true })

const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', directory], process.cwd()))
writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }))
run('npm', ['install', '--no-audit', '--no-fund', join(directory, packed.filename)])

expect('npx perago --version', run('npx', ['perago', '--version']).trim(), manifest.version)
for (const entry of Object.keys(manifest.exports)) {
  if (entry.endsWith('.json')) continue
  const name = manifest.name + entry.slice(1)
  const names = run('node', [
    '--input-type=module',
    '-e',
    `console.log(Object.keys(await import('${name}')).length)`,
  ])
  if (!(Number(names) > 0)) throw new Error(`import ${name}: it exports nothing`)
}

// The project that `perago init` writes, as its README says; from here on nothing needs a network.
const app = join(directory, 'app')
run('npx', ['perago', 'init', app])
const { dependencies } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'))
expect('npx perago init: where perago comes from', dependencies.perago, `^${manifest.version}`)
run('npm', ['install', '--no-audit', '--no-fund', join(directory, packed.filename)], app)
run('npm', ['test'], app)
run('npm', ['run', 'types'], app)
const dev = await startServing(
  join(app, 'node_modules', '.bin', 'perago'),
  ['dev', 'tasks.ts', '--repository', 'lake'],
  {
    cwd: app,
  },
)
const [, input] = /--input '(.*)'/.exec(readFileSync(join(app, 'README.md'), 'utf8'))
const place = ['--repo', 'lake', '--branch', 'main', '--json']
const ran = JSON.parse(run('npx', ['perago', 'run', 'weather.daily', ...place, '--input', input], app))
expect('npx perago run: status', ran.status, 'COMPLETED')
expect('perago dev: exit code after SIGTERM', await dev.stop(), 0)

const perago = join(project, 'node_modules', '.bin', 'perago')
for (const round of ['first start', 'second start on the same data']) {
  const server = await startServing(perago, ['lakefs', '--port', '0', '--data', 'data'], { cwd: project })
  const health = await fetch(`${server.url}/api/v1/healthcheck`, { signal: AbortSignal.timeout(10_000) })
  expect(`${round}: health`, health.status, 204)
  expect(`${round}: exit code after SIGTERM`, await server.stop(), 0)
}
console.log('the installed package works')

function run(command, args, cwd = project) {
  console.log(`$ ${command} ${args.join(' ')}`)
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: STEP_MS,
  })
}

function expect(what, got, wanted) {
  if (got !== wanted) throw new Error(`${what}: got ${got}, wanted ${wanted}`)
  console.log(`${what}: ${got}`)
}
