// npm test, npm run test:quick and npm run dev: what somebody who works on perago calls all day.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import quick from '../vitest.quick.config.ts'
import { PROJECT_ROOT, readText } from './support/source-tree.ts'

/** Stands in for the compiler and for Vitest: writes down how it was called. */
const NOTING = `import { appendFileSync } from 'node:fs'
appendFileSync('calls', [process.argv[1].split('/').at(-1), ...process.argv.slice(2)].join(' ') + '\\n')
process.exitCode = Number(process.env.EXIT ?? 0)
`

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-daily-'))
  await write('scripts/build.mjs', NOTING)
  await write('node_modules/vitest/vitest.mjs', NOTING)
  await write('src/a.ts', 'export const a = 1\n')
  await write('src/a.test.ts', '')
})
afterEach(() => rm(directory, { recursive: true }))

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true })
  await writeFile(join(directory, path), text)
}

const readCalls = (): Promise<string> => readFile(join(directory, 'calls'), 'utf8').catch(() => '')

function runTests(args: readonly string[], exit = '0') {
  return spawnSync(process.execPath, [join(PROJECT_ROOT, 'scripts/test.mjs'), ...args], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, EXIT: exit },
  })
}

test('HO-42 npm test says first how long all tests will take, and afterwards knows it from the last time', async () => {
  const first = runTests([])
  expect([first.status, first.stdout]).toEqual([
    0,
    expect.stringMatching(/^all tests: about \d+ minutes on two/),
  ])
  expect(first.stdout).toContain('npm run test:quick')
  expect(await readCalls()).toBe('build.mjs\nvitest.mjs run\n')
  await write('.cache/test-seconds.json', '{"seconds": 754}')
  expect(runTests(['src/base'])).toMatchObject({ status: 0, stdout: '' })
  expect(runTests([], '1')).toMatchObject({ status: 1 })
  expect(runTests([]).stdout).toContain('about 13 minutes, as the last time here')
})

test('HO-43 npm run dev builds and runs the touched tests when a file changes, until it is stopped', async () => {
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'scripts/dev.mjs')], { cwd: directory })
  const ended = once(child, 'close')
  try {
    await once(child.stdout, 'data')
    await write('src/a.test.ts', '// changed\n')
    await expect.poll(readCalls, POLL).toBe('vitest.mjs related --run --passWithNoTests src/a.test.ts\n')
    await write('src/a.ts', 'export const a = 22\n')
    await expect.poll(readCalls, POLL).toMatch(/\nbuild\.mjs\nvitest\.mjs related .* src\/a\.ts\n$/)
  } finally {
    child.kill('SIGINT')
  }
  expect(await ended).toEqual([0, null])
})

const POLL = { timeout: 30_000, interval: 50 }

test('HO-44 npm run test:quick runs many tests, and none that needs a server, a process or the build', () => {
  const files = (quick as { test: { include: readonly string[] } }).test.include
  expect(files.length).toBeGreaterThan(100)
  const needing = files.filter((path) =>
    /useRealServer|node:child_process|listenHttp\(|\bdist\/cli/.test(readText(path)),
  )
  expect(needing).toEqual([])
})
