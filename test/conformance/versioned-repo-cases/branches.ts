import { expect } from 'vitest'
import { branchName, repositoryName } from '../../../src/base/ids.ts'
import {
  all,
  branchFrom,
  commitOf,
  headOf,
  kindOf,
  MAIN,
  NO_SUCH_COMMIT,
  put,
  readText,
  type Case,
} from './world.ts'

export const BRANCH_CASES = {
  'LC-20 a branch is created once, where it was asked for': async ({ repo }) => {
    const from = await headOf(repo, MAIN)
    const branch = branchName('work_1-a')
    expect(await repo.createBranch({ branch, from })).toEqual({ created: true })
    expect(await repo.readBranch(branch)).toEqual({ branch, head: from })
    expect(await repo.createBranch({ branch, from })).toEqual({ created: false })
    expect(await kindOf(repo.createBranch({ branch: branchName('b'), from: NO_SUCH_COMMIT }))).toBe('missing')
    expect(await repo.readBranch(branchName('b'))).toBeUndefined()
  },

  'LC-21 a missing branch is told apart from a missing repository': async ({ repo, openOther }) => {
    expect(await repo.readBranch(branchName('nowhere'))).toBeUndefined()
    const other = openOther(repositoryName('no-such-repository-here'))
    expect(await kindOf(other.readBranch(MAIN))).toBe('missing')
    expect(await kindOf(other.deleteBranch(branchName('x')))).toBe('missing')
    expect(await kindOf(all(other.list(MAIN)))).toBe('missing')
    expect(await kindOf(other.deleteObjects(MAIN, ['x']))).toBe('missing')
  },

  'LC-22 branches are listed in order, page by page, hidden ones only when asked for': async ({ repo }) => {
    const from = await headOf(repo, MAIN)
    for (const name of ['a', 'b-2', 'b-1', 'b-3']) await branchFrom(repo, name, from)
    await repo.createBranch({ branch: branchName('b-hidden'), from, hidden: true })
    const names = async (request: Parameters<typeof repo.listBranches>[0]): Promise<string[]> =>
      (await all(repo.listBranches(request))).map((found) => found.branch)

    expect(await names({})).toEqual(['a', 'b-1', 'b-2', 'b-3', 'main'])
    expect(await names({ pageSize: 2 })).toEqual(['a', 'b-1', 'b-2', 'b-3', 'main'])
    expect(await names({ prefix: 'b-', pageSize: 1 })).toEqual(['b-1', 'b-2', 'b-3'])
    expect(await names({ prefix: 'b-', hidden: true })).toEqual(['b-1', 'b-2', 'b-3', 'b-hidden'])
    expect(await repo.readBranch(branchName('b-hidden'))).toMatchObject({ head: from })
  },

  'LC-23 a branch is deleted once, with what was uncommitted on it; the default branch never': async ({
    repo,
  }) => {
    const branch = await branchFrom(repo, 'short-lived', await headOf(repo, MAIN))
    await put(repo, branch, 'uncommitted')
    expect(await repo.deleteBranch(branch)).toEqual({ deleted: true })
    expect(await repo.readBranch(branch)).toBeUndefined()
    expect(await repo.deleteBranch(branch)).toEqual({ deleted: false })
    expect(await kindOf(repo.deleteBranch(MAIN))).toBe('refused')
    expect(await repo.readBranch(MAIN)).toBeDefined()
  },

  'LC-24 a branch moves only from where it was expected to stand': async ({ repo }) => {
    const first = await headOf(repo, MAIN)
    const second = (await commitOf(repo, MAIN, { a: '1' })).ref
    const third = (await commitOf(repo, MAIN, { a: '2' })).ref
    const branch = await branchFrom(repo, 'moving', second)

    const stale = await repo.moveBranch({ branch, expectedHead: first, to: third })
    expect(stale).toEqual({ moved: false, head: second })
    expect(await headOf(repo, branch)).toBe(second)
    // Forwards, backwards, and to where it stands.
    for (const [from, to] of [
      [second, third],
      [third, first],
      [first, first],
    ] as const) {
      const moved = await repo.moveBranch({ branch, expectedHead: from, to })
      expect(moved).toEqual({ moved: true, strength: 'soft' })
      expect(await headOf(repo, branch)).toBe(to)
    }
    expect(await readText(repo, third, 'a')).toBe('2')
    const nowhere = { branch: branchName('nowhere'), expectedHead: first, to: second }
    expect(await kindOf(repo.moveBranch(nowhere))).toBe('missing')
    const unknown = { branch, expectedHead: first, to: NO_SUCH_COMMIT }
    expect(await kindOf(repo.moveBranch(unknown))).toBe('missing')
    expect(await headOf(repo, branch)).toBe(first)
  },

  'LC-25 a tag is created once and stays where it is': async ({ repo }) => {
    const first = await headOf(repo, MAIN)
    const second = (await commitOf(repo, MAIN, { a: '1' })).ref
    expect(await repo.createTag({ tag: 'evidence-1.a_b', at: second })).toEqual({ created: true })
    expect(await repo.createTag({ tag: 'evidence-1.a_b', at: first })).toEqual({ created: false, at: second })
    expect(await kindOf(repo.createTag({ tag: 'evidence-2', at: NO_SUCH_COMMIT }))).toBe('missing')
  },
} as const satisfies Record<string, Case>
