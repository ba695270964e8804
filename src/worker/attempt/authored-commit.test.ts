// Goal: a commit says what its author wants it to say, and what perago says of it stays true.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filesTask, MAIN, openAttemptWorld, type AttemptWorld } from '../../../test/support/worker/world.ts'
import { createRedactor } from '../../base/redaction.ts'
import type { CommitRecord } from '../../publication/ports.ts'
import { readLedger } from '../../publication/ledger.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'

let directory: string
let world: AttemptWorld
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-commit-'))
  world = await openAttemptWorld(directory)
})
afterEach(async () => {
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

type Commit = Parameters<typeof filesTask>[0]['commit']

function task(commit: Commit): TaskDefinition {
  return filesTask({
    ...(commit !== undefined && { commit }),
    body: async ({ workspace }) => {
      await writeFile(workspace.path('a.csv'), 'changed')
      return { rows: 3 }
    },
  })
}

async function head(): Promise<CommitRecord> {
  const found = await world.repo.connect('test').readCommit(world.repo.head(MAIN)!)
  return found!
}

test('WK-329 PU-220 message and metadata of the author are on the commit, beside those of perago', async () => {
  const commit: Commit = {
    message: ({ params, result, attempt }) => `${result.rows} rows of ${params.day}, by ${attempt.taskName}`,
    metadata: ({ result }) => ({ rows: result.rows, source: 'supplier', isWhole: true }),
  }
  await world.run(task(commit))
  const { message, metadata } = await head()
  expect(message).toBe('3 rows of 2026-01-01, by orders.clean')
  expect(metadata).toMatchObject({
    ...{ rows: '3', source: 'supplier', isWhole: 'true' },
    ...{ 'publish.task': 'clean', 'publish.task_name': 'orders.clean', 'publish.workflow_name': 'daily' },
  })
  expect(readLedger(metadata)).toMatchObject({ kind: 'entry', ledger: { result: { value: { rows: 3 } } } })
})

test('PU-220 without the author the message says task and attempt', async () => {
  await world.run(task(undefined))
  expect((await head()).message).toBe('Publish clean, attempt 0')
})

test.each<[string, unknown, RegExp]>([
  ['a key of perago', { metadata: { 'publish.run': 'x' } }, /publish\.run is a name that perago keeps/],
  ['no text', { metadata: { rows: null } }, /metadata\.rows must be a text/],
  ['an odd key', { metadata: { 'a b': 'x' } }, /must be named by letters/],
  ['too long a value', { metadata: { a: 'x'.repeat(1_001) } }, /longer than 1000/],
  [
    'too many keys',
    { metadata: Object.fromEntries([...Array(21).keys()].map((n) => [`k${n}`, 'x'])) },
    /21 keys/,
  ],
  ['an empty message', { message: ' ' }, /message must be a text/],
  ['a misspelt key', { mesage: 'x' }, /did you mean "message"/],
])('WK-330 what can never be written is refused when the task is declared: %s', (_, commit, expected) => {
  expect(() => task(commit as Commit)).toThrow(expected)
})

test.each<[string, Commit, RegExp]>([
  ['gives a key of perago', { metadata: () => ({ 'publish.branch': 'x' }) }, /publish\.branch is a name/],
  [
    'throws',
    {
      message: () => {
        throw new Error('no day')
      },
    },
    /no day \[worker\/invalid-commit\].* at authored-commit\.test\.ts:\d+/,
  ],
])('WK-330 nothing is published where a function of it %s', async (_, commit, expected) => {
  const { result } = await world.run(task(commit))
  expect([result.status, world.repo.head(MAIN)]).toEqual(['FAILED', world.inputRef])
  expect(result.reasonForIncompletion).toMatch(expected)
})

test('WK-330 a long message is cut, and no secret is written', async () => {
  const redactor = createRedactor(['hunter2-hunter2'])
  const commit: Commit = {
    message: `hunter2-hunter2 ${'x'.repeat(2_000)}`,
    metadata: { note: 'hunter2-hunter2' },
  }
  await world.run(task(commit), { redactor })
  const { message, metadata } = await head()
  expect(message.length).toBeLessThanOrEqual(1_000)
  expect([message, metadata['note']]).toEqual([expect.stringMatching(/^\[redacted\] x+$/), '[redacted]'])
})
