// Goal: a worker starts soon and takes little memory, because it loads of large packages what it uses.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../test/support/source-tree.ts'

/** The files of CommonJS packages that a process has loaded, after it ran this. */
async function loadedBy(program: string): Promise<readonly string[]> {
  const tell = `import { createRequire } from 'node:module'
const { cache } = createRequire(import.meta.url)
process.stdout.write(JSON.stringify(Object.keys(cache)))`
  const args = ['--input-type=module', '-e', `${program}\n${tell}`]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT_ROOT })
  return JSON.parse(stdout) as string[]
}

function built(path: string): string {
  return JSON.stringify(join(PROJECT_ROOT, `dist/${path}`))
}

test('WK-360 what counts for a worker loads no part of prom-client that pushes or looks at the process', async () => {
  const loaded = await loadedBy(`
import { openWorkerMetrics } from ${built('runtime/telemetry/worker-metrics.js')}
import { traceWorker } from ${built('runtime/telemetry/worker-tracing.js')}
const metrics = openWorkerMetrics(() => undefined)
for (const tell of [metrics.observe, traceWorker()]) tell({ kind: 'poll', taskType: 'a', claimed: 1, durationMs: 5 })
if (!(await metrics.render()).includes('perago_worker_polls_total')) throw new Error('it counts nothing')`)
  expect(loaded.filter((path) => path.includes('prom-client')).length).toBeGreaterThan(3)
  expect(loaded.filter((path) => /pushgateway|defaultMetrics|@opentelemetry/.test(path))).toEqual([])
})

test('WK-360 what carries requests loads no part of undici that does more', async () => {
  const loaded = await loadedBy(`
import { createServer } from 'node:http'
import { once } from 'node:events'
import { createLakefsClient } from ${built('lakefs/client.js')}
const server = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
await once(server.listen(0, '127.0.0.1'), 'listening')
const endpoint = 'http://127.0.0.1:' + server.address().port
const client = createLakefsClient({ endpoint, accessKeyId: 'key', secretAccessKey: 'secret' })
let asked = 0
server.on('request', () => asked++)
await client.capabilities().catch(() => undefined)
await client.close()
server.close()
if (asked === 0) throw new Error('nothing was asked')`)
  expect(loaded.filter((path) => path.includes('undici')).length).toBeGreaterThan(3)
  expect(loaded.filter((path) => /undici.index\\.js|undici.lib.web/.test(path))).toEqual([])
})
