import { expect } from 'vitest'
import { branchName } from '../../../src/base/ids.ts'
import {
  all,
  branchFrom,
  commitOf,
  headOf,
  kindOf,
  MAIN,
  NO_SUCH_COMMIT,
  pathsAt,
  put,
  type Case,
} from './world.ts'

export const COMMIT_CASES = {
  'LC-45 a commit carries its message and metadata and stands on the head': async ({ repo }) => {
    const before = await headOf(repo, MAIN)
    await put(repo, MAIN, 'a')
    const metadata = { 'perago.run': 'r-1', größe: 'ñ "quoted" \n two lines', empty: '' }
    const outcome = await repo.commit({ branch: MAIN, message: 'Zeile 1\nline 2 – 日本', metadata })
    if (!outcome.committed) throw new Error(outcome.reason)
    const { commit } = outcome
    expect(commit).toMatchObject({ message: 'Zeile 1\nline 2 – 日本', metadata, parents: [before] })
    expect(commit.generation).toBe(2)
    expect(commit.metaRange).not.toBe('')
    expect(await headOf(repo, MAIN)).toBe(commit.ref)
    expect(await repo.readCommit(commit.ref)).toEqual(commit)
    const first = await repo.readCommit(before)
    expect(first).toMatchObject({ parents: [], metaRange: '', generation: 1 })
    expect(await repo.readCommit(NO_SUCH_COMMIT)).toBeUndefined()
  },

  'LC-46 nothing to commit is said, not committed, unless an empty commit is wanted': async ({ repo }) => {
    const { ref: head } = await commitOf(repo, MAIN, { a: '1' })
    const nothing = { committed: false, reason: 'nothing-to-commit' }
    expect(await repo.commit({ branch: MAIN, message: 'none' })).toEqual(nothing)
    await put(repo, MAIN, 'a', '1')
    expect(await repo.commit({ branch: MAIN, message: 'the same again' })).toEqual(nothing)
    await put(repo, MAIN, 'b', '1')
    await repo.deleteObjects(MAIN, ['b'])
    expect(await repo.commit({ branch: MAIN, message: 'come and gone' })).toEqual(nothing)
    expect(await headOf(repo, MAIN)).toBe(head)

    const empty = await repo.commit({ branch: MAIN, message: 'empty', allowEmpty: true })
    expect(empty).toMatchObject({ committed: true, commit: { parents: [head] } })
    const nowhere = { branch: branchName('nowhere'), message: 'x' }
    expect(await kindOf(repo.commit(nowhere))).toBe('missing')
  },

  'LC-47 a known tree is committed on another head, unless the branch has uncommitted changes': async ({
    repo,
  }) => {
    const base = (await commitOf(repo, MAIN, { base: '1' })).ref
    const wanted = await commitOf(repo, MAIN, { wanted: '1' })
    const side = await branchFrom(repo, 'side', base)
    const other = (await commitOf(repo, side, { other: '1' })).ref
    if (wanted.metaRange === '') throw new Error('a tree was committed')
    const request = { branch: side, message: 'take over', sourceMetaRange: wanted.metaRange }

    await put(repo, side, 'uncommitted')
    expect(await repo.commit(request)).toEqual({ committed: false, reason: 'dirty-branch' })
    await repo.deleteObjects(side, ['uncommitted'])
    const outcome = await repo.commit({ ...request, metadata: { from: wanted.ref } })
    expect(outcome).toMatchObject({
      committed: true,
      commit: { parents: [other], metaRange: wanted.metaRange, metadata: { from: wanted.ref } },
    })
    expect(await pathsAt(repo, side)).toEqual(['base', 'wanted'])
  },

  'LC-48 the log goes from the newest back, as far as is asked': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { a: '0' }, { message: 'base' })).ref
    const side = await branchFrom(repo, 'side', base)
    const source = (await commitOf(repo, side, { b: '0' }, { message: 'side' })).ref
    const merged = await repo.merge({ source, into: MAIN, message: 'merge' })
    if (!merged.merged) throw new Error(merged.reason)
    await commitOf(repo, MAIN, { a: '1' }, { message: 'top' })
    const messages = async (options: Parameters<typeof repo.log>[1]): Promise<string[]> =>
      (await all(repo.log(MAIN, options))).map((commit) => commit.message)

    expect(await messages({})).toEqual(['top', 'merge', 'side', 'base', 'Repository created'])
    expect(await messages({ firstParent: true })).toEqual(['top', 'merge', 'base', 'Repository created'])
    expect(await messages({ limit: 2 })).toEqual(['top', 'merge'])
    expect(await messages({ limit: 0 })).toEqual([])
    expect(await messages({ firstParent: true, stopAt: base })).toEqual(['top', 'merge', 'base'])
    expect((await all(repo.log(source))).map((commit) => commit.message)).toEqual([
      'side',
      'base',
      'Repository created',
    ])
    expect(await kindOf(all(repo.log(branchName('nowhere'))))).toBe('missing')
  },

  'LC-49 a log longer than one page is read to its end': async ({ repo }) => {
    const added: string[] = []
    for (let number = 1; number <= 130; number++) {
      const made = await repo.commit({ branch: MAIN, message: `empty ${number}`, allowEmpty: true })
      if (!made.committed) throw new Error(made.reason)
      added.unshift(made.commit.ref)
    }
    const log = await all(repo.log(MAIN))
    expect(log).toHaveLength(131)
    expect(log.slice(0, 130).map((commit) => commit.ref)).toEqual(added)
  },
} as const satisfies Record<string, Case>
