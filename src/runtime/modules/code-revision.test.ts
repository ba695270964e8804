import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { codeRevisionOf } from './code-revision.ts'

test('WK-331 the revision of the code is the commit that git has checked out, and says whether it was changed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'perago-revision-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const module = join(directory, 'tasks.ts')
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  await writeFile(module, 'one')
  expect(await codeRevisionOf(module)).toBeUndefined()
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'one')
  git('tag', 'v1')
  const head = git('rev-parse', 'HEAD').trim()
  expect(await codeRevisionOf(module)).toBe(head)
  await writeFile(module, 'two')
  expect(await codeRevisionOf(module)).toBe(`${head}-dirty`)
})
