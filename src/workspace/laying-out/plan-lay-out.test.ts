import { describe, expect, test } from 'vitest'
import { compareBytes } from '../../../test/support/workspace/memory-source.ts'
import type { FileSystemTraits } from '../../tasks/unsafe-path.ts'
import { LayOutPlanner, type LayOutDecision } from './plan-lay-out.ts'
import { readWorkspaceSpec, type WorkspaceSpec } from '../../tasks/workspace-spec.ts'

interface Case {
  readonly spec?: WorkspaceSpec
  readonly traits?: Partial<FileSystemTraits>
  readonly maxFiles?: number
  readonly maxBytes?: number
}

/** As on most Linux file systems. */
const PLAIN: FileSystemTraits = {
  foldsCase: false,
  foldsUnicode: false,
  keepsNames: true,
  separatesByBackslash: false,
  pathMaxBytes: 4095,
}

function decide(
  keys: readonly string[],
  { spec = {}, traits = {}, maxFiles = 100, maxBytes = 100 }: Case = {},
) {
  const view = readWorkspaceSpec(spec)
  const planner = new LayOutPlanner({
    view,
    traits: { ...PLAIN, ...traits },
    maxFiles,
    maxBytes,
  })
  for (const key of keys) {
    if (!planner.add({ key, checksum: 'c', sizeBytes: 1, contentType: 't', metadata: {} })) break
  }
  return planner.decide()
}

function refused(decision: LayOutDecision): readonly string[] {
  return decision.action === 'refuse' ? decision.refusals.named.map(({ path }) => path) : []
}

function planned(decision: LayOutDecision): readonly string[] {
  return decision.action === 'lay-out' ? [...decision.plan.manifest.entries()].map(({ path }) => path) : []
}

const E_COMPOSED = '\u00e9'
const E_DECOMPOSED = 'e\u0301'

describe('unsafe keys', () => {
  test.each([
    ['a parent segment', 'a/../b'],
    ['a parent segment alone', '..'],
    ['a segment that is a dot', './a'],
    ['a leading slash', '/etc/passwd'],
    ['an empty segment', 'a//b'],
    ['a trailing slash', 'dir/'],
    ['a NUL character', 'a\0b'],
    ['half a character', 'a\ud800'],
    ['a name of more than 255 bytes', 'x/' + 'é'.repeat(128)],
  ])('WS-01 a key with %s is refused', (_what, key) => {
    expect(refused(decide([key]))).toEqual([key])
  })

  test.each(['...', '..a', 'a..', '.hidden', 'a\\b', 'C:x', 'line\nbreak', ' ', '*', 'é'.repeat(127), '-rf'])(
    'WS-01 the unusual key %j is a file like any other',
    (key) => {
      expect(planned(decide([key]))).toEqual([key])
    },
  )

  test('WS-01 every refused key is named, with the reason, in one decision', () => {
    const decision = decide(['a//b', 'dir/', 'fine', 'x/../y'])
    expect(decision).toMatchObject({
      action: 'refuse',
      refusals: {
        count: 3,
        named: [
          { path: 'a//b', reason: 'has an empty segment' },
          { path: 'dir/', reason: 'ends with a slash, so it would be a directory' },
          { path: 'x/../y', reason: 'has a segment ".."' },
        ],
      },
    })
  })

  test('WS-01 a placeholder for the prefix itself is refused by its full key', () => {
    expect(refused(decide(['data/', 'data/a'], { spec: { prefix: 'data' } }))).toEqual(['data/'])
  })

  test('WS-01 a key longer than the file system takes below this directory is refused', () => {
    expect(refused(decide(['abcdef', 'abcdefg'], { traits: { pathMaxBytes: 6 } }))).toEqual(['abcdefg'])
  })

  test('WS-02 a key that would be a file and a directory at once is refused, however far apart the two are listed', () => {
    const keys = ['p', 'p!', 'p-x/y', 'p/q/r'].sort(compareBytes)
    expect(decide(keys)).toMatchObject({
      action: 'refuse',
      refusals: { named: [{ path: 'p', reason: expect.stringContaining('"p/q/r"') as string }] },
    })
  })

  test('WS-02 a key that merely begins like another one is none of the kind', () => {
    expect(planned(decide(['p', 'p!', 'pq/r']))).toEqual(['p', 'p!', 'pq/r'])
  })

  test('WS-03 where case is folded, keys that differ in case alone are refused: files, directories, or one of each', () => {
    const traits = { foldsCase: true }
    expect(refused(decide(['A', 'a'], { traits }))).toEqual(['a'])
    expect(refused(decide(['D/x', 'd/y'], { traits }))).toEqual(['d'])
    expect(refused(decide(['P', 'p/q'], { traits }))).toEqual(['P'])
    expect(planned(decide(['A', 'a']))).toEqual(['A', 'a'])
  })

  test('WS-03 where two ways of writing a letter are one name, keys that differ in it alone are refused', () => {
    const keys = [E_DECOMPOSED, E_COMPOSED]
    expect(refused(decide(keys, { traits: { foldsUnicode: true } }))).toEqual([E_COMPOSED])
    expect(planned(decide(keys))).toEqual(keys)
  })

  test('WS-03 where names do not come back as they were given, keys that would change are refused', () => {
    const traits = { keepsNames: false }
    expect(refused(decide([E_DECOMPOSED, E_COMPOSED], { traits }))).toEqual([E_COMPOSED])
  })

  test('WS-03 where a backslash parts names, keys with one are refused', () => {
    const traits = { separatesByBackslash: true }
    expect(refused(decide(['C:x', 'a\\b', 'b'], { traits }))).toEqual(['C:x', 'a\\b'])
  })
})

