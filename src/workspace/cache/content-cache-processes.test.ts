// Goal: processes that share a content cache, are killed while they write to it, or fill the disk, harm nobody.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { memorySource } from '../../../test/support/workspace/memory-source.ts'
import { ATTEMPT, temporaryDirectory, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'
import { checkEntries } from './cache-files.ts'
import { cachedFrom, cacheDirectoryOf, ContentCache } from './content-cache.ts'
import { fetchFrom } from '../laying-out/file-provider.ts'
import { layOut } from '../laying-out/lay-out.ts'

const REGISTER = new URL('../../../test/support/typescript-child/register.mjs', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('../../../test/support/workspace/cache-program.ts', import.meta.url))

interface Counts {
  readonly hits: number
  readonly kept: number
  readonly damaged: number
}

function start(root: string, rounds: number, maxBytes = 4_000_000) {
  const args = ['--import', REGISTER, PROGRAM, root, String(rounds), String(maxBytes)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines: string[] = []
  const reading = createInterface(child.stdout).on('line', (line) => lines.push(line))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    ready: once(reading, 'line'),
    /** Its status, and what it said at its end. */
    ended: ended.then(([status]) => ({
      status: status as number | null,
      counts: lines.length < 2 ? undefined : (JSON.parse(lines[1] ?? '') as Counts),
    })),
  }
}

// Several processes write at once: on a busy machine that takes longer than a test usually may.
const PROCESSES_MS = 240_000

test(
  'WS-66 two processes share one cache: each uses what the other kept, and every file is right',
  { timeout: PROCESSES_MS },
  async () => {
    const root = await temporaryDirectory()
    const ends = await Promise.all([start(root, 120).ended, start(root, 120).ended])
    expect(ends.map(({ status }) => status)).toEqual([0, 0])
    expect(ends.every(({ counts }) => counts !== undefined && counts.hits > 0 && counts.damaged === 0)).toBe(
      true,
    )
    expect((await checkEntries(cacheDirectoryOf(root))).damaged).toEqual([])
  },
)

test(
  'WS-67 processes killed while they write leave nothing that is half an entry',
  { timeout: PROCESSES_MS },
  async () => {
    const root = await temporaryDirectory()
    const lasting = start(root, 150, 2_000_000)
    for (let kill = 0; kill < 6; kill++) {
      const killed = start(root, 100_000, 2_000_000)
      await killed.ready
      await new Promise((resolve) => setTimeout(resolve, 20 + kill * 17))
      killed.child.kill('SIGKILL')
      await killed.ended
    }
    expect((await lasting.ended).status).toBe(0)
    const checked = await checkEntries(cacheDirectoryOf(root))
    expect(checked.damaged).toEqual([])
    expect(checked.entries).toBeGreaterThan(0)
  },
)

test('WS-68 a disk that is full ends the keeping and nothing else', async (context) => {
  const mounted = await temporaryDirectory()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', mounted], { stdio: 'ignore' })
  } catch {
    context.skip('mounting a small disk takes the superuser')
  }
  onTestFinished(() => void execFileSync('umount', ['-l', mounted], { stdio: 'ignore' }))
  const root = await temporaryRoot(mounted)
  const cache = new ContentCache({ root: root.directory, maxBytes: 1_000_000_000 })
  onTestFinished(() => cache.close())
  // Each fits once, and not again for the cache.
  for (const fill of ['a', 'b', 'c']) {
    const objects = { one: Buffer.alloc(1_900_000, fill), two: Buffer.alloc(1_900_000, fill.toUpperCase()) }
    const source = memorySource(objects)
    const provider = cachedFrom(cache, fetchFrom(source))
    const makeRoom = (bytes: number): Promise<void> => cache.makeRoom(bytes)
    const workspace = await layOut({ root, attempt: ATTEMPT, source, spec: {}, provider, makeRoom })
    await cache.keepAll(workspace.dir, workspace.manifest)
    await workspace.remove()
  }
  expect((await checkEntries(join(root.directory, 'cache'))).damaged).toEqual([])
})
