// `perago init`: the project that it writes works as it stands, with perago as it is packed and no network.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCli } from '../src/cli/run.ts'
import { openTestTerminal } from './support/cli/test-terminal.ts'
import { startServing } from '../scripts/serving.mjs'
import { PROJECT_ROOT } from './support/source-tree.ts'

const run = promisify(execFile)
const FILES = ['package.json', 'tsconfig.json', 'tasks.ts', 'tasks.test.ts', 'README.md', '.gitignore']
const STEP_MS = 240_000

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-init-'))
})
afterEach(() => rm(directory, { recursive: true }))

async function init(...args: string[]): Promise<{ code: number; printed: string; said: string }> {
  const { terminal, printed, said } = openTestTerminal({ directory })
  const code = await runCli(['init', ...args], terminal)
  return { code, printed: printed(), said: said() }
}

test('CL-187 perago init writes a small project, says what comes next, and asks nothing', async () => {
  const { code, printed, said } = await init('My Pipeline')
  expect([code, said]).toEqual([0, ''])
  for (const file of FILES) expect(printed).toContain(`wrote ${join('My Pipeline', file)}\n`)
  expect(printed).toContain('npm test')
  expect((await readdir(join(directory, 'My Pipeline'))).sort()).toEqual([...FILES].sort())
  const manifest = JSON.parse(
    await readFile(join(directory, 'My Pipeline/package.json'), 'utf8'),
  ) as Readonly<Record<string, unknown>>
  expect(manifest).toMatchObject({ name: 'my-pipeline', private: true, type: 'module' })
  expect(manifest['engines']).toEqual({ node: '>=20.19' })
  // From a clone; scripts/check-install.mjs tries the one that is installed.
  expect(manifest['dependencies']).toMatchObject({ perago: `file:${PROJECT_ROOT}` })

  const second = await init('other', '--name', 'a-name', '--json')
  expect(JSON.parse(second.printed)).toEqual({
    directory: join(directory, 'other'),
    name: 'a-name',
    files: FILES,
  })
})

test('CL-187 perago init overwrites nothing, and then writes nothing at all', async () => {
  await writeFile(join(directory, 'README.md'), 'mine')
  await symlink(join(directory, 'nowhere'), join(directory, 'tasks.ts'))
  const { code, printed, said } = await init()
  expect([code, printed]).toEqual([3, ''])
  expect(said).toContain('tasks.ts, README.md are there already [cli/would-overwrite]')
  expect((await readdir(directory)).sort()).toEqual(['README.md', 'tasks.ts'])
  expect(await readFile(join(directory, 'README.md'), 'utf8')).toBe('mine')

  await writeFile(join(directory, 'a-file'), '')
  expect(await init(join('a-file', 'below'))).toMatchObject({
    code: 2,
    said: expect.stringContaining('[cli/not-written]') as string,
  })
  expect((await init('.', '--name', 'No Name')).code).toBe(2)
})

test(
  'CL-188 the new project passes its test and runs its workflow, with the packed perago and no network',
  async () => {
    expect((await init('app')).code).toBe(0)
    const app = join(directory, 'app')
    await install(app)
    const environment = { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`, HOME: directory }
    const step = async (...command: [string, ...string[]]): Promise<string> => {
      const [program, ...args] = command
      const { stdout } = await run(program, args, { cwd: app, env: environment, timeout: STEP_MS })
      return stdout
    }
    expect(await step('npm', 'test')).toMatch(/1 passed/)
    await step('npm', 'run', 'types')
    expect(await step('npx', '--no', 'perago', 'check', 'tasks.ts', '--offline')).toContain('weather.daily')

    const perago = join(app, 'node_modules/.bin/perago')
    const dev = await startServing(perago, ['dev', 'tasks.ts', '--repository', 'lake'], {
      cwd: app,
      env: environment,
    })
    try {
      const [, command = ''] = /(npx perago run .*)\n/.exec(await readFile(join(app, 'README.md'), 'utf8'))!
      const output: unknown = JSON.parse(await step('sh', '-c', `${command} --json`))
      expect(output).toMatchObject({ status: 'COMPLETED', output: { result: { rows: 3, mean: 6 } } })
    } finally {
      expect(await dev.stop()).toBe(0)
    }
  },
  2 * STEP_MS,
)

/** What npm would install: perago from its tarball, everything else as it is installed here. */
async function install(app: string): Promise<void> {
  const modules = join(app, 'node_modules')
  await mkdir(join(modules, '.bin'), { recursive: true })
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', directory],
    { cwd: PROJECT_ROOT },
  )
  const [packed] = JSON.parse(stdout) as [{ filename: string }]
  await run('tar', ['-xzf', join(directory, packed.filename), '-C', directory])
  await cp(join(directory, 'package'), join(modules, 'perago'), { recursive: true })
  await symlink(join(modules, 'perago/bin/perago.cjs'), join(modules, '.bin/perago'))
  const from = join(PROJECT_ROOT, 'node_modules')
  for (const name of await readdir(from)) {
    if (name.startsWith('.') || name === 'perago') continue
    await symlink(join(from, name), join(modules, name))
  }
  for (const program of ['vitest', 'tsc'])
    await symlink(join(from, '.bin', program), join(modules, '.bin', program))
}
