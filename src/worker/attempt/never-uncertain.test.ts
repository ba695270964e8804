// Goal: an attempt is COMPLETED only when what it says was confirmed, whatever fails and whenever.
// Method: every request of a publication fails in turn, in each way, once or from then on; so does each fence reading.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StillClock } from '../../../test/support/core-world.ts'
import { logOf } from '../../../test/support/publication-world.ts'
import {
  filesTask,
  inputFor,
  MAIN,
  openAttemptWorld,
  recordOf,
  type AttemptChanges,
  type AttemptWorld,
} from '../../../test/support/worker/world.ts'
import { UnavailableError } from '../../base/errors.ts'
import type { CommitRef } from '../../base/ids.ts'
import type { FreshAttempt } from '../../fences/attempt-snapshot.ts'
import { ScriptedRepo } from '../../testing/scripted-repo.ts'
import type { RepoFault } from '../../testing/scripted-world.ts'
import { readFreshAttempt } from './read-fresh-attempt.ts'
import type { AttemptOutcome } from './run-attempt.ts'

let directory: string
let world: AttemptWorld

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-uncertain-'))
  world = await openAttemptWorld(directory, new StillClock())
})
afterEach(async () => {
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

const task = filesTask({
  body: async ({ workspace }) => {
    await writeFile(workspace.path('a.csv'), 'changed')
    return { rows: 2 }
  },
})

interface Faulty {
  readonly repo: ScriptedRepo
  readonly inputRef: CommitRef
  readonly requests: () => number
}

/** The request with this number fails, or it and every one after it. */
function faultyRepo(fault: RepoFault, at: number, howLong: 'once' | 'for good'): Faulty {
  let requests = -1
  const repo = new ScriptedRepo({
    script: {
      arrive: () => {
        requests += 1
        return Promise.resolve(requests === at || (howLong === 'for good' && requests > at) ? fault : 'none')
      },
      answer: () => Promise.resolve(),
      // Long after the attempt.
      later: () => undefined,
    },
  })
  return { repo, inputRef: repo.commitDirectly(MAIN, { 'orders/a.csv': 'a' }), requests: () => requests + 1 }
}

function publishIn({ repo, inputRef }: Faulty, more: AttemptChanges = {}): Promise<AttemptOutcome> {
  return world.run(task, {
    openRepo: () => repo.connect('worker'),
    attempt: { input: inputFor(inputRef) },
    ...more,
  })
}

/** Completed: the branch stands where the result says, directly above the input, and the worker was shown so. */
function expectHonest({ repo, inputRef }: Faulty, { result }: AttemptOutcome, what: string): void {
  if (result.status !== 'COMPLETED') {
    expect(result.output, what).toEqual({})
    return
  }
  const head = repo.head(MAIN)
  expect(result.output, what).toMatchObject({ workspace: { ref: head } })
  expect(repo.model.commit(head!)?.parents, what).toEqual([inputRef])
  const shown = repo.readings.some((reading) => reading.client === 'worker' && reading.head === head)
  expect(shown, what).toBe(true)
}

test.each(['once', 'for good'] as const)(
  'F-63 whichever request to the repository fails %s, an attempt is COMPLETED only when it was confirmed',
  async (howLong) => {
    const calm = faultyRepo('none', -1, 'once')
    expect((await publishIn(calm)).result.status).toBe('COMPLETED')
    const statuses = new Set<string>()
    for (const fault of ['refuse', 'lose-request', 'lose-answer', 'late'] as const) {
      for (let at = 0; at <= calm.requests(); at += 1) {
        const faulty = faultyRepo(fault, at, howLong)
        const outcome = await publishIn(faulty)
        statuses.add(outcome.result.status)
        expectHonest(faulty, outcome, `request ${String(at)}: ${fault}`)
      }
    }
    // Both happen, or the test would prove nothing.
    expect([...statuses].sort()).toEqual(['COMPLETED', 'FAILED'])
  },
  120_000,
)

test('F-63 whichever reading of the attempt fails, the attempt is not COMPLETED and the branch stands still', async () => {
  let readings = 0
  const calm = faultyRepo('none', -1, 'once')
  const readUntil =
    (last: number) =>
    (polled: Parameters<NonNullable<AttemptChanges['readFresh']>>[0]): Promise<FreshAttempt> => {
      readings += 1
      if (readings > last)
        return Promise.reject(new UnavailableError('test/away', 'read the task: no answer'))
      return Promise.resolve({ task: { ...polled, status: 'IN_PROGRESS' }, workflow: 'RUNNING' })
    }
  expect((await publishIn(calm, { readFresh: readUntil(Infinity) })).result.status).toBe('COMPLETED')
  expect(readings).toBeGreaterThan(1)
  // Readings after the branch write only clean up.
  for (let last = 0; last < 2; last += 1) {
    readings = 0
    const faulty = faultyRepo('none', -1, 'once')
    const { result } = await publishIn(faulty, { readFresh: readUntil(last) })
    expect(result).toMatchObject({ status: 'FAILED', output: {} })
    expect(faulty.repo.head(MAIN)).toBe(faulty.inputRef)
  }
})

test("F-37 the commit that is laid out and published on is the one of the task's input, and no other", async () => {
  const first = world.inputRef
  let second = first
  const seen: string[] = []
  const reading = filesTask({
    body: async ({ workspace }) => {
      seen.push(await readFile(workspace.path('a.csv'), 'utf8'))
      if (second === first) {
        world.repo.commitDirectly(MAIN, { 'orders/a.csv': 'between' })
        second = world.repo.commitDirectly(MAIN, { 'orders/a.csv': 'later' })
      }
      await writeFile(workspace.path('b.csv'), 'new')
      return { rows: 1 }
    },
  })
  // While the first body runs the branch moves on to the second, which the next input names.
  const refused = await world.run(reading, { attempt: { taskId: 'task-1' as never, input: inputFor(first) } })
  const published = await world.run(reading, {
    attempt: { taskId: 'task-2' as never, input: inputFor(second) },
  })
  expect(seen).toEqual(['a', 'later'])
  expect(refused.result.status).not.toBe('COMPLETED')
  expect(published.result.status).toBe('COMPLETED')
  expect((await logOf(world.repo.connect('test')))[0]?.parents).toEqual([second])
})

test('F-35 a refused publication moves no branch but its own staging branch, no tag, and gives no output ref', async () => {
  const tags = new Map(world.repo.model.tags)
  let head: CommitRef | undefined
  const overtaken = filesTask({
    body: async ({ workspace }) => {
      world.repo.commitDirectly(MAIN, { 'orders/a.csv': 'theirs' })
      head = world.repo.commitDirectly(MAIN, { 'orders/a.csv': 'theirs again' })
      await writeFile(workspace.path('a.csv'), 'changed')
      return { rows: 2 }
    },
  })
  const { result, publication } = await world.run(overtaken)
  expect(result.status).not.toBe('COMPLETED')
  expect(result.output).toEqual({})
  expect(publication).toBeUndefined()
  expect(world.repo.head(MAIN)).toBe(head)
  expect(new Map(world.repo.model.tags)).toEqual(tags)
  const moved = world.repo.updates.filter(({ client }) => client === 'worker')
  expect(moved.filter(({ branch }) => branch === MAIN)).toEqual([])
})

test('F-03 a reading for the attempt fence asks for the task once and for its workflow once, and for nothing else', async () => {
  const asked: string[] = []
  const record = recordOf()
  const queue = {
    readTask: (id: string) => (asked.push(`task ${id}`), Promise.resolve(record)),
    readWorkflowStatus: (id: string) => (asked.push(`workflow ${id}`), Promise.resolve('RUNNING' as const)),
  }
  expect(await readFreshAttempt(queue, record)).toEqual({ task: record, workflow: 'RUNNING' })
  expect(asked).toEqual(['task task-1', 'workflow workflow-1'])
  await expect(
    readFreshAttempt({ ...queue, readWorkflowStatus: () => Promise.reject(new Error('away')) }, record),
  ).rejects.toThrow('away')
})
