// What lakeFS itself promises about commit records and expressions: a fence that no other writer can pass would rest on it.
// Most requests go to the server directly: no client offers them in this form.
import { expect } from 'vitest'
import type { CommitRef, MetaRangeId } from '../../../src/base/ids.ts'
import type { ClaimShape, CommitRecord, VersionedRepo } from '../../../src/publication/ports.ts'
import { commitIdOf } from '../../../src/lakefs/commit-id.ts'
import { CLAIM_WIDTH_MIN, CLAIM_WIDTHS } from '../../../src/publication/limits.ts'
import {
  all,
  askFor,
  branchFrom,
  commitOf,
  headOf,
  kindOf,
  MAIN,
  NO_SUCH_COMMIT,
  pathsAt,
  type Case,
  type OpenRepo,
} from './world.ts'

type CommitFields = Parameters<typeof commitIdOf>[0]

const COMMITTER = 'perago'
const CREATED_AT = new Date('2026-02-03T04:05:06Z')

async function writeRecord(
  world: OpenRepo,
  record: CommitFields & { readonly generation: number },
  status = 204,
): Promise<CommitRef> {
  const ref = commitIdOf(record)
  await askFor(world, status, 'POST', '/commits', {
    commit_id: ref,
    version: 1,
    committer: record.committer,
    message: record.message,
    metarange_id: record.metaRange,
    creation_date: Math.floor(record.createdAt.getTime() / 1000),
    parents: record.parents,
    generation: record.generation,
    metadata: record.metadata,
  })
  return ref
}

function resetTo(world: OpenRepo, expression: string, status: number): Promise<unknown> {
  const query = `ref=${encodeURIComponent(expression)}`
  return askFor(world, status, 'PUT', `/branches/${MAIN}/hard_reset?${query}`)
}

function treeOf(commit: { readonly metaRange: MetaRangeId | '' }): MetaRangeId {
  if (commit.metaRange === '') throw new Error('a tree was committed')
  return commit.metaRange
}

interface Replacement {
  /** The head, and what takes its place. */
  readonly replaced: CommitRecord
  readonly staged: CommitRecord
}

async function openReplacement(repo: VersionedRepo): Promise<Replacement & { readonly inputRef: CommitRef }> {
  const inputRef = (await commitOf(repo, MAIN, { base: '1' })).ref
  const staged = await commitOf(repo, await branchFrom(repo, 'staging', inputRef), { c: '1' })
  return { inputRef, staged, replaced: await commitOf(repo, MAIN, { b: '1' }) }
}

async function claimFor(
  repo: VersionedRepo,
  { replaced, staged }: Replacement,
): Promise<{ readonly claim: CommitRef; readonly merged: CommitRef }> {
  const claim = await repo.writeCommit({
    ...{ message: 'claim', committer: COMMITTER, metadata: { 'perago.run': 'r-5' } },
    parents: [replaced.ref, replaced.ref, staged.ref],
    metaRange: treeOf(staged),
    createdAt: CREATED_AT,
    generation: Math.max(replaced.generation, staged.generation) + 1,
  })
  const outcome = await repo.merge({ source: claim, into: MAIN, message: 'claimed' })
  if (!outcome.merged) throw new Error(outcome.reason)
  return { claim, merged: outcome.ref }
}

