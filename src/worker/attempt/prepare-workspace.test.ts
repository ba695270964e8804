// Goal: a body does not work for what cannot be published, and what passes in time is not taken for what stays.
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  filesTask,
  inputFor,
  MAIN,
  openAttemptWorld,
  type AttemptWorld,
} from '../../../test/support/worker/world.ts'
import { MissingError, UnavailableError } from '../../base/errors.ts'
import type { CommitRef } from '../../base/ids.ts'
import type { VersionedRepo } from '../../publication/ports.ts'

let world: AttemptWorld
let directory: string
let ran: boolean

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-prepare-'))
  world = await openAttemptWorld(directory)
  ran = false
})
afterEach(async () => {
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

const body = (): { rows: number } => {
  ran = true
  return { rows: 0 }
}
const writing = filesTask({ body })
const reading = filesTask({ body, workspace: { prefix: 'orders', readOnly: true } })

const moveTwice = (): void => {
  world.repo.commitDirectly(MAIN, { 'orders/x.csv': '1' })
  world.repo.commitDirectly(MAIN, { 'orders/y.csv': '2' })
}

/** The repository of the world, with some requests answered otherwise. */
const served = (changes: Partial<VersionedRepo>): { openRepo: () => VersionedRepo } => ({
  openRepo: () => ({ ...world.repo.connect('worker'), ...changes }),
})
const gone = (): never => {
  throw new MissingError('lakefs/no-such-repository', 'repository scripted: it does not exist')
}
const never = {
  [Symbol.asyncIterator]: () => ({
    next: () => Promise.reject<IteratorResult<never>>(new Error('not listed')),
  }),
}

describe('a branch on which nothing can be published', () => {
  test('WK-278 a branch that has moved on is refused for good before the body, and says where it is', async () => {
    moveTwice()
    const { result, evidence } = await world.run(writing)
    expect([ran, result.status, evidence]).toEqual([false, 'FAILED_WITH_TERMINAL_ERROR', undefined])
    const head = world.repo.head(MAIN)
    expect(result.reasonForIncompletion).toMatch(/; the body did not run \[fences\/publish-refused\]/)
    expect(result.reasonForIncompletion).toContain(`Start again from the current head ${head}`)
    expect(world.repo.calls.filter(({ writes }) => writes)).toEqual([])
  })

  test('WK-278 a branch that does not exist is refused for good before the body', async () => {
    const workspace = { repository: 'scripted', branch: 'mian', refType: 'commit', ref: world.inputRef }
    const { result } = await world.run(writing, { attempt: { input: { workspace, params: { day: 'x' } } } })
    expect([ran, result.status]).toEqual([false, 'FAILED_WITH_TERMINAL_ERROR'])
    expect(result.reasonForIncompletion).toMatch(
      /there is no such branch; .* Create the branch "mian", or correct/,
    )
  })

  test('WK-276 WK-278 a task that adopts is refused by the look for its own publication, without another request', async () => {
    moveTwice()
    const adopting = filesTask({ body, controls: { onRetry: 'adopt' } })
    const { result } = await world.run(adopting)
    expect([ran, result.status]).toEqual([false, 'FAILED_WITH_TERMINAL_ERROR'])
    expect(result.reasonForIncompletion).toContain('the body did not run [fences/publish-refused]')
    // Of these the second looks for an own publication below the head.
    expect(world.repo.calls.filter(({ request }) => request === 'log')).toHaveLength(2)
  })

  test('WK-278 the layout ends at once when the branch is refused, and leaves nothing behind', async () => {
    moveTwice()
    const { result, cleanUp } = await world.run(writing, {
      ...served({
        list: (_, options) => ({
          [Symbol.asyncIterator]: () => ({
            next: () =>
              new Promise((__, reject) => {
                options?.signal?.addEventListener('abort', () => reject(new Error('cut')))
              }),
          }),
        }),
      }),
    })
    expect(result.reasonForIncompletion).toContain('[fences/publish-refused]')
    await cleanUp()
    const left = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.csv'))
    expect(left).toEqual([])
  })

  test('WK-279 where a refused publication may be tried again, so may this one', async () => {
    moveTwice()
    const { result } = await world.run(writing, { publishRefused: 'FAILED' })
    expect([ran, result.status]).toEqual([false, 'FAILED'])
  })

  test('WK-280 a task that only reads asks for no branch', async () => {
    moveTwice()
    world.repo.model.branches.set('other' as never, world.repo.model.branches.get(MAIN)!)
    world.repo.model.branches.delete(MAIN)
    expect((await world.run(reading)).result.status).toBe('COMPLETED')
    expect(world.steps).not.toContain('look-at-branch')
  })
})

describe('an input that names what does not exist', () => {
  test.each([
    ['writes', writing],
    ['only reads', reading],
  ])('WK-281 a missing repository ends a task that %s for good, before the body', async (_, task) => {
    const all = { log: gone, list: gone, readBranch: gone, readCommit: gone }
    const { result } = await world.run(task, served(all))
    expect([ran, result.status]).toEqual([false, 'FAILED_WITH_TERMINAL_ERROR'])
    expect(result.reasonForIncompletion).toMatch(
      /repository "scripted": there is no such repository; the body did not run .*\[worker\/missing-input\]/,
    )
  })

  test('WK-281 a missing commit ends a task that only reads for good, before the body', async () => {
    const { result } = await world.run(reading, { attempt: { input: inputFor('c'.repeat(64) as CommitRef) } })
    expect([ran, result.status]).toEqual([false, 'FAILED_WITH_TERMINAL_ERROR'])
    expect(result.reasonForIncompletion).toMatch(/there is no such commit; .*\[worker\/missing-input\]/)
  })
})

describe('a repository that does not answer', () => {
  test('WK-282 a look that gets no answer fails the attempt as any request does, and the body does not run', async () => {
    const away = (): never => {
      throw new UnavailableError('lakefs/unreachable', 'no lakeFS')
    }
    const { result, error } = await world.run(writing, served({ log: away }))
    expect([ran, result.status]).toEqual([false, 'FAILED'])
    expect(error).toMatchObject({ code: 'lakefs/unreachable' })
  })

  test('WK-282 an error of the layout is told as it is', async () => {
    const { result } = await world.run(writing, served({ list: () => never }))
    expect([ran, result.status]).toEqual([false, 'FAILED'])
    expect(result.reasonForIncompletion).toContain('not listed')
    expect(existsSync(directory)).toBe(true)
  })
})
