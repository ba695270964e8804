import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeDirectory } from './make-directory.ts'

test('BA-90 a directory is made with its parents, for its owner alone, and again is no error', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'perago-make-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const deep = join(directory, 'a', 'b')
  makeDirectory(deep)
  makeDirectory(deep)
  expect([(await stat(join(directory, 'a'))).mode & 0o777, (await stat(deep)).mode & 0o777]).toEqual([
    0o700, 0o700,
  ])
})

test('BA-90 a directory below a file, or where nobody makes any, is an error and not a wait for ever', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'perago-make-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await writeFile(join(directory, 'file'), '')
  const impossible = [join(directory, 'file', 'below')]
  if (existsSync('/proc/self')) impossible.push('/proc/nope/below')
  for (const path of impossible) expect(() => makeDirectory(path)).toThrow(/E(NOTDIR|NOENT|ACCES|PERM)/)
})
