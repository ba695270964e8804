// A process that lays out from a content cache and keeps what it fetched, over and over; it ends with status 1 when a file
// is not as it should be. Sometimes it is killed.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cachedFrom, ContentCache } from '../../../src/workspace/cache/content-cache.ts'
import { fetchFrom } from '../../../src/workspace/laying-out/file-provider.ts'
import { layOut } from '../../../src/workspace/laying-out/lay-out.ts'
import { openWorkspaceRoot } from '../../../src/workspace/ownership/ownership.ts'
import { memorySource } from './memory-source.ts'

const [directory = '', rounds = '1', maxBytes = '4000000'] = process.argv.slice(2)
const root = await openWorkspaceRoot({ directory, workerId: 'child' })
const cache = new ContentCache({ root: directory, maxBytes: Number(maxBytes) })
const attempt = { workflowId: 'w', taskId: 't', retryCount: 0, pollCount: 1, workerId: 'child' }
process.stdout.write('ready\n')
for (let round = 0; round < Number(rounds); round++) {
  const objects = Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`f${at}`, contentOf((round * 7 + at) % 40)]),
  )
  const source = memorySource(objects)
  const provider = cachedFrom(cache, fetchFrom(source))
  const workspace = await layOut({ root, attempt, source, spec: {}, provider })
  for (const [name, content] of Object.entries(objects)) {
    if (content.equals(readFileSync(join(workspace.dir, name)))) continue
    process.stderr.write(`round ${round}: ${name} is not as it should be\n`)
    process.exit(1)
  }
  await cache.keepAll(workspace.dir, workspace.manifest)
  await workspace.remove()
}
process.stdout.write(`${JSON.stringify(cache.counts())}\n`)
await cache.close()
await root.close()

/** On both sides of the size from which files are handled in another way. */
function contentOf(number: number): Buffer {
  return Buffer.alloc(
    number % 3 === 0 ? 400_000 + number : 20_000 + number,
    createHash('sha256').update(String(number)).digest(),
  )
}
