// The Python package of the same name and `lakectl`, if available.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const PEER = 'perago==0.6.1'

/** An interpreter with the package: PERAGO_PEER_PYTHON, or a virtual environment that is created once. */
export function findPeerPython() {
  if (process.env.PERAGO_PEER_PYTHON) return process.env.PERAGO_PEER_PYTHON
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const place = join(cache, 'perago-bench', PEER.replace('==', '-'))
  const python = join(place, 'bin/python')
  if (hasPeer(python)) return python
  // An incomplete one cannot be used.
  rmSync(place, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  run('python3', ['-m', 'venv', place])
  run(python, ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', PEER])
  return python
}

/** PERAGO_BENCH_LAKECTL, or the one on the path; `undefined` when there is none. */
export function findLakectl() {
  const named = process.env.PERAGO_BENCH_LAKECTL
  const candidate = named ?? 'lakectl'
  const { status } = spawnSync(candidate, ['--version'])
  if (status === 0) return candidate
  if (named) throw new Error(`run ${named}: it does not work`)
  return undefined
}

function hasPeer(python) {
  return existsSync(python) && spawnSync(python, ['-c', 'import perago']).status === 0
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`run ${command} ${args.join(' ')}: it ended with ${status}`)
}