export const RECORD_CASES = {
  'LC-57 a commit record has the id it says it has, and is written once': async (world) => {
    const { repo } = world
    const first = await headOf(repo, MAIN)
    const commit = await commitOf(repo, MAIN, { a: '1' })
    const record = {
      parents: [commit.ref, first, commit.ref],
      message: 'Füge\nan',
      committer: COMMITTER,
      metadata: { b: '2', a: '1', '\u{1f4be}': 'x', '\u{ffff}': 'y', ä: 'ö' },
      metaRange: treeOf(commit),
      createdAt: CREATED_AT,
      generation: 3,
    }
    const written = await writeRecord(world, record)
    expect(await writeRecord(world, record, 409)).toBe(written)
    expect(await repo.readCommit(written)).toEqual({ ref: written, ...record })
    const bare = await writeRecord(world, { ...record, metadata: {}, parents: [] })
    expect(bare).not.toBe(written)
    expect(await repo.readCommit(bare)).toMatchObject({ parents: [], metadata: {} })
    expect(await headOf(repo, MAIN)).toBe(commit.ref)
  },

  'LC-58 claim and collapse: a branch goes from B to C in two steps nobody can get between': async (
    world,
  ) => {
    const { repo } = world
    const inputRef = (await commitOf(repo, MAIN, { base: '1' })).ref
    const staging = await branchFrom(repo, 'staging', inputRef)
    const staged = await commitOf(repo, staging, { c: '1' })
    const replaced = await commitOf(repo, MAIN, { b: '1' })

    const claim = await writeRecord(world, {
      parents: [replaced.ref, replaced.ref, staged.ref],
      message: 'claim',
      committer: COMMITTER,
      metadata: { 'perago.run': 'r-3' },
      metaRange: treeOf(staged),
      createdAt: CREATED_AT,
      generation: Math.max(replaced.generation, staged.generation) + 1,
    })
    const claimed = await repo.merge({ source: claim, into: MAIN, message: 'claimed' })
    if (!claimed.merged) throw new Error(claimed.reason)
    const merge = await repo.readCommit(claimed.ref)
    expect(merge).toMatchObject({ parents: [replaced.ref, claim], metaRange: staged.metaRange })

    await resetTo(world, 'main^2^3', 204)
    expect(await headOf(repo, MAIN)).toBe(staged.ref)
    expect(await pathsAt(repo, MAIN)).toEqual(['base', 'c'])
    const log = await all(repo.log(MAIN, { limit: 2 }))
    expect(log.map((commit) => commit.ref)).toEqual([staged.ref, inputRef])
    // A second one, late or by somebody else, finds nothing to do.
    await resetTo(world, 'main^2^3', 400)
    expect(await headOf(repo, MAIN)).toBe(staged.ref)
  },

  'LC-204 a commit without a branch is written once, and stands where its parents say': async ({ repo }) => {
    const first = await headOf(repo, MAIN)
    const commit = await commitOf(repo, MAIN, { a: '1' })
    const fields = {
      ...{ message: 'alone', committer: COMMITTER, metadata: { 'perago.run': 'r-4' } },
      ...{ parents: [commit.ref, first], metaRange: treeOf(commit), createdAt: CREATED_AT, generation: 3 },
    }
    const ref = await repo.writeCommit(fields)
    expect(await repo.writeCommit(fields)).toBe(ref)
    expect(await repo.readCommit(ref)).toEqual({ ref, ...fields })
    expect(await headOf(repo, MAIN)).toBe(commit.ref)
  },

  'LC-205 only a claim is collapsed, and only once; on a protected branch nothing is': async ({
    repo,
    protect,
  }) => {
    const { inputRef, replaced, staged } = await openReplacement(repo)
    expect(await repo.collapseClaim({ branch: MAIN, claim: 'hard' })).toEqual({ collapsed: false })
    const { claim, merged } = await claimFor(repo, { replaced, staged })
    expect(await repo.readCommit(merged)).toMatchObject({ parents: [replaced.ref, claim] })
    expect(await repo.collapseClaim({ branch: MAIN, claim: 'hard' })).toEqual({ collapsed: true })
    expect(await repo.collapseClaim({ branch: MAIN, claim: 'hard' })).toEqual({ collapsed: false })
    expect((await all(repo.log(MAIN, { limit: 2 }))).map(({ ref }) => ref)).toEqual([staged.ref, inputRef])
    // An ordinary merge has a second parent, and that one no third.
    const side = await branchFrom(repo, 'side', staged.ref)
    const source = (await commitOf(repo, side, { d: '1' })).ref
    expect(await repo.merge({ source, into: MAIN })).toMatchObject({ merged: true })
    expect(await repo.collapseClaim({ branch: MAIN, claim: 'hard' })).toEqual({ collapsed: false })
    await protect('main')
    expect(await kindOf(repo.collapseClaim({ branch: MAIN, claim: 'hard' }))).toBe('refused')
  },

  'LC-206 a claim of one shape is never taken for one of another': async ({ repo }) => {
    const { inputRef, replaced, staged } = await openReplacement(repo)
    const fields = { message: 'claim', committer: COMMITTER, metadata: {}, createdAt: CREATED_AT }
    const generation = Math.max(replaced.generation, staged.generation) + 1
    const tree = { metaRange: treeOf(staged) }
    const parents = [replaced.ref, replaced.ref, staged.ref]
    const leaf = await repo.writeCommit({ ...fields, ...tree, parents, generation })
    // The widest there is.
    const width = CLAIM_WIDTH_MIN + CLAIM_WIDTHS - 1
    const fan = await repo.writeCommit({
      ...{ ...fields, ...tree, generation: generation + 1 },
      parents: [...Array<CommitRef>(width - 1).fill(replaced.ref), leaf],
    })
    const source = await repo.writeCommit({
      ...{ ...fields, ...tree, generation: generation + 2 },
      parents: [replaced.ref, fan],
    })
    const claim = async (
      from: CommitRef,
      shape: ClaimShape,
      others: readonly ClaimShape[],
    ): Promise<void> => {
      const merged = await repo.merge({ source: from, into: MAIN, message: 'claimed', allowEmpty: true })
      expect(merged).toMatchObject({ merged: true })
      for (const other of others)
        expect(await repo.collapseClaim({ branch: MAIN, claim: other })).toEqual({ collapsed: false })
      expect(await repo.takesReset(MAIN)).toBe(true)
      expect(merged).toMatchObject({ ref: await headOf(repo, MAIN) })
      expect(await repo.collapseClaim({ branch: MAIN, claim: shape })).toEqual({ collapsed: true })
    }
    await claim(source, { width }, ['hard', { width: width - 1 }, { width: width + 1 }, { width: 3 }])
    expect((await all(repo.log(MAIN, { limit: 2 }))).map(({ ref }) => ref)).toEqual([staged.ref, inputRef])
    // Again, now onto another head than it expects: it changes nothing there.
    await claim(leaf, 'hard', [{ width: 3 }, { width }])
    expect(await headOf(repo, MAIN)).toBe(staged.ref)
  },

  'LC-207 whether a branch takes resets is asked without moving it': async ({ repo, protect }) => {
    const { ref } = await commitOf(repo, MAIN, { a: '1' })
    expect(await repo.takesReset(MAIN)).toBe(true)
    await protect('main')
    expect(await repo.takesReset(MAIN)).toBe(false)
    expect(await headOf(repo, MAIN)).toBe(ref)
  },

  'LC-59 an expression that leads nowhere moves nothing': async (world) => {
    const { repo } = world
    const { ref } = await commitOf(repo, MAIN, { a: '1' })
    await resetTo(world, 'main^2', 400)
    await resetTo(world, NO_SUCH_COMMIT, 404)
    expect(await headOf(repo, MAIN)).toBe(ref)
    await resetTo(world, 'main~1', 204)
    expect(await headOf(repo, MAIN)).not.toBe(ref)
  },
} as const satisfies Record<string, Case>
