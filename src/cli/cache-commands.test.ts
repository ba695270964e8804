// The command as it is shipped: dist/cli/main.js in a directory of its own.
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { actAsNobody } from '../../test/support/act-as-nobody.ts'
import { openProject, type Project } from '../../test/support/cli/command.ts'
import { memorySource } from '../../test/support/workspace/memory-source.ts'
import { ATTEMPT } from '../../test/support/workspace/temporary-root.ts'
import { listEntries, type CacheEntry } from '../workspace/cache/cache-files.ts'
import { cacheDirectoryOf, ContentCache } from '../workspace/cache/content-cache.ts'
import { layOut } from '../workspace/laying-out/lay-out.ts'
import { openWorkspaceRoot } from '../workspace/ownership/ownership.ts'

test('WK-172 a cache is listed, a damaged object is found and removed, and all of it is cleared', async () => {
  const project = await openProject()
  onTestFinished(() => project.close())
  const directory = join(project.directory, '.perago/work')
  const empty = await project.run(['cache', 'ls'])
  expect([empty.code, empty.stdout]).toEqual([0, `0 objects, 0 B in ${join(directory, 'cache')}\n`])

  await fill(directory, { a: 'first', b: 'second', c: 'the third' })
  const listed = JSON.parse((await project.run(['cache', 'ls', '--json'])).stdout) as {
    readonly entries: readonly { readonly name: string; readonly sizeBytes: number }[]
  }
  expect(listed.entries.map(({ sizeBytes }) => sizeBytes).sort()).toEqual([5, 6, 9])

  const [entry] = await entriesOf(directory)
  const bytes = await readFile(entry!.path)
  bytes[0] = (bytes[0] ?? 0) ^ 1
  await writeFile(entry!.path, bytes)
  const verified = await project.run(['cache', 'verify'])
  expect(verified.code).toBe(0)
  expect(verified.stdout).toContain(`damaged, removed: ${entry!.name}\n2 objects are whole`)

  // A whole object under another name is none.
  const [left] = await entriesOf(directory)
  const other = left!.name.replace(/^md5-./, (start) => (start === 'md5-0' ? 'md5-1' : 'md5-0'))
  await mkdir(join(cacheDirectoryOf(directory), 'objects', other.slice(4, 6)), { recursive: true })
  await rename(left!.path, join(cacheDirectoryOf(directory), 'objects', other.slice(4, 6), other))
  const renamed = await project.run(['cache', 'verify'])
  expect(renamed.stdout).toContain(`damaged, removed: ${other}\n1 objects are whole, `)

  const cleared = await project.run(['cache', 'clear', '--root', '.perago/work'])
  expect([cleared.code, cleared.stdout]).toEqual([0, expect.stringMatching(/^1 objects removed/)])
  expect((await project.run(['cache', 'ls'])).stdout).toMatch(/^0 objects/)
  await rm(directory, { recursive: true })
})

test('WK-172 what cannot be read is named, the others are checked all the same, and the command fails', async () => {
  const { project, directory } = await openFilled({ a: 'first', b: 'second', c: 'the third', d: 'no. 4' })
  const [locked, damaged, hidden, whole] = await entriesOf(directory)
  await chmod(locked!.path, 0o000)
  await writeFile(damaged!.path, 'x')
  await chmod(dirname(hidden!.path), 0o000)
  onTestFinished(() => chmod(dirname(hidden!.path), 0o700))
  actAsNobody(directory)
  const { code, stdout, stderr } = await project.run(['cache', 'verify'])
  expect(stdout).toBe(
    `damaged, removed: ${damaged!.name}\n1 objects are whole, ${whole!.sizeBytes} B; 1 were damaged\n`,
  )
  expect(code).toBe(4)
  expect(stderr).toContain('2 files or directories could not be read or removed')
  expect(stderr).toContain(`${locked!.path}: EACCES`)
  expect(stderr).toContain(`${dirname(hidden!.path)}: EACCES`)
})

test('WK-172 a size that is none is refused with the flag that gave it', async () => {
  const project = await openProject()
  onTestFinished(() => project.close())
  const { code, stderr } = await project.run(['start', 'tasks.ts', '--cache-size', 'a lot'])
  expect(code).toBe(2)
  expect(stderr).toContain('--cache-size')
})

async function openFilled(
  objects: Readonly<Record<string, string>>,
): Promise<{ readonly project: Project; readonly directory: string }> {
  const project = await openProject()
  onTestFinished(() => project.close())
  const directory = join(project.directory, '.perago/work')
  await fill(directory, objects)
  return { project, directory }
}

async function fill(directory: string, objects: Readonly<Record<string, string>>): Promise<void> {
  const root = await openWorkspaceRoot({ directory, workerId: 'w' })
  const cache = new ContentCache({ root: directory, maxBytes: 1_000_000 })
  const { dir, manifest } = await layOut({ root, attempt: ATTEMPT, source: memorySource(objects), spec: {} })
  await cache.keepAll(dir, manifest)
  await cache.close()
  await root.close()
}

async function entriesOf(root: string): Promise<readonly CacheEntry[]> {
  const entries = []
  for await (const entry of listEntries(cacheDirectoryOf(root))) entries.push(entry)
  return entries
}
