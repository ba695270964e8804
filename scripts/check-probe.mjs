// Runs a conformance probe from outside the project against `perago lakefs`, twice on one data directory:
//   node scripts/check-probe.mjs PROBE EMPTY_DIRECTORY
import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { startServing } from './serving.mjs'

const PROBE_MS = 600_000
const KEYS = ['--access-key', 'AKIAPERAGOPROBE', '--secret-key', 'perago-probe-secret']
const [given, directory] = process.argv.slice(2)
if (directory === undefined) {
  console.error('usage: node scripts/check-probe.mjs PROBE EMPTY_DIRECTORY')
  process.exit(2)
}

// A program compares its path with the one that was started; through a link it would do nothing and report success.
const probe = realpathSync(given)
for (const round of [1, 2]) {
  const data = join(directory, 'data')
  const args = ['dist/cli/main.js', 'lakefs', '--port', '0', '--data', data, ...KEYS]
  const server = await startServing(process.execPath, args)
  const namespace = ['--storage-namespace', `local://probe-${round}`]
  const run = spawnSync(
    process.execPath,
    [probe, '--check', '--endpoint', server.url, ...KEYS, ...namespace],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
      timeout: PROBE_MS,
    },
  )
  process.stdout.write(run.stdout)
  const exit = await server.stop()
  if (run.status !== 0) throw new Error(`probe, round ${round}: ended with ${run.status ?? run.signal}`)
  if (!/^all \d+ scenarios agree$/m.test(run.stdout))
    throw new Error(`probe, round ${round}: it did not say that all agree`)
  if (exit !== 0) throw new Error(`server, round ${round}: ended with ${exit} after SIGTERM`)
}
