// The pages on the worker say what the code does, and the guide shows a module that works.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { STATUS_OF_CODE } from '../src/worker/results/failure-map.ts'
import { loadTasks } from '../src/worker/bodies/load-tasks.ts'
import { DEFAULT_CONTROLS } from '../src/tasks/task-controls.ts'
import { branchName } from '../src/base/ids.ts'
import { filesOf } from './support/publication-world.ts'
import { PROJECT_ROOT, readText } from './support/source-tree.ts'
import { openAttemptWorld } from './support/worker/world.ts'

/** The rows of the table below a heading. */
function tableOf(page: string, heading: string): string[][] {
  const part = readText(page).split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return part
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
}

test('WK-20 the page on the worker shows the table of failures', () => {
  const shown = tableOf('docs/concepts/worker.md', 'What the queue is told').map(([code, status]) => [
    code,
    status,
  ])
  expect(Object.fromEntries(shown)).toEqual(STATUS_OF_CODE)
})

test('WK-03 the page on task definitions shows every control with its default', () => {
  const flat = Object.entries(DEFAULT_CONTROLS).flatMap(
    ([name, value]: [string, unknown]): [string, unknown][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).map(([inner, own]: [string, unknown]) => [`${name}.${inner}`, own])
        : [[name, value]],
  )
  const shown = tableOf('docs/reference/task-definition.md', 'Controls').map(([name, value]) => [name, value])
  expect(Object.fromEntries(shown)).toEqual(
    Object.fromEntries(
      flat.map(([name, value]) => [
        name,
        typeof value === 'number' || typeof value === 'string' ? String(value) : 'none',
      ]),
    ),
  )
})

test('WK-140 the guide shows a module as it is, and its tasks do what it says', async () => {
  const example = 'examples/write-a-task/tasks.ts'
  const shown = [...readText('docs/guides/write-a-task.md').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
    ([, code]) => code,
  )
  expect(shown).toEqual([readText(example)])

  const [clean, count] = await loadTasks(join(PROJECT_ROOT, example))
  if (clean === undefined || count === undefined) throw new Error('there should be two tasks')
  const directory = await mkdtemp(join(tmpdir(), 'perago-guide-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const world = await openAttemptWorld(directory)
  onTestFinished(() => world.root.close())
  const main = branchName('main')
  const inputOf = (ref = world.repo.head(main)): { input: never } => ({
    input: {
      workspace: { repository: 'scripted', branch: 'main', refType: 'commit', ref },
      params: {},
    } as never,
  })

  const bad = await world.run(clean, { attempt: inputOf() })
  expect(bad.result.reasonForIncompletion).toContain('[workspace/pre-guardrail]')
  world.repo.commitDirectly(main, { 'orders/raw.csv': 'id\n1\n' })
  const terminal = await world.run(clean, { attempt: inputOf() })
  expect(terminal.result).toMatchObject({ status: 'FAILED_WITH_TERMINAL_ERROR' })
  world.repo.commitDirectly(main, { 'orders/raw.csv': 'id,currency\n1,EUR\n2,USD\n3,EUR\n' })
  const cleaned = await world.run(clean, { attempt: inputOf() })
  expect(cleaned.result).toMatchObject({ status: 'COMPLETED', output: { result: { rows: 2 } } })
  expect((await filesOf(world.repo.connect('test')))['orders/clean.csv']).toBe('id,currency\n1,EUR\n3,EUR\n')
  const counted = await world.run(count, { attempt: inputOf() })
  expect(counted.result).toMatchObject({ status: 'COMPLETED', output: { result: { lines: 3 } } })
})