describe('the view', () => {
  test('WS-04 keys outside the globs are not laid out, but remembered as being there', () => {
    const spec = { prefix: 'd', include: ['**/*.csv', 'notes/*'], exclude: ['raw/**'] }
    const decision = decide(['d/1.csv', 'd/notes/n', 'd/other', 'd/raw/2.csv'], { spec })
    expect(planned(decision)).toEqual(['1.csv', 'notes/n'])
    const outside = decision.action === 'lay-out' ? decision.plan.manifest.outside : undefined
    expect([outside?.find('other'), outside?.find('raw/2.csv'), outside?.find('1.csv')]).toEqual([0, 1, -1])
  })

  test('WS-04 an unsafe key that the globs leave out is in nobody’s way', () => {
    const spec = { exclude: ['**/', '**/*//**'] }
    expect(planned(decide(['a//b', 'dir/', 'fine'], { spec }))).toEqual(['fine'])
  })

  test('WS-04 globs see dot files, line breaks and every other character of a name', () => {
    const keys = ['.h/.x', 'a\nb', 'd/a\nb.csv', 'd/..x', 'x\\y'].sort(compareBytes)
    expect(planned(decide(keys, { spec: { include: ['**'] } }))).toEqual(keys)
  })

  test.each([
    [{ prefix: 'a/../b' }, 'workspace/bad-prefix'],
    [{ prefix: 'a//b' }, 'workspace/bad-prefix'],
    [{ include: [''] }, 'workspace/bad-glob'],
    [{ include: ['/a'] }, 'workspace/bad-glob'],
    [{ exclude: ['!a'] }, 'workspace/bad-glob'],
    [{ exclude: ['a/../b'] }, 'workspace/bad-glob'],
    [{ exclude: ['!(a)'] }, undefined],
  ])('WS-05 the specification %j is judged when it is read', (spec, code) => {
    const read = (): unknown => readWorkspaceSpec(spec)
    if (code === undefined) expect(read).not.toThrow()
    else expect(read).toThrow(expect.objectContaining({ code }) as Error)
  })

  test.each([
    ['', ''],
    ['/', ''],
    ['data', 'data/'],
    ['data/', 'data/'],
    ['/data/raw', 'data/raw/'],
  ])('WS-05 the prefix %j means keys that begin with %j', (prefix, expected) => {
    expect(readWorkspaceSpec({ prefix }).prefix).toBe(expected)
  })
})

describe('bounds and the listing', () => {
  test('WS-06 more files, or more bytes, than allowed are refused while listing', () => {
    expect(decide(['a', 'b', 'c'], { maxFiles: 2 })).toEqual({ action: 'too-large', what: 'files', limit: 2 })
    expect(decide(['a', 'b', 'c'], { maxBytes: 2 })).toEqual({ action: 'too-large', what: 'bytes', limit: 2 })
    expect(decide(['a', 'b'], { maxFiles: 2, maxBytes: 2 }).action).toBe('lay-out')
  })

  test.each([
    ['out of order', ['b', 'a'], {}],
    ['twice the same', ['a', 'a'], {}],
    ['in the order of UTF-16', ['\u{10000}', '\uffff'], {}],
    ['outside the prefix', ['e/a'], { prefix: 'd' }],
  ])('WS-06 a listing that gives a key %s is not believed', (_what, keys, spec) => {
    expect(() => decide(keys, { spec })).toThrow(
      expect.objectContaining({ code: 'workspace/broken-listing' }) as Error,
    )
  })

  test('WS-06 each directory comes after the one it is in', () => {
    const decision = decide(['a/b/c/d', 'a/e', 'f/g'])
    expect(decision.action === 'lay-out' && decision.plan.directories).toEqual(['a', 'a/b', 'a/b/c', 'f'])
  })
})

test('PU-159 the actions of the repository are never laid out, whatever the prefix', () => {
  const keys = ['_lakefs_actions/publish-fence.yaml', '_lakefs_actionsx', 'a']
  expect(planned(decide(keys))).toEqual(['_lakefs_actionsx', 'a'])
  expect(planned(decide([keys[0]!], { spec: { prefix: '_lakefs_actions' } }))).toEqual([])
})
