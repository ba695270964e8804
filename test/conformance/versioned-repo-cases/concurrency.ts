import { expect } from 'vitest'
import {
  all,
  branchFrom,
  bytes,
  commitOf,
  headOf,
  kindOf,
  MAIN,
  pathsAt,
  put,
  readText,
  type Case,
} from './world.ts'

export const CONCURRENCY_CASES = {
  'LC-60 of racing branch creations exactly one made it': async ({ repo }) => {
    const from = await headOf(repo, MAIN)
    const { ref } = await commitOf(repo, MAIN, { a: '1' })
    const sources = [from, ref, from, ref]
    const branch = await branchFrom(repo, 'other', from)
    await repo.deleteBranch(branch)
    const outcomes = await Promise.all(sources.map((source) => repo.createBranch({ branch, from: source })))
    const winners = sources.filter((_, index) => outcomes[index]?.created === true)
    expect(winners).toHaveLength(1)
    expect(await headOf(repo, branch)).toBe(winners[0])
  },

  'LC-61 racing merges of different files all land, each on the head it was applied to': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { shared: '1' })).ref
    const sources = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const side = await branchFrom(repo, `side-${name}`, base)
        return (await commitOf(repo, side, { [name]: '1' })).ref
      }),
    )
    const outcomes = await Promise.all(sources.map((source) => repo.merge({ source, into: MAIN })))
    expect(outcomes.every((outcome) => outcome.merged)).toBe(true)
    expect(await pathsAt(repo, MAIN)).toEqual(['a', 'b', 'c', 'd', 'shared'])
    const merges = await all(repo.log(MAIN, { firstParent: true, limit: 4 }))
    expect(new Set(merges.map((merge) => merge.parents[1]))).toEqual(new Set(sources))
    expect(merges.at(-1)?.parents[0]).toBe(base)
  },

  'LC-62 racing commits on one branch lose nothing that was acknowledged': async ({ repo }) => {
    const names = Array.from({ length: 6 }, (_, index) => `file-${index}`)
    await Promise.all(
      names.map(async (name) => {
        await put(repo, MAIN, name, name)
        // Another racer's commit may have taken this file along: then there is nothing left to commit.
        const outcome = await repo.commit({ branch: MAIN, message: name })
        if (!outcome.committed) expect(outcome.reason).toBe('nothing-to-commit')
      }),
    )
    const head = await headOf(repo, MAIN)
    expect(await pathsAt(repo, head)).toEqual(names)
    for (const name of names) expect(await readText(repo, head, name)).toBe(name)
  },

  'LC-63 a protected branch takes merges and nothing else': async ({ repo, protect }) => {
    const base = (await commitOf(repo, MAIN, { a: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    const source = (await commitOf(repo, side, { b: '1' })).ref
    await protect('main')
    expect(await kindOf(repo.write({ branch: MAIN, path: 'x', body: bytes('x') }))).toBe('refused')
    expect(await kindOf(repo.deleteObjects(MAIN, ['a']))).toBe('refused')
    expect(await kindOf(repo.commit({ branch: MAIN, message: 'x', allowEmpty: true }))).toBe('refused')
    expect(await kindOf(repo.moveBranch({ branch: MAIN, expectedHead: base, to: source }))).toBe('refused')
    expect(await headOf(repo, MAIN)).toBe(base)
    expect(await repo.merge({ source, into: MAIN })).toMatchObject({ merged: true })
    expect(await pathsAt(repo, MAIN)).toEqual(['a', 'b'])
  },
} as const satisfies Record<string, Case>
