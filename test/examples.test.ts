// The documents show files of examples/, word for word; here those files run against the built package.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../src/embedded/lakefs/server.ts'
import { PROJECT_ROOT, listFiles, readText } from './support/source-tree.ts'

const EXAMPLE_MS = 60_000
const LINES_MAX = 25
const run = promisify(execFile)

let server: EmbeddedLakefs

beforeAll(async () => {
  expect(existsSync(join(PROJECT_ROOT, 'dist')), 'run `npm run build` first, as `npm test` does').toBe(true)
  server = await startEmbeddedLakefs({ repositories: ['weather'] })
})

afterAll(async () => {
  await server.close()
})

async function runExample(path: string, args: readonly string[] = []): Promise<string[]> {
  const { stdout } = await run(process.execPath, [path, ...args], {
    cwd: PROJECT_ROOT,
    timeout: EXAMPLE_MS,
    env: {
      ...process.env,
      LAKEFS_ENDPOINT: server.url,
      LAKEFS_ACCESS_KEY_ID: server.accessKeyId,
      LAKEFS_SECRET_ACCESS_KEY: server.secretAccessKey,
    },
  })
  return stdout.trim().split('\n')
}

test.each([
  ['README.md', 'examples/one-task/tasks.ts'],
  ['docs/tutorials/first-steps.md', 'examples/first-steps/publish.mjs'],
])('HO-13 %s shows %s as it is', (page, example) => {
  const shown = [...readText(page).matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
  expect(shown).toEqual([readText(example)])
})

test('HO-13 the example of the README is short, and publishes what the README says', async () => {
  const example = 'examples/one-task/tasks.ts'
  expect(readText(example).trim().split('\n').length).toBeLessThanOrEqual(LINES_MAX)
  const command = /^npx perago (run weather\.measure .*)\\\n +--params '(.*)'$/m.exec(readText('README.md'))
  const [, args = '', params = ''] = command ?? []
  const directory = await mkdtemp(join(tmpdir(), 'perago-examples-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const printed = await runExample('dist/cli/main.js', [
    ...args.trim().split(' '),
    '--params',
    params,
    '--root',
    directory,
  ])
  expect(printed.slice(0, 3)).toEqual([
    expect.stringMatching(/^weather\.measure +published$/),
    expect.stringMatching(/^commit +[0-9a-f]{64}$/),
    expect.stringMatching(/^result +\{"rows":1\}$/),
  ])
})

test('HO-13 a server and a publication fit into one short program', async () => {
  const printed = await runExample('examples/in-one-process/publish.mjs')
  expect(printed).toEqual(['added today.csv'])
  expect(readText('examples/in-one-process/README.md')).toContain(`prints \`${printed.join('')}\``)
})

test('HO-13 the tutorial tells what its program prints, the first time and the second', async () => {
  const example = 'examples/first-steps/publish.mjs'
  const [start, ...first] = await runExample(example)
  expect(start).toMatch(/^both start from [0-9a-f]{8}$/)
  expect(first).toEqual(['anna: published', 'ben: not published, conflict', 'main holds: berlin,21'])
  expect(readText('docs/tutorials/first-steps.md')).toContain(first.join('\n'))
  const [, ...second] = await runExample(example)
  expect(second).toEqual(['anna: nothing new', 'ben: published', 'main holds: berlin,19'])
})

test('HO-13 every example runs in a test and has a page of its own', () => {
  // Files deeper in a folder are parts of its program.
  const programs = listFiles('examples', (path) => /^examples\/[^/]+\/[^/]+\.mjs$/.test(path))
  const tests = [
    'test/examples.test.ts',
    'test/integration/demo.test.ts',
    'test/integration/example-on-conductor.test.ts',
    'test/guides.test.ts',
    'test/webhook-guides.test.ts',
    'test/integration/webhook-guide-on-conductor.test.ts',
    'src/cli/recovery-commands.test.ts',
    'test/integration/conductor-sdk-guide.test.ts',
  ]
    .map(readText)
    .join('')
  expect(programs.filter((path) => !tests.includes(`'${path}'`))).toEqual([])
  const folders = [...new Set(programs.map((path) => path.split('/').slice(0, 2).join('/')))]
  expect(folders.filter((folder) => !existsSync(join(PROJECT_ROOT, folder, 'README.md')))).toEqual([])
})

async function runVitest(folder: string): Promise<string> {
  const [vitest, cwd] = [join(PROJECT_ROOT, 'node_modules/vitest/vitest.mjs'), join(PROJECT_ROOT, folder)]
  // Vitest inside Vitest: the inner one must not take itself for a worker of the outer one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
  const { stdout } = await run(process.execPath, [vitest, 'run', '--maxWorkers=1'], {
    ...{ cwd, timeout: 2 * EXAMPLE_MS },
    env: { ...env, NO_COLOR: '1' },
  })
  return stdout
}

test('EN-811 the guide on tests of pipelines shows programs as they are, and their tests pass', async () => {
  const folder = 'examples/test-a-pipeline'
  const files = ['report.ts', 'report.test.ts', 'troubles.test.ts'].map((file) =>
    readText(`${folder}/${file}`),
  )
  const shown = [...readText('docs/guides/test-a-pipeline.md').matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
  expect(shown.map(([, code]) => code)).toEqual(files)
  expect(await runVitest(folder)).toMatch(/Tests +5 passed \(5\)/)
}, 150_000)

test('EX-07 the guide on tests of tasks shows programs as they are, and their tests pass', async () => {
  const folder = 'examples/kill-a-task'
  const files = ['totals.ts', 'totals.test.ts'].map((file) => readText(`${folder}/${file}`))
  const shown = [...readText('docs/guides/test-your-tasks.md').matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
  expect(shown.map(([, code]) => code)).toEqual(files)
  const stdout = await runVitest(folder)
  expect(stdout).toMatch(/\d{3} cases, \d+ crashes/)
  expect(stdout).toMatch(/Tests +2 passed \(2\)/)
}, 150_000)

test('EN-812 the tests of the orders pass: the real tasks over a repository in memory', async () => {
  const file = 'examples/orders-etl/pipeline.test.mjs'
  const { stdout } = await run(process.execPath, ['--test', file], {
    ...{ cwd: PROJECT_ROOT, timeout: 2 * EXAMPLE_MS },
    // Otherwise it reports to the runner that it takes this process for.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT')),
  })
  expect(stdout).toMatch(/^# pass 3$/m)
}, 150_000)

test('EN-570 the pipeline of the orders is one graph, in YAML and in TypeScript', async () => {
  const command = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, ['dist/cli/main.js', ...args], { cwd: PROJECT_ROOT, timeout: EXAMPLE_MS }))
      .stdout
  const graph = async (file: string): Promise<unknown> =>
    JSON.parse(await command('graph', `examples/orders-etl/${file}`, '--json'))
  expect(await graph('pipeline.yaml')).toEqual(await graph('pipeline.ts'))
  expect(
    await command('validate', 'examples/orders-etl/pipeline.yaml', '--tasks', 'examples/orders-etl/tasks.ts'),
  ).toMatch(/orders\.daily +version 1 +3 units/)
}, 60_000)
