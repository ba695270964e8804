import { expect } from 'vitest'
import { branchName, type CommitRef } from '../../../src/base/ids.ts'
import {
  branchFrom,
  bytes,
  commitOf,
  headOf,
  kindOf,
  MAIN,
  NO_SUCH_COMMIT,
  pathsAt,
  put,
  readText,
  type Case,
} from './world.ts'

/** Refuses every merge whose metadata asks for it. */
const REFUSING_ACTION = `name: refuse
on:
  pre-merge: {}
hooks:
  - id: refuse
    type: lua
    properties:
      script: |
        if action.commit.metadata["refuse"] ~= nil then
          error("REFUSED_BY_HOOK " .. action.commit.metadata["refuse"])
        end
`

export const MERGE_CASES = {
  'LC-50 a merge makes one commit on the head it was applied to, with the metadata that was sent': async ({
    repo,
  }) => {
    const base = (await commitOf(repo, MAIN, { shared: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    const source = await commitOf(repo, side, { theirs: '1' })
    const metadata = { 'perago.run': 'r-2' }
    const clean = await repo.merge({ source: source.ref, into: MAIN, message: 'take it', metadata })
    if (!clean.merged) throw new Error(clean.reason)
    const commit = await repo.readCommit(clean.ref)
    expect(commit).toMatchObject({ message: 'take it', metadata, metaRange: source.metaRange })
    expect(commit?.parents).toEqual([base, source.ref])
    expect(await headOf(repo, MAIN)).toBe(clean.ref)
  },

  'LC-51 histories that parted are joined; squashed, only the head is a parent': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { shared: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    const source = (await commitOf(repo, side, { theirs: '1' })).ref
    const head = (await commitOf(repo, MAIN, { ours: '1' })).ref
    const squashed = await repo.merge({ source, into: MAIN, squash: true })
    if (!squashed.merged) throw new Error(squashed.reason)
    expect((await repo.readCommit(squashed.ref))?.parents).toEqual([head])
    expect(await pathsAt(repo, MAIN)).toEqual(['ours', 'shared', 'theirs'])
  },

  'LC-52 nothing to merge is said, unless an empty merge is wanted': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { a: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    const nothing = { merged: false, reason: 'nothing-to-merge' }
    expect(await repo.merge({ source: base, into: side })).toEqual(nothing)
    const source = (await commitOf(repo, side, { b: '1' })).ref
    expect(await repo.merge({ source, into: MAIN })).toMatchObject({ merged: true })
    const head = await headOf(repo, MAIN)
    expect(await repo.merge({ source, into: MAIN })).toEqual(nothing)
    expect(await headOf(repo, MAIN)).toBe(head)
    expect(await repo.merge({ source, into: MAIN, allowEmpty: true })).toMatchObject({ merged: true })
  },

  'LC-222 a forced merge is made where nothing would change; a conflict stays one': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { a: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    const head = (await repo.merge({ source: base, into: side, force: true })) as { readonly ref: CommitRef }
    expect((await repo.readCommit(head.ref))?.parents[0]).toBe(base)
    const source = (await commitOf(repo, side, { a: 'side' })).ref
    await commitOf(repo, MAIN, { a: 'main' })
    const refused = { merged: false, reason: 'conflict' }
    expect(await repo.merge({ source, into: MAIN, force: true })).toEqual(refused)
  },

  'LC-53 a conflict changes nothing; a strategy settles it': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { a: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    const source = (await commitOf(repo, side, { a: 'side', free: 'side' })).ref
    const head = (await commitOf(repo, MAIN, { a: 'main' })).ref
    const request = { source, into: MAIN }
    expect(await repo.merge(request)).toEqual({ merged: false, reason: 'conflict' })
    expect(await headOf(repo, MAIN)).toBe(head)

    const copy = await branchFrom(repo, 'copy', head)
    expect(await repo.merge({ ...request, into: copy, strategy: 'dest-wins' })).toMatchObject({
      merged: true,
    })
    expect(await readText(repo, copy, 'a')).toBe('main')
    expect(await readText(repo, copy, 'free')).toBe('side')
    expect(await repo.merge({ ...request, strategy: 'source-wins' })).toMatchObject({ merged: true })
    expect(await readText(repo, MAIN, 'a')).toBe('side')
  },

  'LC-54 a target with uncommitted changes takes no merge': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { a: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    const source = (await commitOf(repo, side, { b: '1' })).ref
    await put(repo, MAIN, 'uncommitted')
    expect(await repo.merge({ source, into: MAIN })).toEqual({ merged: false, reason: 'dirty-target' })
    // Also when there would be nothing to merge.
    expect(await repo.merge({ source: base, into: MAIN })).toEqual({ merged: false, reason: 'dirty-target' })
    expect(await headOf(repo, MAIN)).toBe(base)
    // What is uncommitted on the source's branch does not count: a commit is merged.
    await repo.deleteObjects(MAIN, ['uncommitted'])
    await put(repo, side, 'left behind')
    expect(await repo.merge({ source, into: MAIN })).toMatchObject({ merged: true })
    expect(await pathsAt(repo, MAIN)).toEqual(['a', 'b'])
  },

  'LC-55 a hook that refuses a merge is heard, and nothing changes': async ({ repo }) => {
    const base = await headOf(repo, MAIN)
    const side = await branchFrom(repo, 'side', base)
    await repo.write({ branch: side, path: '_lakefs_actions/refuse.yaml', body: bytes(REFUSING_ACTION) })
    const source = (await commitOf(repo, side, { a: '1' })).ref
    const refused = await repo.merge({ source, into: MAIN, metadata: { refuse: 'because' } })
    expect(refused).toMatchObject({ merged: false, reason: 'hook-refused' })
    expect((refused as { message: string }).message).toContain('REFUSED_BY_HOOK because')
    expect(await headOf(repo, MAIN)).toBe(base)
    expect(await repo.merge({ source, into: MAIN })).toMatchObject({ merged: true })
  },

  'LC-56 a source or a target that is not there is an error': async ({ repo }) => {
    const source = (await commitOf(repo, MAIN, { a: '1' })).ref
    expect(await kindOf(repo.merge({ source: NO_SUCH_COMMIT, into: MAIN }))).toBe('missing')
    expect(await kindOf(repo.merge({ source, into: branchName('nowhere') }))).toBe('missing')
  },
} as const satisfies Record<string, Case>
