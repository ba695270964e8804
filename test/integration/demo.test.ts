// The demonstration as the README starts it, against the built package.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { startEmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { PROJECT_ROOT, readText } from '../support/source-tree.ts'

const DEMO_MS = 240_000
const DEMO = 'examples/orders-etl/demo.mjs'
const PREPARE = 'examples/orders-etl/prepare.mjs'

let told: string

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [DEMO], {
    cwd: PROJECT_ROOT,
    timeout: DEMO_MS,
  })
  told = stdout
}, DEMO_MS)

/** What was printed under a title, line by line. */
function scene(title: string): readonly string[] {
  const [, after] = told.split(`\n${title}\n${'─'.repeat(title.length)}\n`)
  if (after === undefined) throw new Error(`there is no scene "${title}" in:\n${told}`)
  return after.trimEnd().split('\n\n')[0]!.split('\n')
}

const told1 = (lines: readonly string[], pattern: RegExp): string => {
  const found = lines.filter((line) => pattern.test(line))
  expect(found, `${String(pattern)} in\n${lines.join('\n')}`).toHaveLength(1)
  return pattern.exec(found[0]!)?.[1] ?? ''
}

test('EX-01 a quiet day publishes each task once', () => {
  const lines = scene('A quiet day')
  for (const task of ['ingest', 'validate', 'aggregate']) {
    told1(lines, new RegExp(`worker A {2}${task} +attempt 0 {2}published: merged into the branch`))
    told1(lines, new RegExp(`worker A {2}${task} +attempt 0 {2}→ COMPLETED`))
  }
  expect(scene('The branch before the trouble').map((line) => line.replace(/^ +\w{10} +/, ''))).toEqual([
    'Publish aggregate, attempt 0, by worker A',
    'Publish validate, attempt 0, by worker A',
    'Publish ingest, attempt 0, by worker A',
    'Repository created',
  ])
})

test('EX-02 the retry of a worker that was killed after publishing replaces what it left, which stays readable', () => {
  const lines = scene('A worker is killed between publishing and completing')
  expect(lines.filter((line) => line.includes('worker B') && line.includes('→'))).toEqual([])
  const left = told1(lines, /^Worker B \(process \d+\) had published (\w{10}) and was killed/)
  told1(lines, new RegExp(`attempt 1 {2}publish fence: HEAD ${left} stands directly above the input`))
  told1(lines, new RegExp(`attempt 1 {2}${left} is kept under the tag perago-superseded-${left}`))
  told1(lines, /attempt 1 {2}published: the branch moved to this attempt’s own commit/)
  told1(lines, new RegExp(`^${left} has left the history of main and can still be read\\.`))
})

test('EX-03 an attempt that comes back late is refused by the attempt fence and publishes nothing', () => {
  const lines = scene('An attempt comes back when another has taken its place')
  told1(lines, /worker A {2}validate +attempt 1 {2}→ COMPLETED/)
  told1(
    lines,
    /worker C {2}validate +attempt 0 {2}REFUSED: check the attempt of task .*: status is TIMED_OUT/,
  )
  told1(
    lines,
    /worker C {2}validate +attempt 0 {2}→ ends as FAILED \[fences\/stale-attempt\]; the queue is not told/,
  )
  expect(lines.filter((line) => line.includes('worker C') && line.includes('published'))).toEqual([])
})

test('EX-04 a commit of somebody else is never overwritten, and a new workflow goes on from it', () => {
  const lines = scene('Somebody else commits while a task runs')
  const foreign = told1(lines, /^ {2}Anna commits (\w{10}) to main by hand/)
  told1(lines, /REFUSED: .* is not a publication of this task/)
  told1(lines, /→ FAILED_WITH_TERMINAL_ERROR \[fences\/publish-refused\]/)
  told1(lines, new RegExp(`^ {2}Start a new workflow from the current head ${foreign}`))
  told1(lines, new RegExp(`^HEAD is ${foreign}: Anna’s commit stands\\.`))

  const again = scene('A new workflow from the current HEAD')
  expect(again.filter((line) => line.includes('there is nothing to publish'))).toHaveLength(2)
  told1(
    again,
    /^The workflow is COMPLETED: \{"day":"2026-01-16","orders":\d+,"revenue":[\d.]+,"best":"\w+"\}/,
  )
  expect(scene('The branch after the trouble').map((line) => line.replace(/^ +(?:\w{10} +)?/, ''))).toEqual([
    'Publish aggregate, attempt 0, by worker A',
    'Correct the VAT table',
    'Publish validate, attempt 1, by worker A',
    'Stage ingest, attempt 1, by worker A',
    'Publish aggregate, attempt 0, by worker A',
    '…',
  ])
})

test('EN-810 at the end the last phase is rolled back: the report leaves the branch, everything else stays', () => {
  const lines = scene('The phase "report" is rolled back')
  const [, report = '', anna = ''] =
    /^Undone: aggregate\. main has moved back from (\w{10}) to (\w{10})\.$/.exec(lines[0]!) ?? []
  told1(lines, new RegExp(`^${report} has left the history and can still be read\\.$`))
  told1(lines, /^The workflow is PAUSED: the results of ingest and validate stay/)
  const before = scene('The branch after the trouble')
  expect(before[0]).toContain(report)
  expect(before[1]).toContain(anna)
  // Titles aside, it is the history before without its newest commit.
  expect(scene('The branch after the rollback').map((line) => line.trimEnd())).toEqual(before.slice(1))
})

test('EX-05 the tutorial shows the tasks as they are', () => {
  const tasks = readText('examples/orders-etl/tasks.ts')
  const shown = [...readText('docs/tutorials/publish-from-a-task.md').matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
  expect(shown.length).toBeGreaterThan(2)
  for (const [, code] of shown) expect(tasks).toContain(code)
})

test('EX-05 the commands of the tutorial publish a day, and nothing the second time', async () => {
  const server = await startEmbeddedLakefs()
  try {
    const run = async (program: string, ...args: readonly string[]): Promise<string> => {
      const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
        cwd: PROJECT_ROOT,
        env: {
          PATH: process.env.PATH,
          LAKEFS_ENDPOINT: server.url,
          LAKEFS_ACCESS_KEY_ID: server.accessKeyId,
          LAKEFS_SECRET_ACCESS_KEY: server.secretAccessKey,
        },
        timeout: DEMO_MS,
      })
      return stdout.replace(/ +/g, ' ')
    }
    expect(await run(PREPARE)).toBe('made repository orders\n')
    expect(await run(PREPARE)).toBe('repository orders is there already\n')
    const page = readText('docs/tutorials/publish-from-a-task.md')
    const commands = [...page.matchAll(/^npx perago (run .*) --params '(.*)'$/gm)]
    expect(commands).toHaveLength(4)
    const told: string[] = []
    for (const [, words, params] of commands)
      told.push(await run('dist/cli/main.js', ...words!.split(' '), '--params', params!))
    expect(told.map((text) => text.split('\n')[0])).toEqual([
      'orders.ingest published',
      'orders.validate published',
      'orders.aggregate published',
      'orders.validate nothing changed, nothing to publish',
    ])
    const [, result] = /^result (\{"day".*)$/m.exec(page.replace(/ +/g, ' ')) ?? []
    expect(told[2]).toContain(`result ${result ?? '(none)'}\n`)
  } finally {
    await server.close()
  }
})
