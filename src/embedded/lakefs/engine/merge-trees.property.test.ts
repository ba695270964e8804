// Goal: merging trees is merging path by path. Method: a naive merge over maps, on three related trees.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryNodeStore } from '../../../../test/support/memory-node-store.ts'
import { encodeEntry } from './entry-codec.ts'
import { mergeTrees, streamMergeChanges } from './merge-trees.ts'
import { fromByteKey, toByteKey } from './tree/byte-key.ts'
import { editTree } from './tree/edit-tree.ts'
import { streamTree } from './tree/tree-cursor.ts'
import { EMPTY_TREE, type NodeId } from './tree/tree-node.ts'

type Model = ReadonlyMap<string, string>

const key = fc.nat(120).map((n) => `k/${n}`)
const model = fc
  .array(fc.tuple(key, fc.constantFrom('1', '2', '3')), { maxLength: 120 })
  .map((rows): Model => new Map(rows))
const changes = fc
  .array(fc.tuple(key, fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined, freq: 2 })), {
    maxLength: 40,
  })
  .map((rows) => new Map(rows))

function applied(before: Model, edits: ReadonlyMap<string, string | undefined>): Model {
  const after = new Map(before)
  for (const [path, text] of edits) {
    if (text === undefined) after.delete(path)
    else after.set(path, text)
  }
  return after
}

/** Each tree gets times and addresses of its own, which must not matter. */
function plant(store: MemoryNodeStore, of: Model, modifiedAt: number): NodeId {
  const keys = [...of.keys()].sort()
  return editTree(
    store,
    EMPTY_TREE,
    keys.map((path) => ({
      key: toByteKey(path),
      value: encodeEntry({
        path,
        physicalAddress: `local://lake/data/${modifiedAt}`,
        checksum: of.get(path)!,
        sizeBytes: 1,
        modifiedAt,
        contentType: 'x',
        metadata: {},
      }),
    })),
  )
}

function contentOf(store: MemoryNodeStore, root: NodeId): Record<string, string> {
  const content: Record<string, string> = {}
  const stream = streamTree(store, root)
  for (let entry = stream.next(); entry !== undefined; entry = stream.next()) {
    content[fromByteKey(entry.key)] = (JSON.parse(entry.value.toString()) as string[])[0]!
  }
  return content
}

function naiveMerge(
  base: Model,
  source: Model,
  destination: Model,
  strategy: 'source-wins' | 'dest-wins' | undefined,
) {
  const merged = new Map(destination)
  const conflicts: string[] = []
  for (const path of new Set([...base.keys(), ...source.keys(), ...destination.keys()])) {
    const [b, s, d] = [base.get(path), source.get(path), destination.get(path)]
    if (s === b || s === d) continue
    if (d !== b) conflicts.push(path)
    if (d !== b && strategy === 'dest-wins') continue
    if (s === undefined) merged.delete(path)
    else merged.set(path, s)
  }
  return { merged: Object.fromEntries(merged), conflicts: conflicts.sort() }
}

test('EE-08 merging trees gives what merging path by path gives, and the same conflicts', () => {
  fc.assert(
    fc.property(
      model,
      changes,
      changes,
      fc.constantFrom(undefined, 'source-wins' as const, 'dest-wins' as const),
      (base, sourceEdits, destinationEdits, strategy) => {
        const source = applied(base, sourceEdits)
        const destination = applied(base, destinationEdits)
        const store = new MemoryNodeStore()
        const trees = {
          base: plant(store, base, 1),
          source: plant(store, source, 2),
          destination: plant(store, destination, 3),
        }
        const naive = naiveMerge(base, source, destination, strategy)
        const conflicts: string[] = []
        const stream = streamMergeChanges(store, trees)
        for (let change = stream.next(); change !== undefined; change = stream.next()) {
          if (change.decision === 'conflict') conflicts.push(fromByteKey(change.key))
        }
        expect(conflicts.sort()).toEqual(naive.conflicts)

        const result = mergeTrees(store, trees, strategy)
        if (strategy === undefined && naive.conflicts.length > 0) {
          expect(result).toEqual({ outcome: 'conflict', path: expect.any(String) as string })
          if (result.outcome === 'conflict') expect(naive.conflicts).toContain(fromByteKey(result.path))
        } else {
          expect(result.outcome).toBe('merged')
          if (result.outcome === 'merged') expect(contentOf(store, result.tree)).toEqual(naive.merged)
        }
      },
    ),
  )
})

test('EE-08 a destination that is the base takes the very tree of the source', () => {
  const store = new MemoryNodeStore()
  // `b` differs in its time alone, which is no change but part of the tree's id.
  const base = plant(
    store,
    new Map([
      ['a', '1'],
      ['b', '1'],
    ]),
    1,
  )
  const source = plant(
    store,
    new Map([
      ['a', '2'],
      ['b', '1'],
    ]),
    2,
  )
  expect(mergeTrees(store, { base, source, destination: base })).toEqual({ outcome: 'merged', tree: source })
})
