import { describe, expect, test } from 'vitest'
import { stagedOf, supersededOf } from './asides.ts'
import type { CommitLike } from './publication.ts'

const of = (id: string, parent: string, metadata: Record<string, string> = {}): CommitLike => ({
  ...{ id, parents: [parent], message: id, metadata },
})
const onMain = { 'publish.run': 'r1', 'publish.branch': 'main' }
const tag = { name: 'perago-superseded-t', branch: 'main' }
const staging = { name: 'perago-staging-w-load-seq-1-iteration-0-task-id-t-retry-0-exec-r1', branch: 'main' }

describe('what hangs beside a branch', () => {
  test('WB-26 all that a rolled-back branch has left hangs under one tag', () => {
    const commits = [of('t', 's', onMain), of('s', 'a'), of('a', 'b', onMain)]
    expect(supersededOf(tag, commits).map(({ commit, kind }) => `${commit.id} ${kind}`)).toEqual([
      ...['t superseded', 's superseded', 'a superseded'],
    ])
  })

  test('WB-26 what has left another branch is not said to have left this one', () => {
    const commits = [of('t', 's', onMain), of('s', 'a', onMain)]
    expect(supersededOf({ ...tag, branch: 'feature' }, commits)).toEqual([])
    expect(supersededOf({ ...tag, branch: 'feature' }, [of('t', 's'), of('s', 'a')])).toMatchObject([
      { commit: { id: 't' } },
    ])
  })

  test('WB-26 a refused publication is what was staged, with why it was refused', () => {
    const evidence = { 'publish.evidence': '{"code":"fences/publish-refused","message":"moved"}' }
    expect(stagedOf(staging, [of('e', 's', evidence), of('s', 'a', onMain)])).toMatchObject([
      { commit: { id: 's' }, kind: 'refused', publication: { refusal: { code: 'fences/publish-refused' } } },
    ])
    expect(stagedOf({ ...staging, branch: 'other' }, [of('e', 's', evidence), of('s', 'a', onMain)])).toEqual(
      [],
    )
  })

  test('WB-26 a staging branch to which nothing was committed shows no commit of others as staged', () => {
    expect(stagedOf(staging, [of('s', 'a', onMain)])).toMatchObject([{ kind: 'staged' }])
    expect(stagedOf(staging, [of('s', 'a', { ...onMain, 'publish.run': 'r0' })])).toEqual([])
    expect(stagedOf(staging, [of('s', 'a')])).toEqual([])
    expect(stagedOf(staging, [])).toEqual([])
  })
})
