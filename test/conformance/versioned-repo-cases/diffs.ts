import { expect } from 'vitest'
import type { Change } from '../../../src/publication/ports.ts'
import {
  all,
  askFor,
  askForChanges,
  branchFrom,
  commitOf,
  headOf,
  kindOf,
  MAIN,
  NO_SUCH_COMMIT,
  put,
  type Case,
} from './world.ts'

async function shown(changes: AsyncIterable<Change>): Promise<string[]> {
  return (await all(changes)).map(({ change, path }) => `${change} ${path}`)
}

export const DIFF_CASES = {
  'LC-39 two commits are compared as their trees stand': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { same: '1', edited: '1', gone: '1' })).ref
    await repo.deleteObjects(MAIN, ['gone'])
    await put(repo, MAIN, 'same', '1')
    const next = (await commitOf(repo, MAIN, { edited: '22', new: '1' })).ref

    expect(await shown(repo.diff(base, next))).toEqual(['changed edited', 'removed gone', 'added new'])
    expect(await shown(repo.diff(next, base))).toEqual(['changed edited', 'added gone', 'removed new'])
    expect(await shown(repo.diff(next, next))).toEqual([])
    const [edited] = await all(repo.diff(base, next))
    expect(edited).toMatchObject({ sizeBytes: 2 })
    expect(await kindOf(all(repo.diff(base, NO_SUCH_COMMIT)))).toBe('missing')
  },

  'LC-40 a comparison of branches that parted is of the trees, not against their base': async ({ repo }) => {
    const base = (await commitOf(repo, MAIN, { shared: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    const there = (await commitOf(repo, side, { theirs: '1' })).ref
    const here = (await commitOf(repo, MAIN, { ours: '1' })).ref
    expect(await shown(repo.diff(here, there))).toEqual(['removed ours', 'added theirs'])
  },

  'LC-41 other metadata or another content type is a change, the same bytes again are none': async ({
    repo,
  }) => {
    for (const path of ['meta', 'same', 'type']) await put(repo, MAIN, path, 'x')
    const { ref: base } = await commitOf(repo, MAIN, {}, { message: 'three' })
    await put(repo, MAIN, 'same', 'x')
    await put(repo, MAIN, 'meta', 'x', { metadata: { reviewed: 'yes' } })
    await put(repo, MAIN, 'type', 'x', { contentType: 'text/plain' })
    const { ref: next } = await commitOf(repo, MAIN, {}, { message: 'two changed' })
    expect(await shown(repo.diff(base, next))).toEqual(['changed meta', 'changed type'])
  },

  'LC-42 long comparisons come page by page, from any place, with any prefix': async ({ repo }) => {
    const base = await headOf(repo, MAIN)
    const files = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index % 3}/${index}`, 'x']))
    const { ref } = await commitOf(repo, MAIN, files)
    const paths = Object.keys(files).sort()
    const found = async (options: object): Promise<string[]> =>
      (await all(repo.diff(base, ref, options))).map((change) => change.path)
    expect(await found({ pageSize: 2 })).toEqual(paths)
    expect(await found({ after: 'p1/1', pageSize: 4 })).toEqual(paths.filter((path) => path > 'p1/1'))
    expect(await found({ prefix: 'p2/', pageSize: 1 })).toEqual(['p2/2', 'p2/5', 'p2/8'])
  },

  'LC-43 uncommitted changes are shown until they are committed': async (world) => {
    const { repo } = world
    const uncommitted = (): Promise<string[]> => askForChanges(world, `/branches/${MAIN}/diff`)
    await commitOf(repo, MAIN, { edited: '1', gone: '1' })
    expect(await uncommitted()).toEqual([])
    await put(repo, MAIN, 'edited', '2')
    await put(repo, MAIN, 'new', '2')
    await repo.deleteObjects(MAIN, ['gone'])
    expect(await uncommitted()).toEqual(['changed edited', 'removed gone', 'added new'])
    await commitOf(repo, MAIN, {}, { message: 'all of it' })
    expect(await uncommitted()).toEqual([])
    await askFor(world, 404, 'GET', '/branches/nowhere/diff')
  },

  'LC-44 before a merge the conflicting paths can be listed': async (world) => {
    const { repo } = world
    const base = (await commitOf(repo, MAIN, { a: '1', b: '1', c: '1', d: '1' })).ref
    const side = await branchFrom(repo, 'side', base)
    await repo.deleteObjects(side, ['c'])
    const source = (await commitOf(repo, side, { a: 'side', b: 'both', d: 'side', e: 'side' })).ref
    await commitOf(repo, MAIN, { a: 'main', b: 'both', c: 'main', e: 'main' })
    const changes = await askForChanges(world, `/refs/${MAIN}/diff/${source}?type=three_dot`)
    expect(changes).toEqual(expect.arrayContaining(['conflict a', 'conflict c', 'changed d', 'conflict e']))
    expect(changes.filter((change) => change.startsWith('conflict'))).toHaveLength(3)
  },
} as const satisfies Record<string, Case>
