import { expect } from 'vitest'
import type { CommitRecordRequest } from '../../../src/publication/ports.ts'
import {
  all,
  branchFrom,
  commitOf,
  headOf,
  kindOf,
  MAIN,
  NO_SUCH_COMMIT,
  pathsAt,
  type Case,
} from './world.ts'

export const RECORD_CASES = {
  'LC-57 a commit record has the id it says it has, and is written once': async ({ repo }) => {
    const first = await headOf(repo, MAIN)
    const { ref, metaRange } = await commitOf(repo, MAIN, { a: '1' })
    if (metaRange === '') throw new Error('a tree was committed')
    const record: CommitRecordRequest = {
      parents: [ref, first, ref],
      message: 'Füge\nan',
      committer: 'perago',
      metadata: { b: '2', a: '1', '\u{1f4be}': 'x', '\u{ffff}': 'y', ä: 'ö' },
      metaRange,
      createdAt: new Date('2026-02-03T04:05:06Z'),
      generation: 3,
    }
    const written = await repo.writeCommitRecord(record)
    expect(await repo.writeCommitRecord(record)).toBe(written)
    expect(await repo.readCommit(written)).toEqual({ ref: written, ...record })
    const bare = await repo.writeCommitRecord({ ...record, metadata: {}, parents: [] })
    expect(bare).not.toBe(written)
    expect(await repo.readCommit(bare)).toMatchObject({ parents: [], metadata: {} })
    expect(await headOf(repo, MAIN)).toBe(ref)
  },

  'LC-58 claim and collapse: a branch goes from B to C in two steps nobody can get between': async ({
    repo,
  }) => {
    const inputRef = (await commitOf(repo, MAIN, { base: '1' })).ref
    const staging = await branchFrom(repo, 'staging', inputRef)
    const staged = await commitOf(repo, staging, { c: '1' })
    const replaced = await commitOf(repo, MAIN, { b: '1' })
    if (staged.metaRange === '') throw new Error('a tree was committed')

    const claim = await repo.writeCommitRecord({
      parents: [replaced.ref, replaced.ref, staged.ref],
      message: 'claim',
      committer: 'perago',
      metadata: { 'perago.run': 'r-3' },
      metaRange: staged.metaRange,
      createdAt: new Date('2026-02-03T04:05:06Z'),
      generation: Math.max(replaced.generation, staged.generation) + 1,
    })
    const claimed = await repo.merge({ source: claim, into: MAIN, message: 'claimed' })
    if (!claimed.merged) throw new Error(claimed.reason)
    const merge = await repo.readCommit(claimed.ref)
    expect(merge).toMatchObject({ parents: [replaced.ref, claim], metaRange: staged.metaRange })

    const collapse = { branch: MAIN, expression: 'main^2^3' }
    expect(await repo.resetToExpression(collapse)).toEqual({ moved: true })
    expect(await headOf(repo, MAIN)).toBe(staged.ref)
    expect(await pathsAt(repo, MAIN)).toEqual(['base', 'c'])
    const log = await all(repo.log(MAIN, { limit: 2 }))
    expect(log.map((commit) => commit.ref)).toEqual([staged.ref, inputRef])
    // A second one, late or by somebody else, finds nothing to do.
    expect(await repo.resetToExpression(collapse)).toEqual({ moved: false })
    expect(await headOf(repo, MAIN)).toBe(staged.ref)
  },

  'LC-59 an expression that leads nowhere moves nothing': async ({ repo }) => {
    const { ref } = await commitOf(repo, MAIN, { a: '1' })
    expect(await repo.resetToExpression({ branch: MAIN, expression: 'main^2' })).toEqual({ moved: false })
    expect(await kindOf(repo.resetToExpression({ branch: MAIN, expression: NO_SUCH_COMMIT }))).toBe('missing')
    expect(await headOf(repo, MAIN)).toBe(ref)
    expect(await repo.resetToExpression({ branch: MAIN, expression: 'main~1' })).toEqual({ moved: true })
    expect(await headOf(repo, MAIN)).not.toBe(ref)
  },
} as const satisfies Record<string, Case>
