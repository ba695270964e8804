// Goal: a large workspace lies apart from what was just removed, where the disk can do that, and works the same anywhere.
import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, statfsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { temporaryDirectory } from '../../../test/support/workspace/temporary-root.ts'
import { WORKSPACE_APART_FILES_MIN } from '../limits.ts'
import { spreadInodes } from './spread-inodes.ts'

async function makePlace(): Promise<{ directory: string; tree: string }> {
  const directory = await temporaryDirectory()
  const tree = join(directory, 'tree')
  mkdirSync(tree)
  return { directory, tree }
}

/** Why a mark cannot be seen here, or undefined. */
function whyNot(directory: string): string | undefined {
  if (statfsSync(directory).type !== 0xef53) return 'not an ext4 file system'
  try {
    execFileSync('lsattr', ['-d', directory])
    return undefined
  } catch {
    return 'no lsattr here'
  }
}

test('WS-79 the directory of a large workspace is a new one below the top of a hierarchy, under its old name', async (context) => {
  const place = await makePlace()
  const missing = whyNot(place.directory)
  context.skip(missing !== undefined, missing)
  const before = lstatSync(place.tree).ino
  await spreadInodes(place, WORKSPACE_APART_FILES_MIN)
  expect(execFileSync('lsattr', ['-d', place.directory], { encoding: 'utf8' }).split(' ')[0]).toContain('T')
  expect(lstatSync(place.tree).ino).not.toBe(before)
  expect(readdirSync(place.directory)).toEqual(['tree'])
  await writeFile(join(place.tree, 'a'), 'a')
})

test('WS-79 a small one stays where it is', async () => {
  const place = await makePlace()
  const before = lstatSync(place.tree).ino
  await spreadInodes(place, WORKSPACE_APART_FILES_MIN - 1)
  expect(lstatSync(place.tree).ino).toBe(before)
})

test('WS-79 without the program that marks it, it stays where it is', async () => {
  const place = await makePlace()
  const before = lstatSync(place.tree).ino
  vi.stubEnv('PATH', place.directory)
  await spreadInodes(place, WORKSPACE_APART_FILES_MIN).finally(() => vi.unstubAllEnvs())
  expect(lstatSync(place.tree).ino).toBe(before)
})
