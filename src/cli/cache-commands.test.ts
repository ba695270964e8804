// The command as it is shipped: dist/cli/main.js in a directory of its own.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openProject } from '../../test/support/cli/command.ts'
import { memorySource } from '../../test/support/workspace/memory-source.ts'
import { ATTEMPT } from '../../test/support/workspace/temporary-root.ts'
import { listEntries } from '../workspace/cache/cache-files.ts'
import { cacheDirectoryOf, ContentCache } from '../workspace/cache/content-cache.ts'
import { layOut } from '../workspace/laying-out/lay-out.ts'
import { openWorkspaceRoot } from '../workspace/ownership/ownership.ts'

test('WK-172 a cache is listed, a damaged object is found and removed, and all of it is cleared', async () => {
  const project = await openProject()
  onTestFinished(() => project.close())
  const directory = join(project.directory, '.perago/work')
  const empty = await project.run(['cache', 'ls'])
  expect([empty.code, empty.stdout]).toEqual([0, `0 objects, 0 B in ${join(directory, 'cache')}\n`])

  const root = await openWorkspaceRoot({ directory, workerId: 'w' })
  const cache = new ContentCache({ root: directory, maxBytes: 1_000_000 })
  const source = memorySource({ a: 'first', b: 'second' })
  const { dir, manifest } = await layOut({ root, attempt: ATTEMPT, source, spec: {} })
  await cache.keepAll(dir, manifest)
  await cache.close()
  await root.close()

  const listed = JSON.parse((await project.run(['cache', 'ls', '--json'])).stdout) as {
    readonly entries: readonly { readonly name: string; readonly sizeBytes: number }[]
  }
  expect(listed.entries.map(({ sizeBytes }) => sizeBytes).sort()).toEqual([5, 6])

  const entries = []
  for await (const found of listEntries(cacheDirectoryOf(directory))) entries.push(found)
  const [entry] = entries
  const bytes = await readFile(entry!.path)
  bytes[0] = (bytes[0] ?? 0) ^ 1
  await writeFile(entry!.path, bytes)
  const verified = await project.run(['cache', 'verify'])
  expect(verified.code).toBe(0)
  expect(verified.stdout).toContain(`damaged, removed: ${entry!.name}\n1 objects are whole`)

  const cleared = await project.run(['cache', 'clear', '--root', '.perago/work'])
  expect([cleared.code, cleared.stdout]).toEqual([0, expect.stringMatching(/^1 objects removed/)])
  expect((await project.run(['cache', 'ls'])).stdout).toMatch(/^0 objects/)
  await rm(directory, { recursive: true })
})

test('WK-172 a size that is none is refused with the flag that gave it', async () => {
  const project = await openProject()
  onTestFinished(() => project.close())
  const { code, stderr } = await project.run(['start', 'tasks.ts', '--cache-size', 'a lot'])
  expect(code).toBe(2)
  expect(stderr).toContain('--cache-size')
})
