// Goal: the next task of a chain finds the files where the last one left them, and only when they are the commit it reads.
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { filesOf } from '../../../test/support/publication-world.ts'
import {
  filesTask,
  inputFor,
  openAttemptWorld,
  type AttemptWorld,
} from '../../../test/support/worker/world.ts'
import {
  openMappedWriter,
  whyNoMappedWriter,
  type MappedWriter,
} from '../../../test/support/workspace/mapped-writer.ts'
import { systemClock } from '../../base/clock.ts'
import { UncertainError } from '../../base/errors.ts'
import { commitRef, type CommitRef } from '../../base/ids.ts'
import { silentLogger } from '../../base/logger.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import { cacheDirectoryOf, ContentCache } from '../../workspace/cache/content-cache.ts'
import { listEntries } from '../../workspace/cache/cache-files.ts'
import { requireFile } from '../../workspace/comparing/guardrails.ts'
import { TerminalError } from '../../tasks/author-errors.ts'
import type { AttemptOutcome } from './run-attempt.ts'
import type { TaskDefinition, WorkspaceBodyContext } from '../../tasks/task-definition.ts'
import { WarmDirectories } from './warm-directories.ts'

let world: AttemptWorld
let directory: string
let warm: WarmDirectories
let cache: ContentCache

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-attempt-'))
  world = await openAttemptWorld(directory)
  warm = new WarmDirectories({ root: world.root, clock: systemClock, logger: silentLogger })
  cache = new ContentCache({ root: directory, maxBytes: 10_000_000 })
})
afterEach(async () => {
  await warm.close()
  await cache.close()
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

type Context = Pick<WorkspaceBodyContext<unknown>, 'workspace'>
const write =
  (name: string, content: string) =>
  async ({ workspace }: Context): Promise<{ rows: number }> => {
    await writeFile(workspace.path(name), content)
    return { rows: 1 }
  }
const nothing = (): { rows: number } => ({ rows: 0 })

interface Ran {
  readonly outcome: AttemptOutcome
  readonly outputRef: CommitRef
  readonly isWarm: boolean
  readonly cachedFiles: number
  readonly reads: number
}

let tasks = 0
async function run(
  task: TaskDefinition,
  ref: CommitRef,
  changes: Parameters<AttemptWorld['run']>[1] = {},
): Promise<Ran> {
  world.events.length = 0
  const before = world.repo.calls.length
  const attempt = { taskId: `task-${++tasks}` as TaskId, input: inputFor(ref) }
  const outcome = await world.run(task, { warm, cache, attempt, ...changes })
  await outcome.cleanUp()
  await cache.keepAll('/nowhere', { count: 0 } as never)
  const laidOut = world.events.find(({ step }) => step === 'lay-out')?.details ?? {}
  const output = outcome.result.output as { readonly workspace?: { readonly ref: string } }
  return {
    outcome,
    outputRef: commitRef(output.workspace?.ref ?? ref),
    isWarm: laidOut['isWarm'] === true,
    cachedFiles: Number(laidOut['cachedFiles']),
    reads: world.repo.calls.slice(before).filter(({ request }) => request === 'read' || request === 'list')
      .length,
  }
}

const aside = async (): Promise<readonly string[]> => {
  const path = join(directory, 'workers', world.root.token, 'aside')
  return existsSync(path) ? readdir(path) : []
}

describe('a chain of tasks', () => {
  test('WS-70 the second task reads nothing of the repository and sees what the first one published', async () => {
    const first = await run(filesTask({ body: write('b.csv', 'by the first') }), world.inputRef)
    expect(first).toMatchObject({ isWarm: false, reads: 2 })
    let seen: string[] = []
    const body = async ({ workspace }: Context): Promise<{ rows: number }> => {
      seen = (await readdir(workspace.dir)).sort()
      await writeFile(workspace.path('c.csv'), await readFile(workspace.path('b.csv')))
      return { rows: 2 }
    }
    const second = await run(filesTask({ body }), first.outputRef)
    expect(second).toMatchObject({ isWarm: true, reads: 0 })
    expect(seen).toEqual(['a.csv', 'b.csv'])
    expect(await filesOf(world.repo.connect('test'))).toEqual({
      'orders/a.csv': 'a',
      'orders/b.csv': 'by the first',
      'orders/c.csv': 'by the first',
      'other/b.csv': 'b',
    })
    const third = await run(filesTask({ body: nothing }), second.outputRef)
    expect(third).toMatchObject({ isWarm: true, reads: 0, outputRef: second.outputRef })
  })

  test('WS-70 tasks that only read, or change nothing, pass it on', async () => {
    const readOnly = filesTask({ body: nothing, workspace: { prefix: 'orders', readOnly: true } })
    const writing = filesTask({ body: nothing })
    expect((await run(readOnly, world.inputRef)).isWarm).toBe(false)
    for (const task of [readOnly, writing, readOnly])
      expect((await run(task, world.inputRef)).isWarm).toBe(true)
    expect(await aside()).toHaveLength(1)
  })

  test('WS-70 with another view, or another commit, it is laid out anew', async () => {
    const first = await run(filesTask({ body: write('b.csv', 'x') }), world.inputRef)
    const wider = filesTask({ body: nothing, workspace: {} })
    expect((await run(wider, first.outputRef)).isWarm).toBe(false)
    expect((await run(filesTask({ body: nothing }), world.inputRef)).isWarm).toBe(false)
  })

  test.each(['here', 'aside'])(
    'WS-60 what one task fetched, another finds on the disk (%s)',
    async (where) => {
      const others = where === 'here' ? { warm: undefined as never } : {}
      await run(filesTask({ body: nothing, workspace: {} }), world.inputRef, others)
      const kept = []
      for await (const { name } of listEntries(cacheDirectoryOf(directory))) kept.push(name)
      expect(kept).toHaveLength(2)
      const second = await run(filesTask({ body: nothing }), world.inputRef, { warm: undefined as never })
      expect(second).toMatchObject({ isWarm: false, cachedFiles: 1 })
    },
  )
})

test('WS-208 what a mapping wrote after the upload, and no time shows, is not left to the next task', async (context) => {
  const missing = whyNoMappedWriter()
  if (missing !== undefined) context.skip(missing)
  let writer: MappedWriter | undefined
  const body = async ({ workspace }: Context): Promise<{ rows: number }> => {
    await writeFile(workspace.path('b.csv'), 'by the body')
    // By the body: only what started after it began is looked at.
    writer = await openMappedWriter()
    await writer.map(workspace.path('b.csv'))
    await writer.write('B')
    return { rows: 1 }
  }
  const repo = world.repo.connect('worker')
  const upload = repo.write.bind(repo)
  repo.write = async (...given) => {
    const written = await upload(...given)
    // To a page that it has written to already: neither size nor times change.
    await writer?.write('X')
    await writer?.end()
    return written
  }
  const first = await run(filesTask({ body }), world.inputRef, { openRepo: () => repo })
  let seen = ''
  const reading = async ({ workspace }: Context): Promise<{ rows: number }> => {
    seen = await readFile(workspace.path('b.csv'), 'utf8')
    return { rows: 0 }
  }
  expect((await run(filesTask({ body: reading }), first.outputRef)).isWarm).toBe(false)
  expect(seen).toBe('By the body')
})

describe('nothing is left to anybody', () => {
  const failing: Readonly<
    Record<string, () => readonly [TaskDefinition, Parameters<AttemptWorld['run']>[1]?]>
  > = {
    'after a body that failed': () => [
      filesTask({
        body: () => {
          throw new TerminalError('no')
        },
      }),
    ],
    'after a guardrail that does not hold': () => [
      filesTask({ body: nothing, workspace: { prefix: 'orders', post: [requireFile('missing')] } }),
    ],
    'after a read-only task that wrote': () => [
      filesTask({ body: write('b.csv', 'x'), workspace: { prefix: 'orders', readOnly: true } }),
    ],
    'after a stale attempt': () => [
      filesTask({ body: write('b.csv', 'x') }),
      {
        readFresh: (polled) =>
          Promise.resolve({ task: { ...polled, status: 'TIMED_OUT' }, workflow: 'RUNNING' }),
      },
    ],
    'after a publication that was refused': () => [
      filesTask({
        body: async (context) => {
          world.repo.commitDirectly('main' as never, { 'orders/foreign': '1' })
          world.repo.commitDirectly('main' as never, { 'orders/foreign': '2' })
          return write('b.csv', 'x')(context)
        },
      }),
    ],
  }

  test.each(Object.keys(failing))('WS-75 %s', async (when) => {
    const [task, changes] = failing[when]?.() ?? []
    const { outcome } = await run(task!, world.inputRef, changes)
    expect(outcome.result.status).not.toBe('COMPLETED')
    expect(await aside()).toEqual([])
    expect(await readdir(join(directory, 'workers', world.root.token, 'attempts'))).toEqual([])
  })

  test('WS-75 after a publication that is uncertain', async () => {
    const repo = world.repo.connect('worker')
    const lost = new UncertainError('lakefs/answer-lost', 'merge: the answer is lost', { read: 'the branch' })
    const openRepo = (): typeof repo => ({ ...repo, merge: () => Promise.reject(lost) })
    const { outcome } = await run(filesTask({ body: write('b.csv', 'x') }), world.inputRef, { openRepo })
    expect(outcome.result.status).not.toBe('COMPLETED')
    expect(await aside()).toEqual([])
  })

  test('WS-75 while a body still has a file of it open', async () => {
    const body = async ({ workspace }: Context): Promise<{ rows: number }> => {
      const { open } = await import('node:fs/promises')
      const file = await open(workspace.path('a.csv'), 'r+')
      onTestFinished(() => file.close())
      return { rows: 0 }
    }
    expect((await run(filesTask({ body }), world.inputRef)).outcome.result.status).toBe('COMPLETED')
    expect(await aside()).toEqual([])
  })
})
