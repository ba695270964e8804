import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PROJECT_ROOT } from './support/source-tree.ts'

const run = promisify(execFile)

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'perago-command-file-'))
  await cp(join(PROJECT_ROOT, 'bin'), join(root, 'bin'), { recursive: true })
  await cp(join(PROJECT_ROOT, 'package.json'), join(root, 'package.json'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const perago = (...before: string[]): Promise<{ stdout: string; stderr: string }> =>
  run(process.execPath, [...before, join(root, 'bin/perago.cjs'), 'hello'])

test('CL-140 before the first build the command says what to run, and after it runs', async () => {
  await expect(perago()).rejects.toMatchObject({
    code: 2,
    stderr: `perago is not built yet: run "npm ci" and "npm run build" in ${root}.\n`,
  })
  await mkdir(join(root, 'dist/cli'), { recursive: true })
  await writeFile(join(root, 'dist/cli/main.js'), 'console.log(process.argv.slice(2).join())\n')
  expect(await perago()).toEqual({ stdout: 'hello\n', stderr: '' })
})

test('CL-140 a Node that is too old is told so, whatever it understands', async () => {
  const pretend = join(root, 'pretend.cjs')
  for (const [version, isTooOld] of [
    ['18.20.4', true],
    ['20.18.3', true],
    ['20.19.0', false],
    ['26.10.0', false],
  ] as const) {
    await writeFile(pretend, `Object.defineProperty(process.versions, 'node', { value: '${version}' })\n`)
    await expect(perago('--require', pretend)).rejects.toMatchObject({
      code: 2,
      stderr: isTooOld
        ? (expect.stringMatching(
            `^perago needs Node 20.19 or newer, and this is Node ${version}.\n$`,
          ) as string)
        : (expect.stringContaining('not built yet') as string),
    })
  }
})
